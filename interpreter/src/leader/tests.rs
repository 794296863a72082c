//! Elections on a server that loses and delays, by clocks that run differently fast.

use proptest::prelude::*;

use super::*;

/// A server with one lease.
#[derive(Default)]
struct Server {
    lease: Option<Seen>,
    version: u64,
}

impl Server {
    fn make(&mut self, uid: String, says: Record) -> Told {
        self.version += 1;
        let seen = Seen {
            uid,
            version: self.version.to_string(),
            says,
        };
        self.lease = Some(seen.clone());
        Told::Is(seen)
    }

    fn answer(&mut self, ask: Ask) -> Told {
        match (ask, self.lease.clone()) {
            (Ask::Get, Some(seen)) => Told::Is(seen),
            (Ask::Get, None) => Told::Missing,
            (Ask::Create(record), None) => {
                let uid = format!("lease-{}", self.version);
                self.make(uid, record)
            }
            (
                Ask::Update {
                    uid,
                    version,
                    record,
                },
                Some(seen),
            ) if (&uid, &version) == (&seen.uid, &seen.version) => self.make(uid, record),
            (Ask::Create(_) | Ask::Update { .. }, _) => Told::TooLate,
        }
    }
}

/// A candidate whose clock stands somewhere, and runs at so many thousandths of the true one's pace.
struct Candidate {
    name: String,
    election: Election,
    offset: u64,
    pace: u64,
    /// An answer on its way, and when it comes.
    coming: Option<(u64, Told)>,
    dead: bool,
}

impl Candidate {
    fn new(name: &str, offset: u64, pace: u64) -> Self {
        Candidate {
            name: name.into(),
            election: Election::new(name.into(), Times::default()),
            offset,
            pace,
            coming: None,
            dead: false,
        }
    }

    fn clock(&self, at: u64) -> Steady {
        Steady(self.offset + at * self.pace / 1_000)
    }

    fn leads(&self, at: u64) -> bool {
        !self.dead && self.clock(at) < self.election.leads_until()
    }

    /// Does what is to be done at a moment; a question gets there and its answer comes back as `fate` says.
    fn act(&mut self, at: u64, server: &mut Server, fate: u8) {
        if self.dead {
            return;
        }
        if let Some((when, told)) = self.coming.take() {
            if when > at {
                self.coming = Some((when, told));
                return;
            }
            self.election.told(self.clock(at), told, Duration::ZERO);
        }
        if let Next::Ask(ask) = self.election.next(self.clock(at)) {
            self.coming = Some(match fate {
                0 => (at + 5_000, Told::Failed),
                1 => {
                    // It is done, and the answer is lost.
                    let _ = server.answer(ask);
                    (at + 5_000, Told::Failed)
                }
                slow => (at + u64::from(slow) * 20, server.answer(ask)),
            });
        }
    }
}

/// What happens every 100 ms.
#[derive(Clone, Debug)]
enum Happening {
    Nothing,
    Dies(usize),
    /// Somebody deletes the lease.
    Deleted,
    /// Somebody writes something else on it.
    Annotated,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        400 => Just(Happening::Nothing),
        1 => (0..3_usize).prop_map(Happening::Dies),
        1 => Just(Happening::Deleted),
        1 => Just(Happening::Annotated),
    ]
}

proptest! {
    #[test]
    fn two_never_lead_at_once_and_while_any_lives_one_leads_in_the_end(
        steps in prop::collection::vec((happening(), prop::collection::vec(0..12_u8, 3)), 100..600),
        clocks in prop::collection::vec((0..1_000_000_u64, 900..1_100_u64), 3),
    ) {
        let mut server = Server::default();
        let mut all: Vec<Candidate> = clocks
            .iter()
            .enumerate()
            .map(|(n, (offset, pace))| Candidate::new(&format!("c{n}"), *offset, *pace))
            .collect();
        let mut at = 0;
        for (happening, fates) in &steps {
            at += 100;
            match happening {
                Happening::Nothing => {}
                Happening::Dies(who) => all[*who].dead = true,
                // A person who deletes a lease under a leader may have two for a moment.
                Happening::Deleted => {
                    let holder = server.lease.as_ref().and_then(|seen| seen.says.holder.as_deref());
                    if all.iter().any(|one| one.dead && holder == Some(&*one.name)) {
                        server.lease = None;
                    }
                }
                Happening::Annotated => if let Some(seen) = &mut server.lease {
                    server.version += 1;
                    seen.version = server.version.to_string();
                },
            }
            for (one, fate) in all.iter_mut().zip(fates) {
                one.act(at, &mut server, *fate);
            }
            let leaders = all.iter().filter(|one| one.leads(at)).count();
            prop_assert!(leaders <= 1, "{leaders} lead at {at}");
        }
        // Nothing goes wrong any more.
        for _ in 0..400 {
            at += 100;
            for one in &mut all {
                one.act(at, &mut server, 2);
            }
        }
        let leaders = all.iter().filter(|one| one.leads(at)).count();
        let living = all.iter().filter(|one| !one.dead).count();
        prop_assert_eq!(leaders, living.min(1));
    }
}

/// Lives from a moment to another, every 100 ms.
fn live(one: &mut Candidate, server: &mut Server, from: u64, to: u64) {
    for at in (from..to).step_by(100) {
        one.act(at, server, 2);
    }
}

fn elected(name: &str, server: &mut Server, at: u64) -> Candidate {
    let mut one = Candidate::new(name, 0, 1_000);
    live(&mut one, server, at, at + 500);
    one
}

#[test]
fn a_lease_that_is_given_back_is_taken_at_the_next_look_and_its_transition_is_counted() {
    let mut server = Server::default();
    let first = elected("first", &mut server, 0);
    assert!(first.leads(500));
    let mut second = elected("second", &mut server, 500);
    assert!(!second.leads(1_000));
    assert_eq!(second.election.holder(), Some("first"));

    let released = server.answer(first.election.release().expect("it is ours"));
    assert!(matches!(released, Told::Is(_)));
    assert_eq!(second.election.release(), None, "it is not ours");
    live(&mut second, &mut server, 1_000, 3_000);
    assert!(second.leads(3_000));
    let says = server.lease.expect("a lease").says;
    assert_eq!(says.transitions, 1);
    assert_eq!(says.holder.as_deref(), Some("second"));
    assert_eq!(says.seconds, 15);
}

#[test]
fn a_lease_that_another_took_is_lost_as_soon_as_that_is_read() {
    let mut server = Server::default();
    let mut first = elected("first", &mut server, 0);
    let stolen = Record {
        holder: Some("thief".into()),
        seconds: 15,
        ..Record::default()
    };
    let uid = server.lease.as_ref().expect("a lease").uid.clone();
    server.make(uid, stolen);
    // Its renewal is too late, which says nothing of who leads; then it reads.
    live(&mut first, &mut server, 500, 2_500);
    assert!(first.leads(2_500));
    live(&mut first, &mut server, 2_500, 5_000);
    assert!(!first.leads(5_000));
    assert_eq!(first.election.holder(), Some("thief"));
}

#[test]
fn who_cannot_renew_stops_before_the_lease_is_free() {
    let mut server = Server::default();
    let mut first = elected("first", &mut server, 0);
    let times = Times::default();
    for at in (0..20_000).step_by(100) {
        first.act(at, &mut server, 0);
    }
    let until = first.election.leads_until();
    assert!(until <= Steady(500).after(times.deadline), "{until:?}");
    assert!(times.deadline < times.duration);
}
