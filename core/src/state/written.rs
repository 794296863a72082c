//! Records whose specs users write directly, with tools that know nothing of commands.
//!
//! Such a store keeps, of each record, the spec as it was last written, and the record as it was last kept, with the
//! generation of the spec that it has seen. The record is the kept one; with one desire applied, where the spec has
//! moved on since. Everybody who reads comes to the same record, whoever keeps it first.
//!
//! A version rises with every generation, also where the new spec is refused or says the same: two different contents
//! never have one version, and a version never comes back.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::name::{Uid, Version};
use crate::time::Timestamp;

use super::{
    Application, ApplicationCommand, Caller, Denial, Desire, Model, ModelCommand, ModelSpec,
    Storage, StorageCommand,
};

/// A spec as a user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written<D> {
    /// The identity of the record.
    pub uid: Uid,
    /// Its name.
    pub name: Box<str>,
    /// Rises by one with every change of the spec, and once when it is to go; from 1.
    pub generation: u64,
    /// When the spec was last changed.
    pub at: Timestamp,
    /// What it asks for; or why it cannot be read.
    pub desire: Result<D, Box<str>>,
    /// Whether the user asked to take it away, by whatever means the store has for all its objects.
    pub leaving: bool,
}

/// A record as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<R> {
    /// The record.
    pub record: Arc<R>,
    /// The generation of the spec that it has seen.
    pub observed: u64,
}

/// A record as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed<R> {
    /// The record; none if the first spec of it is refused.
    pub record: Option<Arc<R>>,
    /// Why the spec is not followed, if it is not.
    pub refused: Option<Box<str>>,
}

impl<R> Observed<R> {
    fn refused(words: Box<str>) -> Self {
        Observed {
            record: None,
            refused: Some(words),
        }
    }

    fn first(record: R) -> Self {
        Observed {
            record: Some(Arc::new(record)),
            refused: None,
        }
    }

    fn unchanged(kept: &Kept<R>) -> Self {
        Observed {
            record: Some(kept.record.clone()),
            refused: None,
        }
    }
}

/// What is said of an application whose namespace is no model's.
const NO_MODEL: &str = "its namespace is of no model: add a model of the namespace's name";

impl<D> Written<D> {
    fn since<R>(&self, kept: &Kept<R>) -> u64 {
        self.generation.saturating_sub(kept.observed)
    }
}

/// What became of a desire: the record after it, or why not.
type Became<R> = Result<Option<R>, Box<str>>;

fn follow<R: Clone>(
    kept: &Kept<R>,
    steps: u64,
    became: Became<R>,
    version: impl Fn(&mut R) -> &mut Version,
) -> Observed<R> {
    let (mut record, refused) = match became {
        Ok(Some(record)) => (record, None),
        Ok(None) => (R::clone(&kept.record), None),
        Err(words) => (R::clone(&kept.record), Some(words)),
    };
    let mut before = R::clone(&kept.record);
    let before = version(&mut before).0;
    *version(&mut record) = Version(before.saturating_add(steps));
    Observed {
        record: Some(Arc::new(record)),
        refused,
    }
}

fn words(denial: Denial) -> Box<str> {
    alloc::format!("{denial}").into()
}

impl Written<Box<Desire>> {
    /// The application's record as it is. `model` is the model whose spec it stands beside.
    pub fn application(
        &self,
        kept: Option<&Kept<Application>>,
        model: Option<Uid>,
    ) -> Observed<Application> {
        let Some(kept) = kept else {
            return self.new_application(model);
        };
        let steps = self.since(kept);
        if steps == 0 {
            return Observed::unchanged(kept);
        }
        follow(kept, steps, self.change(&kept.record), |record| {
            &mut record.version
        })
    }

    fn change(&self, record: &Application) -> Became<Application> {
        let command = match (self.leaving, &self.desire) {
            (true, desire) => {
                let asked = desire.as_ref().ok().and_then(|desire| desire.removal);
                let wish = asked.unwrap_or_default();
                ApplicationCommand::Remove { wish }
            }
            (false, Ok(desire)) => ApplicationCommand::Desire(desire.clone()),
            (false, Err(words)) => return Err(words.clone()),
        };
        let applied = record.apply(self.at, Caller::User, None, &command);
        applied.map(|(after, _)| after).map_err(words)
    }

    fn new_application(&self, model: Option<Uid>) -> Observed<Application> {
        let desire = match &self.desire {
            Ok(desire) => desire,
            Err(words) => return Observed::refused(words.clone()),
        };
        let Some(model) = model else {
            return Observed::refused(NO_MODEL.into());
        };
        let added = desire
            .application(model, &self.name)
            .and_then(|new| Application::add(self.uid, self.at, &new));
        let became = match added {
            Ok((record, _)) if self.leaving || desire.removal.is_some() => {
                self.change(&record).map(|after| after.unwrap_or(record))
            }
            Ok((record, _)) => Ok(record),
            Err(denial) => Err(words(denial)),
        };
        match became {
            Ok(mut record) => {
                record.version = Version(self.generation.max(1));
                Observed::first(record)
            }
            Err(words) => Observed::refused(words),
        }
    }
}

impl Written<Box<ModelSpec>> {
    /// The model's record as it is.
    pub fn model(&self, kept: Option<&Kept<Model>>) -> Observed<Model> {
        let Some(kept) = kept else {
            return self.new_model();
        };
        let steps = self.since(kept);
        if steps == 0 {
            return Observed::unchanged(kept);
        }
        follow(kept, steps, self.change(&kept.record), |record| {
            &mut record.version
        })
    }

    fn change(&self, record: &Model) -> Became<Model> {
        let command = match (self.leaving, &self.desire) {
            (true, desire) => {
                let asked = desire.as_ref().ok().and_then(|desire| desire.removal);
                let wish = asked.unwrap_or_default();
                ModelCommand::Destroy { wish }
            }
            (false, Ok(desire)) => ModelCommand::Desire(desire.clone()),
            (false, Err(words)) => return Err(words.clone()),
        };
        let applied = record.apply(self.at, Caller::User, None, &command);
        applied.map(|(after, _)| after).map_err(words)
    }

    fn new_model(&self) -> Observed<Model> {
        let added = match &self.desire {
            Ok(desire) => Model::add(self.uid, self.at, &self.name, &desire.settings),
            Err(words) => return Observed::refused(words.clone()),
        };
        let became = match added {
            Ok((record, _)) => self.change(&record).map(|after| after.unwrap_or(record)),
            Err(denial) => Err(words(denial)),
        };
        match became {
            Ok(mut record) => {
                record.version = Version(self.generation.max(1));
                Observed::first(record)
            }
            Err(words) => Observed::refused(words),
        }
    }
}

impl Written<bool> {
    /// The storage's record as it is: its only desire is to be destroyed, or not. What was to be destroyed stays so.
    pub fn storage(&self, kept: &Kept<Storage>) -> Observed<Storage> {
        let steps = self.since(kept);
        if steps == 0 {
            return Observed::unchanged(kept);
        }
        let became = match (self.leaving, &self.desire) {
            (true, _) | (false, Ok(true)) => {
                let destroy = StorageCommand::Destroy;
                let applied = kept.record.apply(self.at, Caller::User, None, &destroy);
                applied.map(|(after, _)| after).map_err(words)
            }
            (false, Ok(false)) => Ok(None),
            (false, Err(words)) => Err(words.clone()),
        };
        follow(kept, steps, became, |record| &mut record.version)
    }
}
