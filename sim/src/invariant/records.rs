//! Invariant 12: the records' own invariants hold after every command.

use alloc::format;

use pilotage_core::state::{check, check_change};

use super::{Broken, Pair};

pub(super) fn check_all(records: &[Pair<'_>]) -> Result<(), Broken> {
    for (before, after) in records {
        let Some(after) = after else { continue };
        let result = match before {
            Some(before) => check_change(before, after),
            None => check(after),
        };
        result.map_err(|broken| Broken::new(12, format!("record of {}: {broken}", after.name)))?;
    }
    Ok(())
}
