//! The hash that names ControllerRevisions: FNV-1 with 32 bits, written with letters that form no words.

use alloc::string::{String, ToString};

/// A running FNV-1 hash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fnv(pub(super) u32);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0x811c_9dc5)
    }
}

impl Fnv {
    pub(super) fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(0x0100_0193) ^ u32::from(*byte);
        }
    }

    /// The hash as it appears in names.
    pub(super) fn word(self) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        self.0
            .to_string()
            .bytes()
            .map(|digit| char::from(LETTERS[usize::from(digit) % LETTERS.len()]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        // Test vectors of the FNV authors for FNV-1, 32 bits.
        for (text, hash) in [
            ("", 0x811c_9dc5),
            ("a", 0x050c_5d7e),
            ("foobar", 0x31f0_b262),
        ] {
            let mut fnv = Fnv::default();
            fnv.write(text.as_bytes());
            assert_eq!(fnv.0, hash, "{text}");
        }
    }

    #[test]
    fn a_word_has_a_letter_per_digit() {
        assert_eq!(Fnv(10).word(), "54");
    }
}
