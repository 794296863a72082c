//! The whole life of the main job, through the library's runtime.

use pilotage_core::state::ApplicationCommand;
use pilotage_interpreter::cluster::Timing;
use pilotage_tests::control_plane::{Players, shared};
use pilotage_tests::house::House;

#[test]
fn a_whole_life_through_the_runtime_leaves_nothing() {
    let Some(cluster) = shared("a_whole_life_through_the_runtime") else {
        return;
    };
    let _players = Players::start(&cluster, "library");
    let mut house = House::new(&cluster, "library", None, Timing::default());
    let ledger = house.deploy("ledger", 1);
    house.until_active(ledger, 1);
    house.application(ledger, ApplicationCommand::SetScale { scale: 3 });
    house.until_active(ledger, 3);
    house.application(ledger, ApplicationCommand::SetTrust { trust: true });
    house.application(ledger, ApplicationCommand::SetScale { scale: 1 });
    house.until_active(ledger, 1);
    house.wait("it is trusted", || {
        let names = house.names();
        names
            .iter()
            .any(|name| name.starts_with("ClusterRoleBinding"))
    });
    house.remove(ledger);
    house.destroy();
    assert_eq!(house.names(), Vec::<String>::new());
    house.end();
}
