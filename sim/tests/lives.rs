//! Lives that are drawn: commands at any moment, in any order of what is ready. At rest nothing is left that no record
//! names, and no record names what never was.
#![allow(missing_docs)]

use pilotage_core::name::Uid;
use pilotage_core::state::{ApplicationCommand, ModelCommand, RemovalWish};
use pilotage_core::time::Span;
use pilotage_sim::cluster::controllers::settings::{Settings, StorageSettings};
use pilotage_sim::invariant;
use pilotage_sim::schedule::Draw;
use pilotage_sim::world::World;
use proptest::prelude::*;

/// More steps than a life needs.
const BOUND: usize = 20_000;

/// What happens in a life.
#[derive(Clone, Debug)]
enum Deed {
    /// So many things happen.
    Go(u16),
    /// Nothing happens any more.
    Rest,
    /// The application is deployed, if it is not there.
    Deploy(u32),
    Scale(u32),
    Remove(RemovalWish),
    /// The provisioner dies, and another begins.
    Restart,
}

fn wish() -> impl Strategy<Value = RemovalWish> {
    (any::<bool>(), any::<bool>()).prop_map(|(destroy_storage, force)| RemovalWish {
        destroy_storage,
        force,
    })
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        6 => (0..60_u16).prop_map(Deed::Go),
        1 => Just(Deed::Rest),
        3 => (0..4_u32).prop_map(Deed::Deploy),
        3 => (0..5_u32).prop_map(Deed::Scale),
        2 => wish().prop_map(Deed::Remove),
        1 => Just(Deed::Restart),
    ];
    prop::collection::vec(deed, 1..14)
}

/// A world in which volumes come at once or when a pod wants them, and late.
fn world(immediate: bool) -> World {
    let storage = StorageSettings {
        immediate,
        ..StorageSettings::default()
    };
    let controllers = Settings {
        storage: Some(storage),
        provision: Span::seconds(8),
        ..Settings::default()
    };
    World::with(Default::default(), controllers)
}

struct Life {
    world: World,
    model: Uid,
    draw: Draw,
}

impl Life {
    fn new(immediate: bool, seed: u64) -> Self {
        let mut world = world(immediate);
        world.remember = false;
        let model = world.add_model("shop");
        world.deploy(model, "ledger", 2);
        Life {
            world,
            model,
            draw: Draw::new(seed),
        }
    }

    /// Lets one thing happen, one of those that are ready.
    fn step(&mut self) -> bool {
        let choices = self.world.choices();
        let Some(choice) = choices.get(self.draw.below(choices.len())) else {
            return false;
        };
        self.world.take(choice);
        true
    }

    fn rest(&mut self) {
        for _ in 0..BOUND {
            if !self.step() {
                return;
            }
        }
        panic!("it does not come to rest");
    }

    fn application(&self) -> Option<Uid> {
        self.world.application("ledger").map(|one| one.uid)
    }

    fn live(&mut self, deed: &Deed) {
        match deed {
            Deed::Go(steps) => {
                for _ in 0..*steps {
                    self.step();
                }
            }
            Deed::Rest => self.rest(),
            Deed::Deploy(scale) => {
                if self.application().is_none() {
                    self.world.deploy(self.model, "ledger", *scale);
                }
            }
            Deed::Scale(scale) => {
                if let Some(uid) = self.application() {
                    let scale = ApplicationCommand::SetScale { scale: *scale };
                    self.world.command(uid, scale);
                }
            }
            Deed::Remove(wish) => {
                if let Some(uid) = self.application() {
                    let wish = *wish;
                    self.world.command(uid, ApplicationCommand::Remove { wish });
                }
            }
            Deed::Restart => self.world.restart(),
        }
    }

    /// Everything of ours that is in the cluster.
    fn left(&self) -> Vec<String> {
        let all = self.world.cluster.all_objects();
        let ours = all.filter(|one| one.label("app.kubernetes.io/managed-by") == Some("pilotage"));
        ours.map(|one| format!("{:?} {}", one.resource, one.name()))
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("CASES").map_or(96, |t| t.parse().unwrap()),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn at_rest_the_records_name_what_is_there_and_nothing_is_left_of_what_was_destroyed(
        immediate: bool,
        seed: u64,
        deeds in deeds(),
    ) {
        let mut life = Life::new(immediate, seed);
        for deed in &deeds {
            life.live(deed);
        }
        life.rest();
        invariant::at_rest(&life.world)?;
        // The same after a restart, of which nothing comes.
        let (version, head) = (life.world.cluster.version(), life.world.store.head());
        life.world.restart();
        life.rest();
        prop_assert_eq!((version, head), (life.world.cluster.version(), life.world.store.head()));
        let wish = RemovalWish { destroy_storage: true, force: false };
        life.world.model_command(life.model, ModelCommand::Destroy { wish });
        life.rest();
        prop_assert_eq!(life.left(), Vec::<String>::new());
        prop_assert_eq!(life.world.store.models().count(), 0);
    }
}
