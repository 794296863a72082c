//! What every store must do, whatever it keeps its records in.
//!
//! The memory store of the simulator is the measure: a store that gives the same answers, the same changes and the same
//! lists to the same commands keeps every rule that the memory store keeps. [`store_suite!`](crate::store_suite!) makes
//! the tests of one store.

use std::collections::BTreeMap;

use pilotage_core::digest::Digest;
use pilotage_core::event::{Event, RecordName, Source};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal, Reply};
use pilotage_core::secret::SecretRef;
use pilotage_core::state::{
    ApplicationCommand, Caller, Command, Login, ModelCommand, NewStorage, Refresh, RemovalWish,
    Report, ResourceValue, StatusReport, Storage, StorageCommand, UnitReport, Word,
};
use pilotage_core::time::Timestamp;
use pilotage_sim::store::{Store, Told};
use pilotage_sim::workload::ledger_application;

mod kept;

pub use kept::{Kept, Place};

/// A store, as the suite uses it.
pub trait StoreUnderTest {
    /// Carries out one command.
    fn execute(
        &mut self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Outcome;
    /// Everything that there is, from [`Event::Listing`] to [`Event::Synced`].
    fn list(&mut self) -> Vec<Event>;
    /// What was committed since the last call of this or of [`StoreUnderTest::list`].
    fn changes(&mut self) -> Vec<Event>;
    /// A value of the vault.
    fn secret(&mut self, secret: &SecretRef) -> Option<String>;
    /// The process ends without a word, and another one opens the state.
    fn reopen(&mut self);
}

/// A store whose records can be damaged from outside.
pub trait Damageable: StoreUnderTest {
    /// From now on this record cannot be read.
    fn damage(&mut self, record: &RecordName);
    /// What was there is put back.
    fn mend(&mut self, record: &RecordName);
    /// Whether a watch has to tell everything again, as others cannot be read than it has told.
    fn tells_again(&mut self) -> bool;
}

impl Damageable for InMemory {
    fn damage(&mut self, record: &RecordName) {
        self.store.damage(record.clone());
    }

    fn mend(&mut self, record: &RecordName) {
        self.store.mend(record);
    }

    fn tells_again(&mut self) -> bool {
        // What the memory store tells, the world says.
        true
    }
}

/// The memory store, which has nothing to open again.
#[derive(Debug, Default)]
pub struct InMemory {
    store: Store,
    heard: u64,
}

impl StoreUnderTest for InMemory {
    fn execute(
        &mut self,
        at: Timestamp,
        command: &Command,
        secrets: &[(SecretRef, String)],
    ) -> Outcome {
        self.store.execute(at, command, secrets)
    }

    fn list(&mut self) -> Vec<Event> {
        self.heard = self.store.head();
        self.store.list()
    }

    fn changes(&mut self) -> Vec<Event> {
        let changes = self.store.changes_since(self.heard);
        let events: Vec<Event> = changes
            .expect("nothing was forgotten")
            .flatten()
            .cloned()
            .collect();
        self.heard = self.store.head();
        self.store.forget(self.heard);
        events
    }

    fn secret(&mut self, secret: &SecretRef) -> Option<String> {
        self.store.secret(secret).map(String::from)
    }

    fn reopen(&mut self) {}
}

const MODEL: Uid = Uid(1);
const LEDGER: Uid = Uid(2);

fn add_model(uid: Uid, name: &str) -> Command {
    Command::Model {
        model: uid,
        caller: Caller::User,
        expect: None,
        body: ModelCommand::Add {
            name: name.into(),
            settings: [].into(),
        },
    }
}

fn add_application(uid: Uid, name: &str, scale: u32) -> Command {
    Command::Application {
        application: uid,
        caller: Caller::User,
        expect: None,
        body: ApplicationCommand::Add(Box::new(ledger_application(MODEL, name, scale))),
    }
}

fn by_user(body: ApplicationCommand) -> Command {
    Command::Application {
        application: LEDGER,
        caller: Caller::User,
        expect: None,
        body,
    }
}

fn scale(scale: u32) -> Command {
    by_user(ApplicationCommand::SetScale { scale })
}

fn force_away() -> Command {
    let wish = RemovalWish {
        destroy_storage: false,
        force: true,
    };
    by_user(ApplicationCommand::Remove { wish })
}

fn done(outcome: &Outcome) -> &[Event] {
    match outcome {
        Outcome::Done(Reply::Recorded { changes, .. }) => changes,
        other => panic!("not carried out: {other:?}"),
    }
}

fn refusal(outcome: Outcome) -> Refusal {
    match outcome {
        Outcome::Refused { reason, .. } => reason,
        other => panic!("not refused: {other:?}"),
    }
}

fn given_an_application(store: &mut dyn StoreUnderTest) {
    done(&store.execute(Timestamp(1), &add_model(MODEL, "shop"), &[]));
    done(&store.execute(Timestamp(2), &add_application(LEDGER, "ledger", 1), &[]));
}

fn clear(store: &mut dyn StoreUnderTest) -> Outcome {
    let told = Told::of(&store.list()).expect("a list");
    let command = Command::Application {
        application: LEDGER,
        caller: Caller::Provisioner,
        expect: told.applications.get(&LEDGER).map(|one| one.version),
        body: ApplicationCommand::Clear,
    };
    store.execute(Timestamp(9), &command, &[])
}

/// A list is framed, and of an empty state there is nothing between.
pub fn an_empty_state_lists_nothing(store: &mut dyn StoreUnderTest) {
    let source = Source::Store;
    let frame = [Event::Listing { source }, Event::Synced { source }];
    assert_eq!(store.list(), frame);
    assert_eq!(store.changes(), []);
}

/// The reply and the watch tell the same.
pub fn what_is_replied_is_what_is_told(store: &mut dyn StoreUnderTest) {
    given_an_application(store);
    store.list();
    let outcome = store.execute(Timestamp(3), &scale(3), &[]);
    assert_eq!(store.changes(), done(&outcome));
    assert_eq!(store.changes(), [], "each change is told once");
}

/// A command that changes nothing is not a change.
pub fn a_command_that_changes_nothing_is_not_told(store: &mut dyn StoreUnderTest) {
    given_an_application(store);
    store.list();
    let outcome = store.execute(Timestamp(3), &scale(1), &[]);
    assert_eq!(done(&outcome), []);
    assert_eq!(store.changes(), []);
}

/// A denied command leaves no trace, not even its secrets.
pub fn a_denied_command_leaves_nothing(store: &mut dyn StoreUnderTest) {
    given_an_application(store);
    let before = store.list();
    let secret = password();
    let denied = add_application(Uid(3), "ledger", 1);
    let outcome = store.execute(Timestamp(3), &denied, &[(secret.clone(), "p".into())]);
    assert_eq!(refusal(outcome), Refusal::AlreadyExists);
    assert_eq!(store.changes(), []);
    assert_eq!(store.list(), before);
    assert_eq!(store.secret(&secret), None);
}

/// What was answered as done is there after the process has ended.
pub fn what_is_done_outlives_the_process(store: &mut dyn StoreUnderTest) {
    given_an_application(store);
    let secret = password();
    let trust = by_user(ApplicationCommand::SetTrust { trust: true });
    done(&store.execute(Timestamp(3), &trust, &[(secret.clone(), "p".into())]));
    let before = store.list();
    store.reopen();
    assert_eq!(store.list(), before);
    assert_eq!(store.secret(&secret).as_deref(), Some("p"));
}

/// A second value under the same name is not taken: the first is in the cluster already.
pub fn the_first_value_of_a_secret_stays(store: &mut dyn StoreUnderTest) {
    given_an_application(store);
    let secret = password();
    for (at, value) in [(3, "first"), (4, "second")] {
        let command = scale(u32::try_from(at).expect("small"));
        done(&store.execute(Timestamp(at), &command, &[(secret.clone(), value.into())]));
    }
    assert_eq!(store.secret(&secret).as_deref(), Some("first"));
}

/// Values go with the application that they were for.
pub fn the_vault_forgets_what_is_cleared(store: &mut dyn StoreUnderTest) {
    given_an_application(store);
    let secret = password();
    done(&store.execute(Timestamp(3), &force_away(), &[(secret.clone(), "p".into())]));
    done(&clear(store));
    assert_eq!(store.secret(&secret), None);
}

/// A password that was replaced is needed by nobody once the next write is done: an effect that was decided on the former
/// record may be on its way until then.
pub fn the_vault_forgets_a_password_that_was_replaced(store: &mut dyn StoreUnderTest) {
    done(&store.execute(Timestamp(1), &add_model(MODEL, "shop"), &[]));
    let secret = |generation| SecretRef {
        application: LEDGER,
        name: "ledger-image".into(),
        generation,
    };
    let image = |generation: Option<u32>| {
        let login = generation.map(|generation| Login {
            username: "clerk".into(),
            secret: secret(generation),
            fingerprint: Digest::of(&generation),
        });
        let value = ResourceValue::Image {
            path: "registry.example/ledger:1".into(),
            login,
        };
        BTreeMap::from([("ledger-image".to_owned(), value)])
    };
    let mut new = ledger_application(MODEL, "ledger", 1);
    new.resources = image(Some(1));
    let add = Command::Application {
        application: LEDGER,
        caller: Caller::User,
        expect: None,
        body: ApplicationCommand::Add(Box::new(new)),
    };
    let refresh = |generation| {
        by_user(ApplicationCommand::Refresh(Box::new(Refresh {
            charm: None,
            resources: image(generation),
            config: BTreeMap::new(),
            settings: BTreeMap::new(),
            storage: BTreeMap::new(),
            filesystems: Vec::new(),
            trust: None,
            base: None,
        })))
    };
    let kept = |store: &mut dyn StoreUnderTest| -> Vec<u32> {
        let all = 1..4;
        all.filter(|one| store.secret(&secret(*one)).is_some())
            .collect()
    };
    done(&store.execute(Timestamp(2), &add, &[(secret(1), "first".into())]));
    done(&store.execute(Timestamp(3), &scale(2), &[]));
    assert_eq!(kept(store), [1]);
    let second = [(secret(2), "second".into())];
    done(&store.execute(Timestamp(4), &refresh(Some(2)), &second));
    assert_eq!(kept(store), [1, 2], "what is on its way may need the first");
    done(&store.execute(Timestamp(5), &scale(2), &[]));
    assert_eq!(kept(store), [1, 2], "nothing was written");
    done(&store.execute(Timestamp(6), &scale(3), &[]));
    assert_eq!(kept(store), [2]);
    done(&store.execute(Timestamp(7), &refresh(None), &[]));
    assert_eq!(kept(store), [2]);
    done(&store.execute(Timestamp(8), &scale(1), &[]));
    assert_eq!(
        kept(store),
        Vec::<u32>::new(),
        "no login is needed any more"
    );
}

/// B26, B35: a name is free when the record, tombstone included, is gone; and only then.
pub fn a_name_is_taken_until_its_record_is_gone(store: &mut dyn StoreUnderTest) {
    given_an_application(store);
    done(&store.execute(Timestamp(3), &force_away(), &[]));
    let again = add_application(Uid(3), "ledger", 1);
    let early = store.execute(Timestamp(4), &again, &[]);
    assert_eq!(refusal(early), Refusal::AlreadyExists);
    done(&clear(store));
    done(&store.execute(Timestamp(5), &again, &[]));
    assert_eq!(refusal(clear(store)), Refusal::NotFound);
}

/// A model stays until nothing of it is recorded.
pub fn a_model_goes_last(store: &mut dyn StoreUnderTest) {
    given_an_application(store);
    let of_model = |caller, body| Command::Model {
        model: MODEL,
        caller,
        expect: None,
        body,
    };
    let wish = RemovalWish::default();
    let destroy = of_model(Caller::User, ModelCommand::Destroy { wish });
    done(&store.execute(Timestamp(3), &destroy, &[]));
    let late = store.execute(Timestamp(4), &add_application(Uid(3), "late", 1), &[]);
    assert_eq!(refusal(late), Refusal::Invalid);
    let clear_model = |store: &mut dyn StoreUnderTest| {
        let told = Told::of(&store.list()).expect("a list");
        let command = Command::Model {
            model: MODEL,
            caller: Caller::Provisioner,
            expect: told.models.get(&MODEL).map(|model| model.version),
            body: ModelCommand::Clear,
        };
        store.execute(Timestamp(5), &command, &[])
    };
    assert_eq!(refusal(clear_model(store)), Refusal::TryAgain);
    done(&store.execute(Timestamp(6), &force_away(), &[]));
    done(&clear(store));
    assert_eq!(
        done(&clear_model(store)),
        [Event::ModelGone { model: MODEL }]
    );
}

/// Whatever is asked of it, a store answers and tells as the memory store does.
pub fn it_answers_as_the_memory_store_does(store: &mut dyn StoreUnderTest) {
    let mut measure = InMemory::default();
    let mut listener = Told::of(&store.list()).expect("a list");
    measure.list();
    let mut dice = Dice(0x5eed);
    let mut carried_out = 0;
    for at in 0..400 {
        let command = any_command(&mut dice, &measure.store);
        let expected = measure.execute(Timestamp(at), &command, &[]);
        let outcome = store.execute(Timestamp(at), &command, &[]);
        assert_eq!(outcome, expected, "command {at}: {command:?}");
        let told = store.changes();
        carried_out += u32::from(!told.is_empty());
        assert_eq!(told, measure.changes(), "command {at}: {command:?}");
        for event in &told {
            listener.hear(event).expect("an event of the store");
        }
        if at % 50 == 0 {
            store.reopen();
            assert_eq!(store.list(), measure.list(), "after command {at}");
        }
    }
    assert_eq!(Told::of(&store.list()).expect("a list"), listener);
    assert!(
        carried_out > 50,
        "only {carried_out} of the commands changed anything"
    );
}

fn application(uid: Uid, name: &str) -> RecordName {
    RecordName::Application {
        application: uid,
        name: name.into(),
        model: MODEL,
    }
}

/// A record that cannot be read is told as such, in every call that needs it; all others are as they were, and so is it
/// when it is put back.
pub fn a_record_that_cannot_be_read_stands_alone(store: &mut dyn Damageable) {
    given_an_application(store);
    done(&store.execute(Timestamp(2), &add_application(Uid(3), "audit", 1), &[]));
    done(&store.execute(Timestamp(2), &add_model(Uid(9), "harbour"), &[]));
    let whole = store.list();
    let ledger = application(LEDGER, "ledger");
    store.damage(&ledger);
    let listed = store.list();
    let told = Told::of(&listed).expect("a list");
    assert_eq!(told.unreadable, [ledger.clone()].into());
    let others = whole.iter().filter(|event| {
        let record = event.record();
        record.is_none_or(|record| record.uid != LEDGER)
    });
    let others: Vec<&Event> = others.collect();
    let now: Vec<&Event> = listed
        .iter()
        .filter(|event| !matches!(event, Event::RecordUnreadable(_)))
        .collect();
    assert_eq!(now, others, "everything else is told as before");

    let message = |outcome: Outcome| match outcome {
        Outcome::Refused { message, .. } => message,
        other => panic!("not refused: {other:?}"),
    };
    let taken = add_application(Uid(4), "ledger", 1);
    let forced = force_away();
    for command in [&scale(3), &taken, &forced] {
        let said = message(store.execute(Timestamp(3), command, &[]));
        assert!(
            said.contains("the record of application \"ledger\" cannot be read"),
            "{said}"
        );
    }
    let other = Command::Application {
        application: Uid(3),
        caller: Caller::User,
        expect: None,
        body: ApplicationCommand::SetTrust { trust: true },
    };
    let outcome = store.execute(Timestamp(4), &other, &[]);
    let mut heard = done(&outcome).to_vec();
    assert_eq!(store.changes(), heard);
    let wish = RemovalWish::default();
    let destroy = Command::Model {
        model: MODEL,
        caller: Caller::User,
        expect: None,
        body: ModelCommand::Destroy { wish },
    };
    heard = done(&store.execute(Timestamp(5), &destroy, &[])).to_vec();
    assert_eq!(store.changes(), heard);

    store.mend(&ledger);
    assert!(store.tells_again());
    let told = Told::of(&store.list()).expect("a list");
    assert_eq!(told.unreadable, [].into());
    assert_eq!(
        told.applications.get(&LEDGER),
        Told::of(&whole).expect("a list").applications.get(&LEDGER)
    );
    done(&store.execute(Timestamp(6), &scale(3), &[]));
}

/// That a record cannot be read is found by whoever needs it, and then told to all.
pub fn what_a_command_finds_damaged_is_told_again(store: &mut dyn Damageable) {
    given_an_application(store);
    store.list();
    let ledger = application(LEDGER, "ledger");
    store.damage(&ledger);
    store.execute(Timestamp(3), &scale(3), &[]);
    assert!(store.tells_again());
    let told = Told::of(&store.list()).expect("a list");
    assert_eq!(told.unreadable, [ledger.clone()].into());
    store.reopen();
    let told = Told::of(&store.list()).expect("a list");
    assert_eq!(told.unreadable, [ledger].into());
}

/// A model's record and a storage's stand alone too.
pub fn every_kind_of_record_may_be_the_damaged_one(store: &mut dyn Damageable) {
    given_an_application(store);
    let mut measure = InMemory::default();
    given_an_application(&mut measure);
    let storage = {
        let command = Command::Application {
            application: LEDGER,
            caller: Caller::Provisioner,
            expect: None,
            body: ApplicationCommand::AddStorage {
                storages: vec![NewStorage {
                    number: 0,
                    unit: 0,
                    storage: "data".into(),
                    index: None,
                    claim: Some("claim".into()),
                }],
            },
        };
        done(&measure.execute(Timestamp(3), &command, &[]));
        let mut applications = measure.store.applications();
        let ledger = applications.next().expect("an application");
        ledger.status.storage[0].clone()
    };
    let keep = Command::Storage {
        model: MODEL,
        number: 0,
        caller: Caller::Provisioner,
        expect: None,
        body: StorageCommand::Keep {
            storage: Box::new(Storage {
                model: MODEL,
                version: Default::default(),
                created: Timestamp(0),
                application: LEDGER,
                application_name: "ledger".into(),
                instance: storage,
                destroy: false,
            }),
        },
    };
    done(&store.execute(Timestamp(3), &keep, &[]));
    let whole = store.list();
    let records = [
        RecordName::Model {
            model: MODEL,
            name: "shop".into(),
        },
        application(LEDGER, "ledger"),
        RecordName::Storage {
            model: MODEL,
            number: 0,
        },
    ];
    for record in &records {
        store.damage(record);
    }
    let source = Source::Store;
    let mut expected = vec![Event::Listing { source }];
    expected.extend(records.iter().cloned().map(Event::RecordUnreadable));
    expected.push(Event::Synced { source });
    assert_eq!(store.list(), expected);
    for record in &records {
        store.mend(record);
    }
    assert_eq!(store.list(), whole);
}

fn password() -> SecretRef {
    SecretRef {
        application: LEDGER,
        name: "registry".into(),
        generation: 1,
    }
}

/// A row of numbers that is the same in every run (a linear congruential generator, Knuth's MMIX constants).
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(sides)).expect("fewer than sides")
    }
}

/// One of all commands, at the record's version, for one of few records.
fn any_command(dice: &mut Dice, store: &Store) -> Command {
    match dice.throw(8) {
        0 => model_command(dice, store),
        1 => storage_command(dice, store),
        2 => {
            let name = ["ledger", "audit", "Bad"][dice.throw(3) as usize];
            add_application(Uid(u128::from(2 + dice.throw(3))), name, dice.throw(4))
        }
        _ => application_command(dice, store),
    }
}

fn application_command(dice: &mut Dice, store: &Store) -> Command {
    use ApplicationCommand as Body;
    let uid = Uid(u128::from(2 + dice.throw(3)));
    let record = store.applications().find(|record| record.uid == uid);
    let target = record.map_or(0, |record| record.target());
    let units: Vec<u32> = (0..4).collect();
    let body = match dice.throw(16) {
        0 | 1 => Body::SetScale {
            scale: dice.throw(4),
        },
        2 => Body::ChangeScale {
            by: i64::from(dice.throw(3)) - 1,
        },
        3 => Body::SetTrust {
            trust: dice.throw(2) == 0,
        },
        4 => Body::Remove {
            wish: RemovalWish {
                destroy_storage: false,
                force: dice.throw(3) == 0,
            },
        },
        5 | 6 => Body::BeginScaling { target },
        7 | 8 => Body::DestroyUnits { from: target },
        9 => Body::RemoveUnits {
            numbers: (target..4).collect(),
        },
        10 => Body::EndScaling,
        11 => Body::AddStorage {
            storages: units
                .iter()
                .map(|unit| NewStorage {
                    number: unit + 4 * dice.throw(4),
                    unit: *unit,
                    storage: "data".into(),
                    index: None,
                    claim: Some("claim".into()),
                })
                .collect(),
        },
        12 => Body::Report(Report {
            units: vec![UnitReport {
                number: dice.throw(4),
                pod: None,
                ready: true,
                workload: StatusReport::new(Word::Active, "zu früh ✓"),
                agent: StatusReport::new(Word::Idle, ""),
            }],
            ..Report::default()
        }),
        13 => Body::MarkDead,
        14 => Body::RemoveStorage {
            numbers: (0..16).collect(),
        },
        _ => Body::Clear,
    };
    let user = matches!(
        body,
        Body::SetScale { .. }
            | Body::ChangeScale { .. }
            | Body::SetTrust { .. }
            | Body::Remove { .. }
    );
    Command::Application {
        application: uid,
        caller: if user {
            Caller::User
        } else {
            Caller::Provisioner
        },
        expect: record.map(|record| record.version),
        body,
    }
}

fn model_command(dice: &mut Dice, store: &Store) -> Command {
    let uid = Uid([1, 1, 1, 9][dice.throw(4) as usize]);
    let record = store.models().find(|record| record.uid == uid);
    let (caller, body) = match dice.throw(8) {
        0..=2 => return add_model(uid, ["shop", "other"][dice.throw(2) as usize]),
        3 => (
            Caller::Provisioner,
            ModelCommand::DrawStorage {
                count: dice.throw(3),
            },
        ),
        4 => (
            Caller::User,
            ModelCommand::DrawRevision {
                charm: "ledger-k8s".into(),
                floor: dice.throw(3),
            },
        ),
        5 => (
            Caller::Provisioner,
            ModelCommand::RememberRemoved {
                application: Uid(u128::from(10 + dice.throw(3))),
                destroyed: dice.throw(2) == 0,
            },
        ),
        6 => (
            Caller::User,
            ModelCommand::Configure {
                settings: [("mode".into(), (dice.throw(2) == 0).then(|| "quiet".into()))].into(),
            },
        ),
        _ => (Caller::Provisioner, ModelCommand::Clear),
    };
    Command::Model {
        model: uid,
        caller,
        expect: record.map(|record| record.version),
        body,
    }
}

fn storage_command(dice: &mut Dice, store: &Store) -> Command {
    let instances = store.applications().flat_map(|one| &one.status.storage);
    let instance = instances.last().cloned();
    let (number, body) = match (dice.throw(3), instance) {
        (0, Some(instance)) => {
            let storage = Storage {
                model: MODEL,
                version: Default::default(),
                created: Timestamp(0),
                application: LEDGER,
                application_name: "ledger".into(),
                instance,
                destroy: dice.throw(2) == 0,
            };
            let number = storage.instance.number;
            let keep = StorageCommand::Keep {
                storage: Box::new(storage),
            };
            (number, keep)
        }
        (1, _) => (dice.throw(8), StorageCommand::Destroy),
        _ => (dice.throw(8), StorageCommand::Clear),
    };
    Command::Storage {
        model: MODEL,
        number,
        caller: Caller::Provisioner,
        expect: None,
        body,
    }
}

/// Makes the tests of one store whose vault keeps no more than is needed: `make` gives a new, empty one.
#[macro_export]
macro_rules! vault_suite {
    (if $make:expr) => {
        $crate::store_suite! { if $make; the_vault_forgets_a_password_that_was_replaced }
    };
    ($make:expr) => {
        $crate::vault_suite!(if Some($make));
    };
}

/// Makes the tests of one store whose records can be damaged: `make` gives a new, empty one; with `if`, perhaps.
#[macro_export]
macro_rules! damage_suite {
    (if $make:expr) => {
        $crate::store_suite! {
            if $make;
            a_record_that_cannot_be_read_stands_alone,
            what_a_command_finds_damaged_is_told_again,
            every_kind_of_record_may_be_the_damaged_one,
        }
    };
    ($make:expr) => {
        $crate::damage_suite!(if Some($make));
    };
}

/// Makes the tests of one store: `make` gives a new, empty one; with `if`, perhaps: where what it needs is absent, it says
/// so.
#[macro_export]
macro_rules! store_suite {
    (if $make:expr) => {
        $crate::store_suite! {
            if $make;
            an_empty_state_lists_nothing,
            what_is_replied_is_what_is_told,
            a_command_that_changes_nothing_is_not_told,
            a_denied_command_leaves_nothing,
            what_is_done_outlives_the_process,
            the_first_value_of_a_secret_stays,
            the_vault_forgets_what_is_cleared,
            a_name_is_taken_until_its_record_is_gone,
            a_model_goes_last,
            it_answers_as_the_memory_store_does,
        }
    };
    (if $make:expr; $($name:ident),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                if let Some(mut store) = $make {
                    $crate::store_suite::$name(&mut store);
                }
            }
        )+
    };
    ($make:expr) => {
        $crate::store_suite!(if Some($make));
    };
}
