//! The kinds of event, and whose an event is.

use pilotage_core::event::Event;
use pilotage_core::name::Uid;
use pilotage_core::provisioner::Provisioner;
use pilotage_core::worker::phase::Phase;

use crate::history::History;

/// Names every kind of event once: an event of another kind does not compile.
macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        /// A kind of event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum EventKind { $($kind),* }

        impl EventKind {
            pub const ALL: &[EventKind] = &[$(EventKind::$kind),*];

            pub fn of(event: &Event) -> Self {
                match event { $(Event::$kind { .. } => EventKind::$kind),* }
            }
        }
    };
}

kinds! {
    Listing, Synced, SourceFailed, SourceResumed, ModelChanged, ModelGone, LifeChanged, ScaleChanged, TrustChanged,
    ProvisioningChanged, UnitChanged, UnitRemoved, StorageChanged, StorageRemoved, Reported, DetachedStorageChanged,
    DetachedStorageGone, RecordUnreadable, PodUpdated, PodDeleted, ObjectUpdated, ObjectDeleted, Timer, EffectCompleted,
}

/// The phase of an application's worker; `Gone` if it has none, any more or yet.
pub fn phase(core: &Provisioner, application: Uid) -> Phase {
    core.worker(application)
        .map_or(Phase::Gone, |worker| worker.phase)
}

/// The phases that an event meets: of the application that it concerns, of those of a model, or of all.
pub fn meets(history: &History, core: &Provisioner, event: &Event) -> Vec<Phase> {
    let one = |application: Uid| vec![phase(core, application)];
    let all = || {
        history
            .applications
            .iter()
            .map(|uid| phase(core, *uid))
            .collect()
    };
    if let Some(record) = event.record() {
        return one(record.uid);
    }
    let application = match event {
        Event::PodUpdated(pod) => pod.metadata.labels.ownership().and_then(|o| o.application),
        Event::ObjectUpdated(object) => {
            (object.metadata().labels.ownership()).and_then(|whose| whose.application)
        }
        Event::PodDeleted { uid, .. } | Event::ObjectDeleted { uid, .. } => {
            history.owners.get(uid).copied()
        }
        Event::EffectCompleted { id, .. } => {
            (history.applications.contains(&id.owner)).then_some(id.owner)
        }
        _ => None,
    };
    application.map_or_else(all, one)
}
