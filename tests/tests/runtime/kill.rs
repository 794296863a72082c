//! The same life, with the process killed on the way: it ends as if it had not been.

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

#[test]
fn a_kill_at_any_moment_changes_nothing_of_what_comes_out() {
    let mut house = House::new(&[]);
    let undisturbed = house.live(&mut |_| {});
    house.end();
    for round in 0..10_u64 {
        let mut house = House::new(&[]);
        // Whatever the moment, it must not matter: so it may well depend on the machine.
        let mut looks = 0;
        let rests = house.live(&mut |house| {
            looks += 1;
            // Later rounds begin later; even a quick life is looked at more often than the last of them waits.
            if looks > 2 * round && looks % (2 + round % 4) == 0 && house.kills < 5 {
                house.kill();
            }
        });
        house.end();
        assert_eq!(rests, undisturbed, "round {round}, {} kills", house.kills);
        assert!(house.kills > 0, "round {round}");
        let replayed = super::traces::replayed(&house.path);
        // A process that was killed early left no trace yet.
        assert!(replayed.steps > 0, "{replayed:?}");
    }
}
