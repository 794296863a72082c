//! What was committed, in order.

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use pilotage_core::event::Event;

/// Changes, oldest first; the oldest may be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Log {
    forgotten: u64,
    changes: VecDeque<Arc<[Event]>>,
}

impl Log {
    pub(super) fn append(&mut self, events: &[Event]) {
        self.changes.push_back(events.into());
    }

    pub(super) fn head(&self) -> u64 {
        self.forgotten + self.changes.len() as u64
    }

    pub(super) fn since(&self, seen: u64) -> Option<impl Iterator<Item = &[Event]>> {
        let heard = seen.checked_sub(self.forgotten)?;
        let heard = usize::try_from(heard).ok()?;
        (heard <= self.changes.len()).then(|| self.changes.iter().skip(heard).map(|one| &**one))
    }

    pub(super) fn forget(&mut self, seen: u64) {
        while self.forgotten < seen && self.changes.pop_front().is_some() {
            self.forgotten += 1;
        }
    }
}
