//! Through a proxy that cuts, silences, doubles and slows watches, forgets their versions and loses answers: what is told
//! is complete all the same (scenarios B88, B89, B102).

use std::time::Duration;

use pilotage_core::state::ApplicationCommand;
use pilotage_interpreter::cluster::Timing;
use pilotage_tests::control_plane::{Players, shared};
use pilotage_tests::faulty::{Fault, Proxy};
use pilotage_tests::house::House;

#[test]
fn watches_and_answers_that_fail_in_every_way_lose_nothing() {
    let Some(cluster) = shared("watches_and_answers_that_fail") else {
        return;
    };
    let _players = Players::start(&cluster, "faulty");
    let proxy = Proxy::start(&cluster);
    let by = |proxy: &Proxy| cluster.kubeconfig_of("pilotage", Some(proxy.address()));
    let timing = Timing {
        length: Duration::from_secs(8),
        silence: Duration::from_secs(1),
        first_delay: Duration::from_millis(20),
        longest_delay: Duration::from_millis(200),
        page: 1,
    };
    let mut house = House::new(&cluster, "faulty", Some(by(&proxy)), timing);
    for fault in Fault::ALL {
        proxy.set(fault);
        let name = format!("{fault:?}").to_lowercase();
        let ledger = house.deploy(&name, 2);
        house.until_active(ledger, 2);
        house.application(ledger, ApplicationCommand::SetScale { scale: 3 });
        house.until_active(ledger, 3);
        house.application(ledger, ApplicationCommand::SetScale { scale: 1 });
        house.until_active(ledger, 1);
        house.remove(ledger);
        // A first list, too.
        house.end();
        house.start();
        let next = house.deploy(&format!("{name}-next"), 1);
        house.until_active(next, 1);
        house.remove(next);
        assert!(proxy.faults() > 0, "{fault:?} never happened");
    }
    house.destroy();
    assert_eq!(house.names(), Vec::<String>::new());
    house.end();
}
