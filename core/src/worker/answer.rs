//! What an answer means to the worker that asked.
//!
//! | answer | what follows |
//! |---|---|
//! | `Done` | what the write made is folded first |
//! | not found, of a read or a delete | it is confirmed gone; no failure |
//! | already exists | a fresh read: ours, or an obstacle |
//! | conflict | a fresh read and a new decision, at once up to three times, then after a delay |
//! | "try again" | the record's newer version is awaited |
//! | any other refusal | a delay, and the refusal in the status |
//! | no answer | a delay, then a fresh read before the next act |

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::effect::EffectId;
use crate::kubernetes::read::{Fetched, Object};
use crate::kubernetes::satisfies::Match;
use crate::kubernetes::{Key, Kind, ownership};
use crate::life::Life;
use crate::outcome::{Outcome, Refusal, Reply};
use crate::reason::Reason;
use crate::time::Timestamp;

use super::memory::{Awaited, InFlight, RecordKind, Trouble, Verb};
use super::verdict::Aspect;
use super::{Worker, wanted};

impl Worker {
    /// Takes what became of an effect. Answers to effects that are not in flight are dropped.
    ///
    /// Returns whether it was one of ours.
    ///
    /// `overtaken`: the watch has told a newer version of the object than the answer carries.
    pub fn complete(
        &mut self,
        at: Timestamp,
        id: EffectId,
        outcome: &Outcome,
        overtaken: bool,
    ) -> bool {
        let Some(flight) = &mut self.memory.in_flight else {
            return false;
        };
        if id.incarnation != self.incarnation {
            return false;
        }
        let position =
            usize::try_from(id.sequence.wrapping_sub(flight.first)).unwrap_or(usize::MAX);
        let Some(asked) = flight
            .asked
            .get_mut(position)
            .filter(|asked| !asked.answered)
        else {
            return false;
        };
        asked.answered = true;
        let (key, verb) = (asked.key.clone(), asked.verb);
        let aspect = flight.aspect;
        let ended = flight.asked.iter().all(|asked| asked.answered);
        let refusal = match outcome {
            // What could not be announced was done all the same, and what could not be explained is.
            _ if matches!(verb, Verb::Event | Verb::Warnings) => None,
            Outcome::Refused { reason, message } => Some(Some((reason.clone(), message.clone()))),
            Outcome::Unknown => Some(None),
            Outcome::Done(_) | Outcome::NotAttempted => None,
        };
        if let Some(refusal) = refusal {
            flight.trouble.get_or_insert(Trouble {
                key: key.clone(),
                verb,
                refusal,
            });
        }
        if let (Verb::Warnings, Some(missing)) = (verb, &mut self.memory.missing) {
            missing.looked(at);
        }
        match outcome {
            Outcome::Done(Reply::Object(object)) if overtaken => self.made_before(verb, object),
            // What the watch told is newer than this read; that the object is there it has told too.
            Outcome::Done(Reply::Fetched(fetched)) if overtaken => {
                let object = &fetched.object;
                self.memory
                    .settle(object.kind(), &object.metadata().name, true);
            }
            Outcome::Done(reply) => self.fold(at, aspect, key, verb, reply),
            _ => {}
        }
        if ended && let Some(flight) = self.memory.in_flight.take() {
            let InFlight {
                trouble,
                obstructed,
                ..
            } = *flight;
            match trouble {
                Some(trouble) => self.trouble(at, aspect, trouble),
                None if obstructed => {}
                // What changes nothing twice will change nothing for ever: whatever the mistake is, it must not spin.
                None if self.memory.no_ops >= 2 => {
                    let text = "a command changed nothing, twice".into();
                    self.fail(at, aspect, Reason::Broken { text }, None);
                }
                None => self.memory.backoff.succeed(aspect),
            }
        }
        true
    }

    fn fold(&mut self, at: Timestamp, aspect: Aspect, key: Option<Key>, verb: Verb, reply: &Reply) {
        match reply {
            Reply::Object(object) => self.made(at, verb, object),
            Reply::Fetched(fetched) => self.fetched(at, aspect, fetched),
            Reply::Listed(objects) => objects.iter().for_each(|object| self.observe(object)),
            Reply::Warned(warning) => {
                if let Some(missing) = &mut self.memory.missing {
                    missing.warning.clone_from(warning);
                }
            }
            Reply::Scaled { version, replicas } => {
                self.memory.conflicts = 0;
                self.memory.no_ops = 0;
                if let Some(workload) = &mut self.view.workload {
                    workload.replicas = *replicas;
                }
                let name = self.view.name.clone();
                let seen = self.view.objects.iter_mut();
                let mut seen = seen.filter(|s| s.kind == Kind::StatefulSet && s.name == name);
                if let Some(seen) = seen.next() {
                    seen.version = seen.version.max(*version);
                }
            }
            Reply::Nothing => {
                if let (Some(key), Verb::Delete) = (key, verb) {
                    self.gone(&key);
                }
            }
            Reply::Recorded {
                before,
                version,
                changes,
                drawn,
            } => {
                self.memory.conflicts = 0;
                let Verb::Store { record, draws } = verb else {
                    return;
                };
                if let (Some(first), true) = (drawn, draws > 0) {
                    self.memory.drawn = Some((*first, draws));
                }
                let own = record == RecordKind::Application;
                let in_vain = (own && before == version) || (draws > 0 && drawn.is_none());
                if in_vain {
                    self.memory.no_ops = self.memory.no_ops.saturating_add(1);
                } else if own {
                    self.memory.no_ops = 0;
                }
                if !own {
                    return;
                }
                self.memory.drawn = None;
                if *before > self.view.record.version || self.view.record.incomplete {
                    // Somebody else's change came between, or is half told: the watch will tell the rest, and then ours.
                    self.memory.awaited = Some(Awaited(*version, at));
                } else {
                    for event in changes {
                        self.tell(at, event);
                    }
                }
            }
        }
    }

    /// Folds the object that a write of ours made.
    fn made(&mut self, at: Timestamp, verb: Verb, object: &Arc<Object>) {
        self.memory.conflicts = 0;
        self.memory.no_ops = 0;
        let uid = object.metadata().uid;
        let before = self.view.objects.iter().find(|seen| seen.uid == uid);
        let before = before.and_then(|seen| seen.standing.clone());
        self.observe(object);
        self.memory
            .fetched
            .retain(|fetched| fetched.object.metadata().uid != uid);
        let Some(seen) = self.view.objects.iter_mut().find(|seen| seen.uid == uid) else {
            return;
        };
        match verb {
            Verb::TakeOver => seen.taken_over = true,
            Verb::Apply { correction } => {
                seen.taken_over = true;
                if let Some((digest, result)) = &mut seen.standing {
                    // What the server made of our own apply is accepted, or we would write for ever (fact K27).
                    if let Match::Differs(field) = result {
                        seen.accepted = Some(Box::new((*digest, field.clone())));
                    }
                    *result = Match::Satisfied;
                }
                seen.outdated = false;
                if let (true, Some((_, Match::Differs(field)))) = (correction, before) {
                    self.memory.correct(at, uid, &field);
                }
            }
            _ => {}
        }
    }

    /// Folds an answer that the watch has overtaken: that the write was done is news, what it made is not.
    fn made_before(&mut self, verb: Verb, object: &Object) {
        self.memory.conflicts = 0;
        let metadata = object.metadata();
        self.memory.settle(object.kind(), &metadata.name, true);
        let seen = self.view.objects.iter_mut();
        let mut seen = seen.filter(|seen| seen.uid == metadata.uid);
        if let (Some(seen), Verb::TakeOver | Verb::Apply { .. }) = (seen.next(), verb) {
            seen.taken_over = true;
        }
    }

    /// Folds a fresh read: ours, or something that stands where ours should.
    fn fetched(&mut self, at: Timestamp, aspect: Aspect, fetched: &Fetched) {
        let object = &fetched.object;
        let (kind, metadata) = (object.kind(), object.metadata());
        let ownership = metadata.labels.ownership();
        let labelled = ownership.is_some_and(|whose| whose.application == Some(self.view.uid));
        let known = self.view.uid_of(kind, &metadata.name) == Some(metadata.uid)
            || self
                .memory
                .suspects
                .iter()
                .any(|suspect| suspect.was == Some(metadata.uid));
        // A pod belongs to an application by the uid of the workload that owns it, whatever its labels say.
        let workload = self.view.workload.as_ref().map(|workload| workload.uid);
        let owned = kind == Kind::Pod && workload.is_some() && metadata.controller() == workload;
        if !labelled && !known && !owned {
            return self.obstacle(at, aspect, object);
        }
        self.observe(object);
        if kind == Kind::Pod && self.memory.ending_since.is_some() {
            // It is still there: it is waited for once more before it is looked for again.
            self.memory.ending_since = Some(at);
        }
        self.memory
            .fetched
            .retain(|known| known.object.metadata().uid != metadata.uid);
        self.memory.fetched.push(fetched.clone());
        let Some(manifest) = wanted::manifest(&self.view, kind, &metadata.name, 0) else {
            return;
        };
        let Some(seen) = self
            .view
            .objects
            .iter_mut()
            .find(|seen| seen.uid == metadata.uid)
        else {
            return;
        };
        seen.taken_over |= ownership::take_over(fetched, &manifest).is_none();
        if let Some((_, result @ (Match::Satisfied | Match::Surplus(_)))) = &mut seen.standing {
            *result = match ownership::no_longer_named(fetched, &manifest) {
                Some(field) => Match::Differs(field),
                None => Match::Satisfied,
            };
        }
    }

    fn obstacle(&mut self, at: Timestamp, aspect: Aspect, object: &Object) {
        let key = object.key();
        // To us, what we asked for is not there.
        if let Some(uid) = self.view.uid_of(key.kind, &key.name) {
            self.view.vanish(uid);
        }
        self.memory.settle(key.kind, &key.name, false);
        if matches!(key.kind, Kind::Pod | Kind::PersistentVolumeClaim)
            || self.view.record.life != Life::Alive
        {
            return;
        }
        let whose = object
            .metadata()
            .labels
            .ownership()
            .and_then(|whose| whose.application);
        let removed = |uid| {
            self.view
                .model
                .as_deref()
                .is_some_and(|m| m.removed.contains(&uid))
        };
        let predecessor = whose.is_some_and(removed) || object.metadata().is_deleting();
        if let Some(flight) = &mut self.memory.in_flight {
            flight.obstructed = true;
        }
        let reason = if predecessor {
            Reason::PredecessorLeaving { key }
        } else {
            Reason::Foreign { key }
        };
        self.memory
            .backoff
            .fail(at, self.view.uid, aspect, reason, None);
    }

    /// Notes that an object is gone for sure.
    fn gone(&mut self, key: &Key) {
        if let Some(uid) = self.view.uid_of(key.kind, &key.name) {
            self.view.vanish(uid);
        }
        self.memory.settle(key.kind, &key.name, false);
    }

    fn trouble(&mut self, at: Timestamp, aspect: Aspect, trouble: Trouble) {
        let Trouble { key, verb, refusal } = trouble;
        let Some((refusal, message)) = refusal else {
            if let Some(key) = &key {
                let was = self.view.uid_of(key.kind, &key.name);
                self.memory.suspect(key.kind, &key.name, was);
            }
            return self.fail(at, aspect, Reason::NoAnswer { key }, None);
        };
        match (verb, &refusal, &key) {
            (Verb::Read | Verb::Delete, Refusal::NotFound, Some(key)) => {
                self.gone(key);
            }
            (Verb::Create, Refusal::AlreadyExists | Refusal::Conflict, Some(key)) => {
                self.memory.suspect(key.kind, &key.name, None);
            }
            (
                Verb::TakeOver | Verb::Apply { .. } | Verb::Scale | Verb::Delete,
                Refusal::Conflict | Refusal::NotFound | Refusal::Invalid,
                Some(key),
            ) => {
                let was = self.view.uid_of(key.kind, &key.name);
                self.memory.suspect(key.kind, &key.name, was);
                // A 422 that names another's field stays; one that was a foreign uid shows in the read.
                let prompt = refusal != Refusal::Invalid && self.memory.conflict_is_prompt();
                if !prompt {
                    self.refused(at, aspect, Some(key.clone()), refusal, message);
                }
            }
            (Verb::Store { .. }, Refusal::TryAgain, _) => {
                let known = self.view.record.version;
                let next = crate::name::Version(known.0.saturating_add(1));
                self.memory.awaited = Some(Awaited(next, at));
                if !self.memory.conflict_is_prompt() {
                    self.refused(at, aspect, None, refusal, message);
                }
            }
            _ => self.refused(at, aspect, key, refusal, message),
        }
    }

    fn refused(
        &mut self,
        at: Timestamp,
        aspect: Aspect,
        key: Option<Key>,
        refusal: Refusal,
        message: Box<str>,
    ) {
        let not_before = match &refusal {
            Refusal::Busy { after } => *after,
            _ => None,
        };
        self.fail(
            at,
            aspect,
            Reason::Refused {
                key,
                refusal,
                message,
            },
            not_before,
        );
    }

    fn fail(
        &mut self,
        at: Timestamp,
        aspect: Aspect,
        why: Reason,
        not_before: Option<crate::time::Span>,
    ) {
        self.memory
            .backoff
            .fail(at, self.view.uid, aspect, why, not_before);
    }
}
