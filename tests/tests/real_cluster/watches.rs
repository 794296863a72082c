//! Through a proxy that cuts, silences, doubles and slows watches, and loses answers: what is told is complete all the
//! same. And what is asked: one list and one watch for each kind, whatever the number of applications.

use std::time::Duration;

use pilotage_core::kubernetes::Kind;
use pilotage_core::state::ApplicationCommand;
use pilotage_interpreter::cluster::Timing;
use pilotage_tests::control_plane::{Players, shared};
use pilotage_tests::faulty::{Fault, Proxy};
use pilotage_tests::house::House;

/// How many kinds are watched.
const KINDS: usize = Kind::ALL.len();

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
        page: 2,
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

#[test]
fn there_is_one_list_and_one_watch_for_each_kind_and_nothing_else_at_rest() {
    let Some(cluster) = shared("there_is_one_list_and_one_watch") else {
        return;
    };
    let _players = Players::start(&cluster, "counted");
    let proxy = Proxy::start(&cluster);
    let kubeconfig = cluster.kubeconfig_of("pilotage", Some(proxy.address()));
    let mut house = House::new(&cluster, "counted", Some(kubeconfig), Timing::default());
    let ledgers = ["a", "b", "c", "d"].map(|name| house.deploy(name, 2));
    for ledger in ledgers {
        house.until_active(ledger, 2);
    }
    let asked = proxy.asked();
    let writes = asked.iter().filter(|asked| asked.method != "GET");
    // The namespace; per application an account, two roles, two bindings, two services, a StatefulSet.
    assert_eq!(writes.count(), 1 + 4 * 8, "{asked:#?}");
    let reads = asked.iter().filter(|asked| asked.method == "GET");
    let first = reads.filter(|asked| !asked.list).collect::<Vec<_>>();
    assert_eq!(first.len(), 1, "the cluster's uid alone: {first:#?}");
    let lists = asked.iter().filter(|asked| asked.list && asked.watch);
    assert_eq!(lists.count(), KINDS);

    house.end();
    house.start();
    // Something to wait for that shows that it has come to rest.
    let last = house.deploy("last", 1);
    house.until_active(last, 1);
    let asked = proxy.asked();
    let of = |method: &str| asked.iter().filter(|asked| asked.method == method).count();
    assert_eq!(
        (of("POST"), of("PATCH"), of("PUT"), of("DELETE")),
        (8, 0, 0, 0)
    );
    assert_eq!(of("GET"), 1 + KINDS, "{asked:#?}");
    for application in ledgers.into_iter().chain([last]) {
        house.remove(application);
    }
    house.destroy();
    house.end();
}
