//! The shortest schedule that still breaks the same thing.

use alloc::vec::Vec;

use crate::explore::{Base, Failure, live};
use crate::schedule::Schedule;

/// Takes away whatever is not needed for the same invariant to break: the order that was drawn, then fault after fault.
pub fn shrink(failure: &Failure, base: &Base) -> Failure {
    let mut best = failure.clone();
    if let Some(smaller) = breaks(&best, without_seed(&best.schedule), base) {
        best = smaller;
    }
    loop {
        let faults = best.schedule.faults.len();
        let smaller = (0..faults).find_map(|place| {
            let mut faults: Vec<_> = best.schedule.faults.clone();
            faults.remove(place);
            let schedule = Schedule {
                faults,
                ..best.schedule.clone()
            };
            breaks(&best, schedule, base)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

fn without_seed(schedule: &Schedule) -> Schedule {
    Schedule {
        seed: None,
        ..schedule.clone()
    }
}

fn breaks(known: &Failure, schedule: Schedule, base: &Base) -> Option<Failure> {
    if schedule == known.schedule {
        return None;
    }
    let broken = live(&schedule, base).err()?;
    (broken.number == known.broken.number).then_some(Failure { schedule, broken })
}
