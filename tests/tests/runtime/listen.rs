//! What `run --listen` answers.

use std::net::TcpListener;

use pilotage_tests::listener::{address, metric, page};
use pilotage_tests::patience::until;
use pilotage_tests::program::{Desk, texts};

#[test]
fn a_service_tells_that_it_lives_is_ready_and_what_it_has_done() {
    let desk = Desk::new();
    let run = "run --listen 127.0.0.1:0 --stand-by";
    let mut service = desk.start_as("first", run, &[]);
    let address_of_first = address(&mut service);
    until("it is ready", || {
        (page(&address_of_first, "/readyz") == (200, "ok\n".into())).then_some(())
    });
    let (status, text) = page(&address_of_first, "/livez?verbose");
    assert_eq!((status, &*text), (200, "[+]loop ok\nok\n"));
    assert_eq!(page(&address_of_first, "/").0, 404);

    let hello = pilotage_tests::charms::own("tests/charms/hello");
    desk.ok(&format!("deploy {} hello", hello.display()));
    desk.wait("one active unit", |status| {
        let application = &status["applications"]["hello"];
        application["application-status"]["current"] == "active"
    });
    let (status, text) = page(&address_of_first, "/metrics");
    assert_eq!(status, 200);
    let done = "controller_runtime_reconcile_total{controller=\"pilotage\",result=\"success\"}";
    let took = "controller_runtime_reconcile_time_seconds_count{controller=\"pilotage\"}";
    assert!(metric(&text, done) > 3.0, "{text}");
    assert!(metric(&text, took) >= metric(&text, done), "{text}");
    let taken = "workqueue_adds_total{name=\"events\",controller=\"pilotage\"}";
    assert!(metric(&text, taken) > 20.0, "{text}");
    assert!(!text.contains("leader_election_master_status"), "{text}");

    // Whoever waits is alive, and ready to take over.
    let mut second = desk.start_as("second", run, &[]);
    let address_of_second = address(&mut second);
    second.until_it_says("stand-by: ");
    until("it is ready", || {
        let page = page(&address_of_second, "/readyz?verbose");
        (page == (200, "[+]stand-by ok\nok\n".into())).then_some(())
    });
    assert_eq!(page(&address_of_second, "/livez").0, 200);
    let (_, words, well) = second.stop();
    assert!(well, "{words}");
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}

#[test]
fn an_address_that_cannot_be_listened_on_is_told_before_anything_else_starts() {
    let desk = Desk::new();
    let port = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let taken = port.local_addr().expect("its address").to_string();
    for (address, code, said) in [
        (&*taken, 1, "cannot listen on 127.0.0.1:"),
        ("8080", 2, "there is no address \"8080\""),
        ("example:http", 2, "there is no address \"example:http\""),
    ] {
        let output = desk.call(&format!("run --listen {address}"));
        let (_, words) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{words}");
        assert!(words.contains(said), "{words}");
    }
    let files: Vec<_> = std::fs::read_dir(desk.folder())
        .expect("the folder")
        .collect();
    assert!(files.is_empty(), "{files:?}");
}
