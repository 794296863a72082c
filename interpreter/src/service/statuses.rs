//! Changes of applications' statuses, out of what the state tells the core.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pilotage_core::event::{Event, RecordName, Source};
use pilotage_core::life::Life;
use pilotage_core::name::Uid;
use pilotage_core::state::{StatusReport, Unit};

/// A change of one application's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The application's name.
    pub application: Box<str>,
    /// The application's identity.
    pub uid: Uid,
    /// What it was; none of an application that is new.
    pub from: Option<StatusReport>,
    /// What it is; none of an application whose record is gone.
    pub to: Option<StatusReport>,
}

/// What the state has told of each application's status so far.
#[derive(Debug, Default)]
pub struct Statuses {
    applications: BTreeMap<Uid, Seen>,
    /// While everything is told: whom nothing was told of yet.
    untold: Option<BTreeSet<Uid>>,
    /// Whether everything was told once: what is told before that is no news.
    synced: bool,
}

#[derive(Debug, Default)]
struct Seen {
    name: Box<str>,
    units: BTreeMap<u32, Arc<Unit>>,
    own: StatusReport,
    /// What was last said of it.
    said: Option<StatusReport>,
}

impl Statuses {
    /// Takes what the core is told; says what has changed with it.
    pub fn hear(&mut self, event: &Event) -> Vec<Change> {
        match event {
            Event::Listing {
                source: Source::Store,
            } => {
                self.untold = Some(self.applications.keys().copied().collect());
                return Vec::new();
            }
            Event::Synced {
                source: Source::Store,
            } => {
                self.synced = true;
                let gone = self.untold.take().unwrap_or_default();
                return gone.into_iter().filter_map(|uid| self.lose(uid)).collect();
            }
            // It is there, and what it is nobody knows.
            Event::RecordUnreadable(RecordName::Application { application, .. }) => {
                if let Some(untold) = &mut self.untold {
                    untold.remove(application);
                }
            }
            _ => {}
        }
        self.record(event).into_iter().collect()
    }

    fn record(&mut self, event: &Event) -> Option<Change> {
        let record = event.record()?;
        // Listed again, its units are told again: one that is not is gone.
        if let Some(untold) = &mut self.untold
            && untold.remove(&record.uid)
            && let Some(seen) = self.applications.get_mut(&record.uid)
        {
            seen.units.clear();
        }
        if let Event::LifeChanged {
            life: Life::Gone, ..
        } = event
        {
            return self.lose(record.uid);
        }
        let seen = self.applications.entry(record.uid).or_default();
        match event {
            Event::LifeChanged { name, .. } => seen.name.clone_from(name),
            Event::UnitChanged { unit, .. } => {
                seen.units.insert(unit.number, unit.clone());
            }
            Event::UnitRemoved { number, .. } => {
                seen.units.remove(number);
            }
            Event::Reported { report, .. } => seen.own = report.provisioner.clone(),
            _ => {}
        }
        if record.more {
            return None;
        }
        let units = seen.units.values().map(|unit| &**unit);
        let now = StatusReport::shown(units, &seen.own);
        if seen.said.as_ref() == Some(&now) {
            return None;
        }
        let from = seen.said.replace(now.clone());
        // At the start everything is told for the first time, and nothing has changed.
        self.synced.then(|| Change {
            application: seen.name.clone(),
            uid: record.uid,
            from,
            to: Some(now),
        })
    }

    fn lose(&mut self, uid: Uid) -> Option<Change> {
        let seen = self.applications.remove(&uid)?;
        self.synced.then_some(Change {
            application: seen.name,
            uid,
            from: seen.said,
            to: None,
        })
    }
}
