//! What is true of every record after every command (design, section 7, invariant 12): for property tests and the
//! simulator.

use crate::life::Life;

use super::apply::LARGEST_SCALE;
use super::{Application, StorageWord};

/// A rule that a record breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// Units are in order of their numbers, each once.
    #[error("units are not in order")]
    UnitOrder,
    /// Storages are in order of their numbers, each once.
    #[error("storages are not in order")]
    StorageOrder,
    /// One storage of one unit has one number.
    #[error("a unit has the same storage twice")]
    StorageTwice,
    /// Somebody asked for the removal of whatever is not alive, and of nothing else.
    #[error("life and removal contradict each other")]
    Removal,
    /// A dead application has no units, and no record says that it is gone.
    #[error("it is dead and has units, or its record says that it is gone")]
    Dead,
    /// Those that stay are 0 to n-1.
    #[error("the units that stay have a gap")]
    Gap,
    /// While none is leaving, every unit that is wanted is there.
    #[error("a unit that is wanted is missing, and none is leaving")]
    Missing,
    /// While units are leaving, a scaling is noted, and to a target that makes none of them stay.
    #[error("units are leaving, and no scaling to there is noted")]
    Scaling,
    /// A storage whose unit is gone has a claim and is not attached.
    #[error("a storage without a unit is attached, or has no claim")]
    Detached,
    /// No more units than there can be.
    #[error("it has too many units")]
    TooMany,
    /// The status kept for the application is what its units say.
    #[error("the status of the application is not what its units say")]
    Settled,
    /// Versions begin at 1.
    #[error("it has no version")]
    Version,
    /// A change raises the version by one; nothing else does.
    #[error("the version did not follow the change")]
    VersionChange,
    /// Identity never changes, life only moves on, a revision never falls.
    #[error("something went back that only moves on")]
    Backwards,
}

/// Checks one record.
///
/// # Errors
/// The first rule that is broken.
pub fn check(application: &Application) -> Result<(), Broken> {
    let status = &application.status;
    let rule = |holds: bool, broken: Broken| holds.then_some(()).ok_or(broken);
    let alive = status.life == Life::Alive;

    rule(application.version.0 >= 1, Broken::Version)?;
    rule(
        status.units.is_sorted_by(|a, b| a.number < b.number),
        Broken::UnitOrder,
    )?;
    rule(
        status.storage.is_sorted_by(|a, b| a.number < b.number),
        Broken::StorageOrder,
    )?;
    rule(alive == application.spec.removal.is_none(), Broken::Removal)?;
    let dead = status.life == Life::Dead;
    rule(
        status.life != Life::Gone && (!dead || status.units.is_empty()),
        Broken::Dead,
    )?;
    rule(
        application.spec.scale <= LARGEST_SCALE
            && status.units.iter().all(|unit| unit.number < LARGEST_SCALE),
        Broken::TooMany,
    )?;

    let stay = application.alive_prefix();
    rule(
        status
            .units
            .iter()
            .all(|unit| (unit.life == Life::Alive) == (unit.number < stay)),
        Broken::Gap,
    )?;
    let leaving = application.is_leaving_units();
    rule(
        leaving || !alive || stay >= application.spec.scale,
        Broken::Missing,
    )?;
    rule(
        application
            .lowest_leaving()
            .is_none_or(|lowest| status.scaling.is_some_and(|noted| noted <= lowest)),
        Broken::Scaling,
    )?;
    check_storage(application)?;
    rule(
        status.settled.report == application.derived_status(),
        Broken::Settled,
    )
}

fn check_storage(application: &Application) -> Result<(), Broken> {
    let storages = &application.status.storage;
    for (place, storage) in (1_usize..).zip(storages) {
        let twice = storages.iter().skip(place).any(|other| {
            (other.unit, &other.storage, other.index)
                == (storage.unit, &storage.storage, storage.index)
        });
        if twice {
            return Err(Broken::StorageTwice);
        }
        let attached = matches!(
            storage.word,
            StorageWord::Pending | StorageWord::Attaching | StorageWord::Attached
        );
        let left_behind = application.unit(storage.unit).is_none();
        if left_behind && (attached || storage.claim.is_none()) {
            return Err(Broken::Detached);
        }
    }
    Ok(())
}

/// Checks what one command made of a record.
///
/// # Errors
/// The first rule that is broken.
pub fn check_change(before: &Application, after: &Application) -> Result<(), Broken> {
    check(after)?;
    let step = u64::from(before != after);
    if after.version.0 != before.version.0.saturating_add(step) {
        return Err(Broken::VersionChange);
    }
    let identity = |one: &Application| (one.uid, one.name.clone(), one.model, one.created);
    let started = |number: u32| {
        let of = |one: &Application| {
            one.unit(number)
                .filter(|unit| unit.life == Life::Alive)
                .map(|unit| unit.started)
        };
        (of(before), of(after)) != (Some(true), Some(false))
    };
    let onward = identity(before) == identity(after)
        && before.status.life <= after.status.life
        && before.spec.modified <= after.spec.modified
        && before.spec.template <= after.spec.template
        && before.spec.removal <= after.spec.removal
        && before.status.units.iter().all(|unit| started(unit.number));
    if onward {
        Ok(())
    } else {
        Err(Broken::Backwards)
    }
}
