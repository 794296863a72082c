//! What can go wrong in a world: plain data.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use pilotage_core::effect::{Action, Effect};
use pilotage_core::event::Source;
use pilotage_core::kubernetes::Kind;
use pilotage_core::outcome::Refusal;
use pilotage_core::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::cluster::controllers::instruction::Incident;
use crate::cluster::effects;
use crate::cluster::request::Failure;
use crate::cluster::settings::{Action as Request, Denial};
use crate::world::{Edit, Mishap, Then, World};

/// One thing that goes wrong, or that somebody does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Something becomes of the next effect.
    Effect(Mishap),
    /// The provisioner dies, and the first lists of the next one are so many writes old.
    StaleRestart {
        /// How many.
        writes: u64,
    },
    /// A source says nothing for a while.
    Hold {
        /// Which.
        source: Source,
        /// How long.
        span: Span,
        /// What becomes of what happens meanwhile.
        then: Then,
    },
    /// A source tells its last event twice.
    Twice(Source),
    /// A source tells everything again.
    List(Source),
    /// The clock jumps ahead.
    Ahead(Span),
    /// The provisioner's clock jumps back.
    Back(Span),
    /// A hand changes an object.
    Edit(Edit),
    /// The cluster refuses to make objects of a kind, so often.
    Denied {
        /// The kind.
        kind: Kind,
        /// How often.
        times: u32,
        /// Whether for a quota; otherwise by a rule of admission.
        quota: bool,
    },
    /// A node falls silent.
    NodeLost,
    /// The node is heard of again.
    NodeReturned,
    /// Every effect of every worker is refused so until [`Fault::Relent`].
    RefuseAll(Refusal),
    /// What was refused is no longer.
    Relent,
    /// The provisioner is deposed, and the next one begins; what the former one has sent is on its way until
    /// [`Fault::Arrival`].
    Deposed,
    /// What a deposed provisioner has sent arrives.
    Arrival,
}

impl Fault {
    /// Whether somebody's hand or a node takes part: then pods may go although nobody of ours took them away.
    pub fn meddles(&self) -> bool {
        matches!(self, Fault::Edit(_) | Fault::NodeLost | Fault::NodeReturned)
    }
}

/// Every refusal that the core treats differently.
pub fn refusals() -> [Refusal; 12] {
    [
        Refusal::NotFound,
        Refusal::AlreadyExists,
        Refusal::Conflict,
        Refusal::Forbidden,
        Refusal::Invalid,
        Refusal::Quota,
        Refusal::Denied,
        Refusal::Busy {
            after: Some(Span::seconds(7)),
        },
        Refusal::NamespaceTerminating,
        Refusal::TryAgain,
        Refusal::SecretMissing,
        Refusal::NotSent,
    ]
}

/// The three moments at which a process can die around one effect.
pub fn crashes() -> [Mishap; 3] {
    [Mishap::CrashBefore, Mishap::CrashDuring, Mishap::CrashAfter]
}

/// Everything that can become of one effect. "Not found" as the answer to a read or a delete of what is there would be a
/// lie, against which nothing helps: a fresh read is what absence is confirmed by.
pub fn mishaps(effect: &Effect) -> Vec<Mishap> {
    let mut all: Vec<Mishap> = crashes().into();
    all.extend([Mishap::LostRequest, Mishap::LostAnswer]);
    let asks = matches!(effect.action, Action::Get { .. } | Action::Delete { .. });
    let refusals = refusals().into_iter();
    let honest = refusals.filter(|refusal| !(asks && *refusal == Refusal::NotFound));
    all.extend(honest.map(Mishap::Refused));
    all
}

/// What can happen beside the effects, for one moment.
pub fn disturbances() -> Vec<Fault> {
    let sources = [Source::Store]
        .into_iter()
        .chain(Kind::ALL.into_iter().map(Source::Cluster));
    let mut all = Vec::new();
    for source in sources {
        all.extend([Fault::List(source), Fault::Twice(source)]);
        let thens: &[Then] = match source {
            Source::Store => &[Then::Tell, Then::List],
            Source::Cluster(_) => &[Then::Tell, Then::Coalesce, Then::List],
        };
        all.extend(thens.iter().map(|then| Fault::Hold {
            source,
            span: Span::seconds(20),
            then: *then,
        }));
    }
    all.extend([3, 20].map(|writes| Fault::StaleRestart { writes }));
    all.extend([
        Fault::Ahead(Span::seconds(600)),
        Fault::Back(Span::seconds(30)),
    ]);
    all.extend(hands().into_iter().map(Fault::Edit));
    for kind in Kind::ALL {
        for quota in [true, false] {
            all.push(Fault::Denied {
                kind,
                times: 2,
                quota,
            });
        }
    }
    all
}

/// What hands can do.
pub fn hands() -> Vec<Edit> {
    let mut all = vec![Edit::Template, Edit::Scale(0), Edit::Scale(5), Edit::Rights];
    let kinds = [
        Kind::ServiceAccount,
        Kind::Secret,
        Kind::Role,
        Kind::RoleBinding,
        Kind::ClusterRole,
        Kind::ClusterRoleBinding,
        Kind::Service,
        Kind::StatefulSet,
        Kind::Pod,
    ];
    all.extend(kinds.map(Edit::Delete));
    let labelled = kinds.into_iter().filter(|kind| *kind != Kind::Pod);
    all.extend(labelled.map(Edit::Unlabel));
    all
}

impl World {
    /// Lets a fault happen to the application of that name.
    pub fn befall(&mut self, namespace: &str, application: &str, fault: &Fault) {
        match fault {
            Fault::Effect(mishap) => self.mishap = Some(mishap.clone()),
            Fault::StaleRestart { writes } => {
                let version = self.cluster.version().saturating_sub(*writes);
                self.restart_from(version);
            }
            Fault::Hold { source, span, then } => {
                let until = self.now.after(*span);
                self.hold(*source, until, *then);
            }
            Fault::Twice(source) => self.tell_again(*source),
            Fault::List(source) => self.list(*source),
            Fault::Ahead(span) => self.now = self.now.after(*span),
            Fault::Back(span) => self.behind = Span(self.behind.0.saturating_add(span.0)),
            Fault::Edit(edit) => self.edit(namespace, application, edit),
            Fault::Denied { kind, times, quota } => {
                let message: Box<str> = if *quota {
                    "exceeded quota: small, requested: 1, used: 1, limited: 1".into()
                } else {
                    "admission webhook \"guard\" denied the request: injected".into()
                };
                let answer = Failure {
                    code: 403,
                    reason: "Forbidden".into(),
                    message,
                    causes: Vec::new(),
                };
                let resource = effects::resource(*kind);
                let mut denial = Denial::new(resource, Request::Create, answer);
                denial.manager = Some("pilotage".into());
                denial.times = Some(*times);
                self.cluster.deny(denial);
            }
            Fault::NodeLost => self.incident(Incident::NodeLost {
                node: "node-0".into(),
            }),
            Fault::NodeReturned => self.incident(Incident::NodeReturned {
                node: "node-0".into(),
            }),
            Fault::RefuseAll(refusal) => self.refusing = Some(refusal.clone()),
            Fault::Relent => self.refusing = None,
            Fault::Deposed => self.depose(),
            Fault::Arrival => self.arrive(),
        }
    }

    fn incident(&mut self, incident: Incident) {
        let at: Timestamp = self.now;
        self.cluster.befall(at, incident);
    }
}
