//! The query language, by example.

use proptest::prelude::*;

use super::{Properties, Value, evaluate, parse};

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn ledger(units: &[&str]) -> Properties {
    let units = units
        .iter()
        .map(|status| Properties::from([("workload-status".to_owned(), text(status))]))
        .collect();
    Properties::from([
        ("name".to_owned(), text("ledger")),
        ("life".to_owned(), text("alive")),
        ("exposed".to_owned(), Value::Truth(false)),
        ("status".to_owned(), text("active")),
        ("units".to_owned(), Value::Things(units)),
    ])
}

fn ask(query: &str, units: &[&str]) -> Result<bool, String> {
    let expression = parse(query).map_err(|error| error.to_string())?;
    evaluate(query, &expression, &ledger(units))
        .map(|answer| answer.holds)
        .map_err(|error| error.to_string())
}

#[test]
fn queries_are_answered() {
    for (query, holds) in [
        ("life==\"alive\" && status=='active'", true),
        ("life != \"alive\" || name == \"ledger\"", true),
        ("life == \"dying\" || name == \"x\" && true", false),
        ("exposed == false", true),
        ("len(units) >= 2", true),
        ("len(units) < 2 || len(name) == 6", true),
        ("startsWith(name, \"led\") && endsWith(name, \"ger\")", true),
        (
            "forEach(units, u => u.workload-status == \"active\")",
            false,
        ),
        (
            "forEach(units, u => startsWith(u.workload-status, \"\"))",
            true,
        ),
        ("(true || false) && (false || false)", false),
    ] {
        assert_eq!(ask(query, &["active", "waiting"]), Ok(holds), "{query}");
    }
}

#[test]
fn over_nothing_for_each_is_false() {
    assert_eq!(ask("forEach(units, u => true)", &[]), Ok(false));
}

#[test]
fn a_mistake_is_shown_under_the_query() {
    let told = |query: &str| ask(query, &["active"]).unwrap_err();
    insta::assert_snapshot!(
        [
            "life = \"alive\"",
            "life ==",
            "life == \"alive",
            "lif == \"alive\"",
            "len(name, life) == 1",
            "name == 3",
            "forEach(units, u => u.colour == \"red\")",
            "nearly(name)",
            "units",
        ]
        .map(told)
        .join("\n\n")
    );
}

#[test]
fn the_answer_tells_what_was_looked_at() {
    let query = "life == \"alive\" && len(units) == 0 || name == \"x\"";
    let answer = evaluate(query, &parse(query).unwrap(), &ledger(&["active"])).unwrap();
    let seen: Vec<String> = answer
        .seen
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    assert_eq!(seen, ["life: alive", "name: ledger"]);
}

#[test]
fn a_query_is_as_long_as_it_can_be_and_an_error_shows_a_line_of_it() {
    for sign in ["&&", "||"] {
        let long = |parts: usize| vec!["life == \"alive\""; parts].join(&format!(" {sign} "));
        assert_eq!(ask(&long(257), &[]), Ok(true));
        for parts in [258, 3_000, 100_000] {
            let told = ask(&long(parts), &[]).unwrap_err();
            assert!(told.contains("more than 256 && and ||"), "{told}");
            assert!(told.len() < 400, "{told}");
            assert!(told.lines().nth(2).unwrap().ends_with('^'), "{told}");
        }
    }
    for open in ["(", "len(", "forEach("] {
        let told = ask(&open.repeat(100_000), &[]).unwrap_err();
        assert!(told.len() < 400, "{told}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_parser(query in "[a-z\"'()=&|<>., 0-9-]{0,40}") {
        let _ = ask(&query, &["active"]);
    }
}
