//! One application's record, driven by commands.

use pilotage_core::event::Event;
use pilotage_core::life::Life;
use pilotage_core::name::Version;
use pilotage_core::outcome::Reply;
use pilotage_core::state::{
    Application, ApplicationCommand, Caller, Denial, NewApplication, NewStorage, RemovalWish,
    Report, StatusReport, UnitReport, Word, check, check_change,
};
use pilotage_core::time::Timestamp;
use pilotage_sim::workload::ledger_application;

use crate::{APPLICATION, MODEL};

/// A record that checks itself after every command; time goes on by one with each.
pub struct Record {
    pub application: Application,
    pub now: u64,
}

impl Record {
    /// The standard application with that many units.
    pub fn of_scale(scale: u32) -> Self {
        Self::add(&ledger_application(MODEL, "ledger", scale)).expect("a good application")
    }

    pub fn add(new: &NewApplication) -> Result<Self, Denial> {
        let (application, _) = Application::add(APPLICATION, Timestamp(0), new)?;
        assert_eq!(check(&application), Ok(()));
        Ok(Record {
            application,
            now: 0,
        })
    }

    /// A command at a version.
    pub fn give_at(
        &mut self,
        caller: Caller,
        expect: Option<Version>,
        body: ApplicationCommand,
    ) -> Result<Option<Vec<Event>>, Denial> {
        self.now += 1;
        let (after, reply) = self
            .application
            .apply(Timestamp(self.now), caller, expect, &body)?;
        let Reply::Recorded { changes, .. } = reply else {
            panic!("not an answer of the state: {reply:?}");
        };
        let Some(after) = after else { return Ok(None) };
        assert_eq!(check_change(&self.application, &after), Ok(()), "{body:?}");
        self.application = after;
        Ok(Some(changes))
    }

    /// A user's command that is carried out.
    pub fn user(&mut self, body: ApplicationCommand) -> Vec<Event> {
        self.try_user(body).expect("carried out")
    }

    pub fn try_user(&mut self, body: ApplicationCommand) -> Result<Vec<Event>, Denial> {
        let changes = self.give_at(Caller::User, None, body)?;
        Ok(changes.expect("a record that stays"))
    }

    /// A worker's command, at the version that is, that is carried out.
    pub fn worker(&mut self, body: ApplicationCommand) -> Vec<Event> {
        let changes = self.try_worker(body).expect("carried out");
        changes.expect("a record that stays")
    }

    pub fn try_worker(&mut self, body: ApplicationCommand) -> Result<Option<Vec<Event>>, Denial> {
        let version = self.application.version;
        self.give_at(Caller::Provisioner, Some(version), body)
    }

    pub fn remove(&mut self, force: bool) -> Vec<Event> {
        self.user(ApplicationCommand::Remove {
            wish: RemovalWish {
                destroy_storage: false,
                force,
            },
        })
    }

    pub fn set_scale(&mut self, scale: u32) -> Vec<Event> {
        self.user(ApplicationCommand::SetScale { scale })
    }

    /// The worker's whole way down to what is wanted.
    pub fn scale_down(&mut self) {
        let target = self.application.target();
        self.worker(ApplicationCommand::BeginScaling { target });
        self.worker(ApplicationCommand::DestroyUnits { from: target });
        let numbers = self.numbers_of(Life::Dead);
        self.worker(ApplicationCommand::RemoveUnits { numbers });
        self.worker(ApplicationCommand::EndScaling);
    }

    /// Every unit gets its claim `data`, numbered from `first`.
    pub fn add_data(&mut self, first: u32) {
        let units = self.numbers_of(Life::Alive);
        let storages = (first..)
            .zip(units)
            .map(|(number, unit)| data(number, unit))
            .collect();
        self.worker(ApplicationCommand::AddStorage { storages });
    }

    /// A unit's pod shows this.
    pub fn unit_shows(&mut self, number: u32, word: Word, message: &str) -> Vec<Event> {
        let agent = if word == Word::Active {
            Word::Idle
        } else {
            Word::Allocating
        };
        self.worker(ApplicationCommand::Report(Report {
            units: vec![UnitReport {
                number,
                pod: None,
                ready: word == Word::Active,
                workload: StatusReport::new(word, message),
                agent: StatusReport::new(agent, ""),
            }],
            ..Report::default()
        }))
    }

    /// The worker's own verdict.
    pub fn provisioner_says(&mut self, word: Word, message: &str) {
        self.worker(ApplicationCommand::Report(Report {
            provisioner: Some(StatusReport::new(word, message)),
            ..Report::default()
        }));
    }

    pub fn numbers(&self) -> Vec<u32> {
        let units = self.application.status.units.iter();
        units.map(|unit| unit.number).collect()
    }

    pub fn numbers_of(&self, life: Life) -> Vec<u32> {
        let units = self.application.status.units.iter();
        units
            .filter(|unit| unit.life == life)
            .map(|unit| unit.number)
            .collect()
    }
}

/// A storage `data` for a unit.
pub fn data(number: u32, unit: u32) -> NewStorage {
    NewStorage {
        number,
        unit,
        storage: "data".into(),
        index: None,
        claim: Some(format!("ledger-data-00000000-ledger-{unit}").into()),
    }
}
