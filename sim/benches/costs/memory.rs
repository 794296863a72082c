//! What an idle application takes in the core, by the source that tells of it.

use pilotage_core::event::Source;
use pilotage_core::kubernetes::Kind;
use pilotage_sim::world::World;

use crate::fleet::{self, Lists};
use crate::live;

const APPLICATIONS: u16 = 1_000;

pub fn print(world: &World, lists: &Lists) {
    let begin = live();
    let mut marks = Vec::new();
    let core = fleet::provisioner(lists, world.now, APPLICATIONS, |source| {
        marks.push((source, live()));
    });
    let each = |bytes: usize| bytes / usize::from(APPLICATIONS);
    let whole = each(live() - begin);
    println!("memory of an idle application with three pods: {whole} bytes");
    let mut before = begin;
    for (source, mark) in marks {
        let (bytes, kind) = (each(mark.saturating_sub(before)), source);
        before = mark;
        match kind {
            Source::Cluster(Kind::Pod) => println!("  pods: {} bytes each", bytes / 3),
            _ if bytes > 0 => println!("  {source:?}: {bytes} bytes"),
            _ => {}
        }
    }
    drop(core);
}
