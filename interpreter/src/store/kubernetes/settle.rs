//! Settling: what users wrote is judged, and the record that comes of it is kept, before anybody acts on it.
//!
//! A spec that is refused is said so in the status of its object, once, and is looked at again when something else
//! changes that it may depend on, or its user writes another.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pilotage_core::state::{ApplicationCommand, Caller, Command, Denial, Stopped, transaction};
use pilotage_core::time::Timestamp;

use super::api::Failed;
use super::cache::{Entry, View};
use super::kind::Key;
use super::link::Link;
use super::object::Content;
use super::record::Record;
use super::size::{LARGEST_STATUS, too_large};
use super::status::status;
use crate::clock;
use crate::store::StoreError;

/// How often a change of somebody else is waited out.
const ATTEMPTS: u32 = 5;
/// When an object is tried again whose record the server did not take.
const LATER: Duration = Duration::from_secs(10);

impl Link {
    /// Settles everything that users wrote and nobody has looked at.
    pub(super) async fn settle_all(self: &Arc<Self>) -> Result<(), StoreError> {
        let (unsettled, news) = {
            let cache = self.cache();
            (cache.unsettled(), cache.news())
        };
        // What was refused is judged again only when something has changed.
        if self.settled.load(Ordering::SeqCst) == news && self.put_off().is_empty() {
            return Ok(());
        }
        for key in unsettled {
            let Some(entry) = self.cache().entry(&key).cloned() else {
                continue;
            };
            let put_off = self.put_off().get(&key).copied();
            if put_off.is_some_and(|until| until > Instant::now()) || self.is_said(&entry) {
                continue;
            }
            let turn = self.turn((key.kind, entry.object.record_uid(), 0));
            let _mine = turn.lock().await;
            match self.settle(&key).await {
                // The server does not take this one object's record: the others go on, and it is tried again later.
                Err(StoreError::InCluster { refused: true, .. }) => {
                    self.put_off().insert(key, Instant::now() + LATER);
                }
                other => {
                    other?;
                    self.put_off().remove(&key);
                }
            }
        }
        self.settled.store(news, Ordering::SeqCst);
        Ok(())
    }

    /// Whether there is nothing to be said of an object that its status does not say.
    fn is_said(&self, entry: &Entry) -> bool {
        let object = &entry.object;
        if object.deleting || object.is_kept() || object.observed != Some(object.generation) {
            return false;
        }
        let refused = self.refusal(entry);
        let refused = refused.or_else(|| size_refusal(entry, Timestamp(0)));
        refused.is_some() && refused.as_deref() == object.said()
    }

    /// Settles one object. Whoever calls has its turn.
    pub(super) async fn settle(&self, key: &Key) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            let Some(entry) = self.cache().entry(key).cloned() else {
                return Ok(());
            };
            if entry.object.is_settled() || self.is_said(&entry) {
                return Ok(());
            }
            match self.settle_once(&entry).await {
                Ok(()) => {}
                Err(failed) if failed.is_conflict() || failed.is_missing() => {
                    self.look(key).await?;
                }
                Err(failed) => return Err(self.failed(&format!("settle {key}"), &failed)),
            }
        }
        Ok(())
    }

    async fn settle_once(&self, entry: &Entry) -> Result<(), Failed> {
        let object = &entry.object;
        if object.deleting && !object.is_kept() {
            // Nothing was ever made of it.
            return self.let_go(object).await;
        }
        let at = clock::now();
        let refused = self.refusal(entry).or_else(|| size_refusal(entry, at));
        let nothing = refused.is_some() && !object.is_kept();
        if !nothing && !object.has_finalizer() && !object.deleting {
            return self.hold_on(object).await;
        }
        let record = match nothing {
            true => None,
            false => self.followed(entry, refused.as_deref()),
        };
        let written = self.write_status_of(at, entry, record.as_ref(), refused.as_deref());
        let object = written.await?;
        self.cache().see(object);
        Ok(())
    }

    /// The record, where the spec is followed; else the one that there was, at a version of its own.
    fn followed(&self, entry: &Entry, refused: Option<&str>) -> Option<Record> {
        let Some(words) = refused.filter(|_| entry.refused.is_none()) else {
            return entry.record.clone();
        };
        match &entry.object.content {
            Content::Application { written, kept } => {
                let mut written = written.clone();
                written.desire = Err(words.into());
                let observed = written.application(kept.as_ref(), None);
                observed.record.map(Record::Application)
            }
            _ => entry.record.clone(),
        }
    }

    /// Why a spec is not followed: also for what others than its own record forbid.
    fn refusal(&self, entry: &Entry) -> Option<Box<str>> {
        let own = entry.refused.clone();
        let object = &entry.object;
        let Content::Application { written, kept } = &object.content else {
            return own;
        };
        let (Ok(desire), None, false) = (&written.desire, &own, object.deleting) else {
            return own;
        };
        // What was answered as done stays done, whatever has changed since.
        if object.judged {
            return None;
        }
        let cache = self.cache();
        let body = match (kept, &entry.record) {
            (Some(_), _) => ApplicationCommand::Desire(desire.clone()),
            (None, Some(Record::Application(application))) => {
                match desire.application(application.model, &application.name) {
                    Ok(new) => ApplicationCommand::Add(Box::new(new)),
                    Err(denial) => return Some(words(&denial)),
                }
            }
            (None, _) => return own,
        };
        let without = kept.is_none().then_some(&object.key);
        let view = View {
            cache: &cache,
            without,
        };
        let command = Command::Application {
            application: object.record_uid(),
            caller: Caller::User,
            expect: None,
            body,
        };
        match transaction(&view, Timestamp(0), &command) {
            Ok(_) => None,
            Err(Stopped::Denied(denial)) => Some(words(&denial)),
            Err(Stopped::Failed(damaged)) => Some(damaged.to_string().into()),
        }
    }
}

/// That the record would be larger than a cluster keeps it, if it would.
fn size_refusal(entry: &Entry, at: Timestamp) -> Option<Box<str>> {
    let object = &entry.object;
    let record = entry.record.as_ref();
    let status = status(record, None, object.generation, at, &object.conditions);
    too_large(&object.key, "record", &status, LARGEST_STATUS).map(Into::into)
}

fn words(denial: &Denial) -> Box<str> {
    denial.to_string().into()
}
