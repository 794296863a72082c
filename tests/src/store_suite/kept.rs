//! The stores of the interpreter, as the suite uses them: they differ in where they keep their records alone.

use pilotage_core::event::{Event, RecordName};
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::Command;
use pilotage_core::time::Timestamp;
use pilotage_interpreter::store::{Changes, Damaged, Position, Store, StoreError};

use super::{Damageable, StoreUnderTest};

/// Where a store keeps its records, and how they are damaged there.
pub trait Place {
    /// The store.
    type Store: Store;
    /// A record's text there.
    type Text: Clone;

    /// Opens the store, as a process does that begins.
    fn open(&self) -> Self::Store;
    /// Puts something that cannot be read in the place of a record, and gives what was there.
    fn damage(&mut self, record: &RecordName) -> Self::Text;
    /// Puts back what was there.
    fn mend(&mut self, record: &RecordName, text: Self::Text);
    /// Whether what others did is seen at once, or a moment later.
    const AT_ONCE: bool;
}

/// A store, with what was heard of it.
#[derive(Debug)]
pub struct Kept<P: Place> {
    place: P,
    store: P::Store,
    heard: Position,
    /// What the last list told as unreadable.
    told: Vec<Damaged>,
    /// What was there before it was damaged.
    good: Vec<(RecordName, P::Text)>,
}

impl<P: Place> Kept<P> {
    /// The store of a place where nothing is yet.
    pub fn new(place: P) -> Self {
        Kept {
            store: place.open(),
            place,
            heard: Position::default(),
            told: Vec::new(),
            good: Vec::new(),
        }
    }
}

impl<P: Place> StoreUnderTest for Kept<P> {
    fn execute(
        &mut self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Outcome {
        match self.store.execute(at, command, secrets) {
            // As the runtime answers a command of the provisioner.
            Err(StoreError::Record(damaged)) => Outcome::Refused {
                reason: Refusal::NotSent,
                message: damaged.to_string().into(),
            },
            outcome => outcome.expect("a state that can be written"),
        }
    }

    fn list(&mut self) -> Vec<Event> {
        let snapshot = self.store.snapshot().expect("a state that can be read");
        self.heard = snapshot.position;
        self.told.clone_from(&snapshot.damaged);
        snapshot.events().collect()
    }

    fn changes(&mut self) -> Vec<Event> {
        let changes = self.store.changes_since(self.heard);
        match changes.expect("a state that can be read") {
            Changes::Events(events, position) => {
                self.heard = position;
                events
            }
            Changes::Lost => panic!("so few changes are not forgotten"),
        }
    }

    fn secret(&mut self, secret: &SecretRef) -> Option<String> {
        self.store.secret(secret).expect("a state that can be read")
    }

    fn reopen(&mut self) {
        self.store = self.place.open();
    }
}

impl<P: Place> Damageable for Kept<P> {
    fn damage(&mut self, record: &RecordName) {
        let before = self.place.damage(record);
        self.good.push((record.clone(), before));
    }

    fn mend(&mut self, record: &RecordName) {
        let good = self.good.iter().find(|(good, _)| good == record);
        let (_, text) = good.expect("it was damaged").clone();
        self.place.mend(record, text);
    }

    fn tells_again(&mut self) -> bool {
        if P::AT_ONCE {
            return self.store.damaged().expect("a state that can be read") != self.told;
        }
        crate::patience::until("the damage is seen", || {
            let Changes::Events(..) = self.store.changes_since(self.heard).ok()? else {
                return None;
            };
            let damaged = self.store.damaged().expect("a state that can be read");
            (damaged != self.told).then_some(true)
        })
    }
}
