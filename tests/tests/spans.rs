//! Spans of what a service does, sent to a collector.
#![allow(missing_docs)]

use pilotage_tests::charms::own;
use pilotage_tests::collector::Collector;
use pilotage_tests::life::active;
use pilotage_tests::program::{Desk, texts};
use serde_json::Value;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// A service with some variables deploys an application and ends; gives what it said.
fn deploys(variables: &[(&str, &str)]) -> String {
    let desk = Desk::new();
    let service = desk.start_with("run", variables);
    desk.ok("add-model shop");
    desk.ok(&format!(
        "deploy {} hello",
        own("tests/charms/hello").display()
    ));
    desk.wait("an active unit", |status| active(status, 1));
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    words
}

fn attribute<'a>(span: &'a Value, name: &str) -> &'a str {
    let all = span["attributes"].as_array().into_iter().flatten();
    let found = all.into_iter().find(|one| one["key"] == name);
    found
        .and_then(|one| one["value"]["stringValue"].as_str())
        .unwrap_or_else(|| panic!("{name} of {span:#}"))
}

#[test]
fn each_effect_is_a_span_in_that_of_its_batch() {
    let collector = Collector::start();
    deploys(&[
        (ENDPOINT, collector.address()),
        ("OTEL_SERVICE_NAME", "shop-pilotage"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a%20b"),
    ]);
    let sent = collector.sent();
    let first = sent.first().expect("a request");
    assert!(first.head.starts_with("post /v1/traces "), "{first:?}");
    assert!(first.head.contains("x-tenant: a b"), "{first:?}");
    let resource = &first.body["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.name"), "shop-pilotage");

    let spans = collector.spans();
    let (effects, batches): (Vec<&Value>, Vec<&Value>) = spans
        .iter()
        .partition(|span| span.get("parentSpanId").is_some());
    assert!(!batches.is_empty());
    for effect in &effects {
        let parent = batches
            .iter()
            .find(|batch| batch["spanId"] == effect["parentSpanId"])
            .unwrap_or_else(|| panic!("no batch of {effect:#}"));
        assert_eq!(parent["traceId"], effect["traceId"]);
        let begun = |span: &Value| span["startTimeUnixNano"].as_str().map(str::to_owned);
        let ended = |span: &Value| span["endTimeUnixNano"].as_str().map(str::to_owned);
        assert!(begun(parent) <= begun(effect) && ended(effect) <= ended(parent));
    }
    for batch in &batches {
        let within = effects
            .iter()
            .filter(|effect| effect["parentSpanId"] == batch["spanId"]);
        assert!(within.count() > 0, "{batch:#}");
        let name = format!("batch {}", attribute(batch, "pilotage.application"));
        assert_eq!(batch["name"], name.as_str());
        assert!(!attribute(batch, "pilotage.because").is_empty());
    }
    let made = effects.iter().find(|effect| {
        let name = effect["name"].as_str().unwrap_or_default();
        name.starts_with("create StatefulSet")
    });
    let made = made.expect("the span of the StatefulSet");
    assert_eq!(attribute(made, "pilotage.outcome"), "done");
    assert!(attribute(made, "pilotage.effect").contains('/'));
}

#[test]
fn nothing_is_sent_where_no_variable_asks_for_it_or_one_forbids_it() {
    let collector = Collector::start();
    deploys(&[]);
    deploys(&[
        (ENDPOINT, collector.address()),
        ("OTEL_SDK_DISABLED", "true"),
    ]);
    deploys(&[
        (ENDPOINT, collector.address()),
        ("OTEL_TRACES_SAMPLER", "always_off"),
    ]);
    assert!(collector.sent().is_empty(), "{:?}", collector.sent());
}

#[test]
fn a_collector_that_is_away_or_never_answers_does_no_harm_and_is_told_of_once() {
    let away = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = format!("http://{}", away.local_addr().expect("an address"));
    // It takes connections, and says nothing.
    let words = deploys(&[(ENDPOINT, &address)]);
    assert!(words.contains("spans were dropped"), "{words}");
    drop(away);
    let words = deploys(&[(ENDPOINT, &address)]);
    assert_eq!(words.matches("does not take them").count(), 1, "{words}");
    assert!(words.contains("spans were dropped"), "{words}");
}

#[test]
fn a_variable_that_cannot_be_followed_is_an_error_before_anything_starts() {
    let desk = Desk::new();
    let mut command = desk.command("run");
    let output = command.env(ENDPOINT, "collector").output();
    let output = output.expect("it runs");
    let (_, words) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(
        words.contains("OTEL_EXPORTER_OTLP_ENDPOINT=") && words.contains("http://HOST:PORT"),
        "{words}"
    );
}
