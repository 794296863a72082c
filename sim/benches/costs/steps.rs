//! A step of the core against parsing its event, and against a look-up in a map of the same size.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use pilotage_core::event::Event;
use pilotage_core::kubernetes::read::Pod;
use pilotage_core::name::{Uid, Version};
use pilotage_sim::world::World;

use crate::fleet::{self, Lists};
use crate::{Cost, STEPS, measure};

/// The pods of so many applications as they were told last, in random order.
pub fn pods(lists: &Lists, applications: u16) -> Vec<Arc<Pod>> {
    let model = fleet::model(lists);
    let mut told = Vec::new();
    for n in 0..applications {
        let all = lists.iter().flat_map(|(_, list)| list);
        let pods = all.filter(|event| matches!(event, Event::PodUpdated(_)));
        told.extend(pods.map(|event| match fleet::of_nth(event, &model, n) {
            Event::PodUpdated(pod) => pod,
            other => unreachable!("{other:?}"),
        }));
    }
    shuffle(&mut told);
    told
}

fn shuffle<T>(items: &mut [T]) {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for at in (1..items.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        items.swap(at, usize::try_from(state % (at as u64 + 1)).unwrap_or(0));
    }
}

pub fn print(world: &World, lists: &Lists, parse: Cost) {
    println!(
        "| applications | no-op step | of parsing | of a look-up | allocations | working step | of parsing | allocations |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for applications in [10, 1_000, 10_000] {
        let mut core = fleet::provisioner(lists, world.now, applications, |_| {});
        let pods = pods(lists, applications);
        let map: BTreeMap<Uid, u64> = pods.iter().map(|pod| (pod.metadata.uid, 1)).collect();
        let of = |n: usize| &pods[n % pods.len()];
        let look_up = measure(STEPS, |n| {
            black_box(map.get(&of(n).metadata.uid));
        });
        let idle = measure(STEPS, |n| {
            black_box(core.step(world.now, Event::PodUpdated(of(n).clone())));
        });
        let newer: Vec<Arc<Pod>> = (0..STEPS)
            .map(|n| {
                let mut pod = Pod::clone(of(n));
                pod.metadata.version = Version(10_000_000 + n as u64);
                Arc::new(pod)
            })
            .collect();
        let working = measure(STEPS, |n| {
            black_box(core.step(world.now, Event::PodUpdated(newer[n].clone())));
        });
        println!(
            "| {applications} | {:.0} ns | {:.1} % | {:.1} | {:.2} | {:.0} ns | {:.1} % | {:.1} |",
            idle.nanoseconds,
            100.0 * idle.nanoseconds / parse.nanoseconds,
            idle.nanoseconds / look_up.nanoseconds,
            idle.allocations,
            working.nanoseconds,
            100.0 * working.nanoseconds / parse.nanoseconds,
            working.allocations,
        );
    }
}
