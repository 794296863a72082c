//! The same life, with the process killed on the way: it ends as if it had not been.

use std::time::Duration;

use pilotage_sim::schedule::Draw;

use super::life::House;

#[test]
fn a_kill_at_every_commit_and_every_effect_changes_nothing_of_what_comes_out() {
    let mut house = House::new(&[]);
    let undisturbed = house.live(&mut |_| {});
    house.end();
    // Each process is ended at its own point; the run that no longer comes to its point has shown the last one.
    let first = std::sync::atomic::AtomicU32::new(1);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                loop {
                    let point = first.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    let at = point.to_string();
                    let mut house = House::new(&[("PILOTAGE_FAIL_AT", &at)]);
                    let rests = house.live(&mut |_| {});
                    house.end();
                    assert_eq!(rests, undisturbed, "rerun with PILOTAGE_FAIL_AT={at}");
                    if house.kills == 0 {
                        return;
                    }
                    assert_eq!(house.kills, 1, "PILOTAGE_FAIL_AT={at}");
                }
            });
        }
    });
    let points = first.into_inner();
    // Each of a few dozen effects has three points, and each commit two.
    assert!(points > 60, "only {points} points were there");
    eprintln!("killed at {} points", points - 3);
}

/// How often a process is ended at a moment that was drawn.
const KILLS: u32 = 50;

#[test]
fn a_kill_at_any_moment_changes_nothing_of_what_comes_out() {
    let mut house = House::new(&[]);
    let undisturbed = house.live(&mut |_| {});
    house.end();
    let mut kills = 0;
    for seed in 0.. {
        let mut house = House::new(&[]);
        // When is drawn; where in its life the process is by then depends on the machine, and must not matter.
        let mut draw = Draw::new(seed);
        let rests = house.live(&mut |house| {
            if house.kills < 5 && draw.below(4) == 0 {
                let micros = u64::try_from(draw.below(30_000)).unwrap_or_default();
                std::thread::sleep(Duration::from_micros(micros));
                house.kill();
            }
        });
        house.end();
        assert_eq!(rests, undisturbed, "seed {seed}, {} kills", house.kills);
        let replayed = super::traces::replayed(&house.path);
        // A process that was killed early left no trace yet.
        assert!(replayed.steps > 0, "{replayed:?}");
        kills += house.kills;
        if kills >= KILLS {
            return;
        }
        assert!(seed < 100, "only {kills} kills in {seed} lives");
    }
}
