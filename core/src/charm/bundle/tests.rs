//! Tests of bundles.

use super::*;
use crate::charm::document::Entry;
use alloc::vec;

fn scalar(text: &str) -> Node {
    Node {
        place: Place::default(),
        value: Value::Scalar(Scalar::plain(text)),
    }
}

fn map<const N: usize>(entries: [(&str, Node); N]) -> Node {
    Node {
        place: Place::default(),
        value: Value::Map(
            entries
                .into_iter()
                .map(|(key, node)| Entry {
                    key: key.into(),
                    place: Place::default(),
                    node,
                })
                .collect(),
        ),
    }
}

fn web() -> Node {
    map([
        ("charm", scalar("./web")),
        ("scale", scalar("2")),
        (
            "options",
            map([("port", scalar("80")), ("name", scalar("x"))]),
        ),
    ])
}

#[test]
fn an_overlay_changes_single_values_adds_and_takes_away() {
    let base = map([("applications", map([("web", web()), ("old", web())]))]);
    let overlay = map([(
        "applications",
        map([
            (
                "web",
                map([
                    ("scale", scalar("3")),
                    (
                        "options",
                        map([("port", scalar("81")), ("name", scalar(""))]),
                    ),
                ]),
            ),
            ("old", scalar("")),
            ("new", map([("charm", scalar("new"))])),
        ]),
    )]);
    let (bundle, mistakes) = read(&[base, overlay]);
    assert_eq!(mistakes, []);
    let names: Vec<&str> = bundle
        .applications
        .iter()
        .map(|application| application.name.as_str())
        .collect();
    assert_eq!(names, ["new", "web"]);
    let web = &bundle.applications[1];
    assert_eq!(web.scale, Some(3));
    let options: Vec<_> = web
        .options
        .iter()
        .map(|option| (option.name.as_str(), option.value.text.as_str()))
        .collect();
    assert_eq!(options, [("port", "81")]);
}

#[test]
fn both_words_for_the_scale_are_refused_in_the_words_of_juju() {
    let application = map([
        ("charm", scalar("a")),
        ("scale", scalar("1")),
        ("num_units", scalar("1")),
    ]);
    let (_, mistakes) = read(&[map([("applications", map([("a", application)]))])]);
    assert_eq!(
        mistakes[0].problem,
        "cannot specify both scale and num_units for application \"a\""
    );
}

#[test]
fn every_mistake_of_every_application_is_reported() {
    let bad = map([
        ("scale", scalar("-1")),
        ("constraints", scalar("mem")),
        ("storage", map([("data", scalar("0"))])),
        ("devices", map([("gpu", scalar("0,x"))])),
        ("trust", scalar("perhaps")),
    ]);
    let (_, mistakes) = read(&[map([("applications", map([("Bad", bad), ("web", web())]))])]);
    assert_eq!(mistakes.len(), 7);
}

#[test]
fn relations_are_told_and_ignored() {
    let list = |items: Vec<Node>| Node {
        place: Place::default(),
        value: Value::List(items),
    };
    let bundle = map([
        ("applications", map([("web", web())])),
        (
            "relations",
            list(vec![list(vec![scalar("web:a"), scalar("db:b")])]),
        ),
    ]);
    assert_eq!(read(&[bundle]).0.ignored, ["relation web:a - db:b"]);
}

#[test]
fn an_empty_file_is_one_mistake() {
    let (bundle, mistakes) = read(&[]);
    assert!(bundle.applications.is_empty());
    let problems: Vec<&str> = mistakes.iter().map(|one| one.problem.as_str()).collect();
    assert_eq!(problems, ["the file is empty"]);
}
