//! The table of the original's cases: none is missing, and what is said to show one is there.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;

const TABLE: &str = include_str!("../reference_cases.md");

/// The series of the reference, with how many cases each has; and the checks of section 15.
const SERIES: [(&str, usize); 4] = [("PROV", 20), ("APPW", 44), ("OPS", 74), ("AFAC", 36)];
const CHECKS: usize = 9;

/// Why a case may have no counterpart, as the head of the table explains it.
const REASONS: [&str; 5] = ["PLUMBING", "FACADE", "MANAGED", "AGENTS", "POD-SPEC"];

/// The rows: case, what it says, what shows it.
fn rows() -> Vec<[&'static str; 3]> {
    let cells = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        <[&str; 3]>::try_from(cells).unwrap_or_else(|_| panic!("three cells in: {line}"))
    };
    let lines = TABLE.lines().filter(|line| line.starts_with("| "));
    let rows = lines.map(cells);
    rows.filter(|[case, ..]| *case != "case" && *case != "check")
        .collect()
}

#[test]
fn every_case_stands_in_the_table_once() {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for [case, says, _] in rows() {
        assert!(!says.is_empty(), "{case} says nothing");
        *count.entry(case).or_default() += 1;
    }
    for (series, cases) in SERIES {
        for number in 1..=cases {
            let case = format!("{series}-{number:02}");
            assert_eq!(count.remove(&*case), Some(1), "{case}");
        }
    }
    for number in 1..=CHECKS {
        let check = format!("15.{number}");
        assert!(count.remove(&*check).is_some(), "{check}");
    }
    assert!(count.is_empty(), "nobody knows {count:?}");
}

#[test]
fn every_row_names_a_test_that_is_there_or_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the root");
    let mut tests = 0;
    for [case, _, shown] in rows() {
        let otherwise = shown.strip_prefix("OTHERWISE: ");
        // A case that is met otherwise may name, in brackets, the test that shows how.
        let named = match otherwise.and_then(|words| words.split_once("(`")) {
            Some((_, one)) => one.strip_suffix("`)"),
            None => (shown.strip_prefix('`')).and_then(|one| one.strip_suffix('`')),
        };
        let Some((file, name)) = named.and_then(|one| one.split_once("::")) else {
            let said = otherwise.is_some_and(|words| !words.is_empty() && !words.contains('`'));
            assert!(
                REASONS.contains(&shown) || said,
                "{case}: neither a test nor a reason: {shown}"
            );
            continue;
        };
        let text = std::fs::read_to_string(root.join(file));
        let text = text.unwrap_or_else(|error| panic!("{case}: {file}: {error}"));
        assert!(is_test(&text, name), "{case}: {file} has no test {name}");
        tests += 1;
    }
    assert!(tests > 100, "{tests} rows name a test");
}

/// Whether a file has a test of that name: the function, with the mark of a test in the lines before it.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins = |line: &&str| {
        let rest = line.strip_prefix("async ").unwrap_or(line);
        rest.strip_prefix("fn ")
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with('('))
    };
    let Some(at) = lines.iter().position(begins) else {
        return false;
    };
    let marks = lines[..at]
        .iter()
        .rev()
        .take_while(|line| line.starts_with('#') || line.starts_with("//"));
    marks
        .into_iter()
        .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}
