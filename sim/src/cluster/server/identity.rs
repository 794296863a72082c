//! What the server draws: uids and the ends of generated names. Nothing is random: the seed and a counter are mixed.

use alloc::format;
use alloc::string::String;

use crate::cluster::Cluster;

/// One round of the SplitMix64 generator (Steele, Lea, Flood 2014).
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

impl Cluster {
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(mix(self.settings.seed) ^ self.drawn)
    }

    /// A uid that no other object of this cluster has, in the form of a random UUID.
    pub(super) fn draw_uid(&mut self) -> String {
        let (high, low) = (self.draw(), self.draw());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff
        )
    }

    /// A name that begins as asked and ends in five drawn letters, vowels and digits that look like them left out.
    pub(super) fn draw_name(&mut self, base: &str) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut number = self.draw();
        let mut name: String = base.chars().take(58).collect();
        for _ in 0..5 {
            let place = (number % LETTERS.len() as u64) as usize;
            number /= LETTERS.len() as u64;
            name.push(char::from(LETTERS[place]));
        }
        name
    }
}
