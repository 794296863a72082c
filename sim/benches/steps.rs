//! What a step costs, as ratios to a floor that is measured in the same run: `cargo bench -p pilotage-sim`.
#![allow(missing_docs)]

#[path = "../tests/fleet/mod.rs"]
mod fleet;

use std::alloc::System;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::kubernetes::read::Pod;
use pilotage_core::name::{Uid, Version};
use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::time::Timestamp;
use pilotage_sim::cluster::effects;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Steps that are timed at once.
const STEPS: usize = 20_000;

/// Nanoseconds and allocations of one of `count` turns.
fn measure(count: usize, mut turn: impl FnMut(usize)) -> (f64, f64) {
    let region = Region::new(ALLOCATOR);
    let begin = Instant::now();
    (0..count).for_each(&mut turn);
    let taken = begin.elapsed();
    let allocations = region.change().allocations;
    #[allow(clippy::cast_precision_loss)]
    let each = |whole: f64| whole / count as f64;
    #[allow(clippy::cast_precision_loss)]
    (each(taken.as_nanos() as f64), each(allocations as f64))
}

/// Bytes that are allocated now.
fn live() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

struct Fleet {
    core: Provisioner,
    pods: Vec<Arc<Pod>>,
    bytes: usize,
}

fn fleet(lists: &[(Source, Vec<Event>)], now: Timestamp, applications: u16) -> Fleet {
    let model = (lists.iter().flat_map(|(_, list)| list))
        .find_map(|event| match event {
            Event::ModelChanged(model) => Some(model.uid),
            _ => None,
        })
        .expect("a model");
    let before = live();
    let mut core = Provisioner::new(Config { incarnation: 9 });
    for (source, list) in lists {
        for event in list {
            let once = matches!(
                event,
                Event::Listing { .. } | Event::Synced { .. } | Event::ModelChanged(_)
            ) || *source == Source::Cluster(Kind::Namespace);
            if once && !matches!(event, Event::Synced { .. }) {
                core.step(now, event.clone());
            }
        }
        for n in 0..applications {
            for event in list.iter().filter(|event| {
                !matches!(
                    event,
                    Event::Listing { .. } | Event::Synced { .. } | Event::ModelChanged(_)
                ) && *source != Source::Cluster(Kind::Namespace)
            }) {
                core.step(now, fleet::of_nth(event, &model, n));
            }
        }
        if let Some(event @ Event::Synced { .. }) = list.last() {
            let step = core.step(now, event.clone());
            assert!(step.effects.is_empty(), "at rest");
        }
    }
    let bytes = live() - before;
    let mut told = Vec::new();
    for n in 0..applications {
        let all = lists.iter().flat_map(|(_, list)| list);
        told.extend(
            all.filter(|event| matches!(event, Event::PodUpdated(_)))
                .map(|event| match fleet::of_nth(event, &model, n) {
                    Event::PodUpdated(pod) => pod,
                    other => unreachable!("{other:?}"),
                }),
        );
    }
    shuffle(&mut told);
    Fleet {
        core,
        pods: told,
        bytes,
    }
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

fn main() {
    let (world, lists) = fleet::first_lists();
    let pod = (world
        .cluster
        .objects(effects::resource(Kind::Pod), None)
        .next())
    .expect("a pod");
    let text = pod.whole().to_string();
    let (parse, parse_allocations) = measure(STEPS, |_| {
        black_box(serde_json::from_str::<Pod>(black_box(&text)).expect("a pod"));
    });
    let managed = text.contains("managedFields");
    println!(
        "floor: parsing a pod of {} bytes (managedFields: {managed}): {parse:.0} ns, {parse_allocations:.0} allocations",
        text.len()
    );
    println!(
        "| applications | no-op step | of parsing | of a look-up | allocations | working step | of parsing | allocations |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for applications in [10, 1_000, 10_000] {
        let Fleet { mut core, pods, .. } = fleet(&lists, world.now, applications);
        let map: BTreeMap<Uid, u64> = pods.iter().map(|pod| (pod.metadata.uid, 1)).collect();
        let of = |n: usize| &pods[n % pods.len()];
        let (look_up, _) = measure(STEPS, |n| {
            black_box(map.get(&of(n).metadata.uid));
        });
        let (idle, idle_allocations) = measure(STEPS, |n| {
            black_box(core.step(world.now, Event::PodUpdated(of(n).clone())));
        });
        let newer: Vec<Arc<Pod>> = (0..STEPS)
            .map(|n| {
                let mut pod = Pod::clone(of(n));
                pod.metadata.version = Version(10_000_000 + n as u64);
                Arc::new(pod)
            })
            .collect();
        let (working, working_allocations) = measure(STEPS, |n| {
            black_box(core.step(world.now, Event::PodUpdated(newer[n].clone())));
        });
        println!(
            "| {applications} | {idle:.0} ns | {:.1} % | {:.1} | {idle_allocations:.2} | {working:.0} ns | {:.1} % | {working_allocations:.1} |",
            100.0 * idle / parse,
            idle / look_up,
            100.0 * working / parse,
        );
    }
    let bytes = fleet(&lists, world.now, 1_000).bytes / 1_000;
    println!("memory: {bytes} bytes for an idle application with three pods");
}
