//! The simulated cluster does what a real one did: every transcript of `tests/transcripts/`, played without a server.

use std::collections::BTreeSet;

use pilotage_tests::recorder::scripts;
use pilotage_tests::replay::known::KNOWN;
use pilotage_tests::replay::{Difference, Pace, replay};
use pilotage_tests::transcript::{Event, Step, Transcript, file};
use serde_json::{Value, json};

fn transcripts() -> Vec<Transcript> {
    let paths = file::all().expect("the folder of transcripts can be read");
    let read =
        |path: &std::path::PathBuf| file::read(path).unwrap_or_else(|error| panic!("{error}"));
    paths.iter().map(read).collect()
}

fn transcript(name: &str) -> Transcript {
    let path = file::folder().join(format!("{name}.json"));
    file::read(&path).unwrap_or_else(|error| panic!("{error}"))
}

/// The differences that are not in the table.
fn unknown(transcript: &Transcript) -> Vec<Difference> {
    let mut differences = replay(transcript, Pace::EveryEvent);
    differences.retain(|difference| !KNOWN.iter().any(|known| known.covers(difference)));
    differences
}

#[test]
fn the_simulated_cluster_does_what_the_real_one_did() {
    let only = std::env::var("TRANSCRIPT").unwrap_or_default();
    let mut found = Vec::new();
    for transcript in transcripts()
        .iter()
        .filter(|transcript| transcript.name.contains(&only))
    {
        found.extend(unknown(transcript));
    }
    let text: String = found
        .iter()
        .map(|difference| format!("{difference}\n"))
        .collect();
    assert!(
        found.is_empty(),
        "{text}\nrerun: TRANSCRIPT=<name> cargo test -p pilotage-tests --test transcripts the_simulated_cluster"
    );
}

#[test]
fn at_most_five_differences_are_known_and_each_of_them_shows() {
    assert!(KNOWN.len() <= 5);
    let all: Vec<Difference> = transcripts()
        .iter()
        .flat_map(|transcript| replay(transcript, Pace::EveryEvent))
        .collect();
    for known in KNOWN {
        let shows = all.iter().any(|difference| known.covers(difference));
        assert!(
            shows,
            "mended, so it can be taken off the table: {}",
            known.what
        );
    }
}

#[test]
fn the_limits_in_the_readme_name_every_known_difference_with_its_reason() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(path).expect("the README can be read");
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    for known in KNOWN {
        assert!(readme.contains(known.what), "{}", known.what);
        assert!(readme.contains(known.because), "{}", known.because);
    }
}

#[test]
fn every_recorded_fact_has_its_transcript_and_every_script_its_file() {
    let all = transcripts();
    let facts: BTreeSet<&str> = all
        .iter()
        .flat_map(|t| &t.facts)
        .map(String::as_str)
        .collect();
    for number in 1..=35 {
        assert!(
            facts.contains(format!("K{number}").as_str()),
            "K{number} is not recorded"
        );
    }
    let files: BTreeSet<&str> = all
        .iter()
        .map(|transcript| transcript.name.as_str())
        .collect();
    let scripts = scripts::all();
    let names: BTreeSet<&str> = scripts.iter().map(|script| script.name).collect();
    assert_eq!(files, names);
}

#[test]
fn at_least_twelve_transcripts_are_longer_than_twenty_deeds() {
    let long = transcripts()
        .iter()
        .filter(|transcript| transcript.deeds() > 20)
        .count();
    assert!(long >= 12, "there are {long}");
}

#[test]
fn a_transcript_is_written_as_it_was_read() {
    for path in file::all().expect("the folder of transcripts can be read") {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let transcript = file::read(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            file::text(&transcript) == text,
            "{} is written differently",
            path.display()
        );
    }
}

/// The places of all fields below `value`, as JSON pointers.
fn fields(value: &Value, place: &str, found: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                fields(value, &format!("{place}/{}", escaped(key)), found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                fields(value, &format!("{place}/{index}"), found);
            }
        }
        _ => found.push(place.to_owned()),
    }
}

/// Texts for people are not compared: this is what the transcript says, not what it means.
fn is_compared(object: &Value, place: &str) -> bool {
    !place.ends_with("/message") && object["kind"] != "Status"
}

#[test]
fn a_transcript_altered_in_one_field_fails() {
    let original = transcript("k12-scale-guards");
    let (mut tried, mut missed) = (0, Vec::new());
    for step in 0..original.steps.len() {
        for (place, altered) in alterations(&original, step) {
            tried += 1;
            if unknown(&altered).is_empty() {
                missed.push(format!("step {}, {place}", step + 1));
            }
        }
    }
    assert!(tried > 200, "only {tried} fields were altered");
    assert!(
        missed.is_empty(),
        "of {tried} altered fields {} passed: {missed:#?}",
        missed.len()
    );
}

/// The transcript with one field of what the cluster said in a step altered, once for each field.
fn alterations(original: &Transcript, step: usize) -> Vec<(String, Transcript)> {
    let mut objects: Vec<(usize, usize, Value)> = Vec::new();
    match &original.steps[step] {
        Step::Request(request) => objects.push((0, 0, request.answer.clone())),
        Step::Rest { events, .. } => {
            for (index, (_, events)) in events.iter().enumerate() {
                for (number, event) in events.iter().enumerate() {
                    objects.push((index, number, event.object.clone()));
                }
            }
        }
        Step::Watch(_) | Step::Compact { .. } => {}
    }
    let mut altered = Vec::new();
    for (index, number, object) in objects {
        let mut places = Vec::new();
        fields(&object, "", &mut places);
        for place in places
            .into_iter()
            .filter(|place| is_compared(&object, place))
        {
            let mut other = object.clone();
            *other.pointer_mut(&place).expect("the field is there") = json!("altered");
            let mut transcript = original.clone();
            match &mut transcript.steps[step] {
                Step::Request(request) => request.answer = other,
                Step::Rest { events, .. } => events[index].1[number].object = other,
                Step::Watch(_) | Step::Compact { .. } => {}
            }
            altered.push((place, transcript));
        }
    }
    altered
}

#[test]
fn an_altered_status_code_reason_or_order_of_events_fails() {
    let mut code = transcript("k12-scale-guards");
    let refused = code.steps.iter_mut().find_map(|step| match step {
        Step::Request(request) if request.status == 409 => Some(request),
        _ => None,
    });
    let refused = refused.expect("there is a refusal");
    refused.status = 422;
    assert!(!unknown(&code).is_empty());

    let mut reason = transcript("k12-scale-guards");
    for step in &mut reason.steps {
        if let Step::Request(request) = step
            && request.status == 409
        {
            request.answer["reason"] = json!("AlreadyExists");
        }
    }
    assert!(!unknown(&reason).is_empty());

    let mut order = transcript("stateful-set-down");
    let swapped = order.steps.iter_mut().find_map(|step| match step {
        Step::Rest { events, .. } => events.iter_mut().find(|(_, events)| events.len() > 1),
        _ => None,
    });
    swapped
        .expect("there is an object with two events")
        .1
        .swap(0, 1);
    assert!(!unknown(&order).is_empty());
}

#[test]
fn of_what_a_workload_reports_on_its_way_the_end_alone_is_compared_where_that_is_asked_for() {
    let original = transcript("stateful-set-up");
    let reports = |transcript: &mut Transcript, change: &dyn Fn(&mut Vec<Event>)| {
        let all = transcript.steps.iter_mut().find_map(|step| match step {
            Step::Rest { events, .. } => events
                .iter_mut()
                .find(|(key, events)| key.starts_with("StatefulSet") && events.len() > 2),
            _ => None,
        });
        change(&mut all.expect("a workload that reports twice").1);
    };
    let agree = |transcript: &Transcript, pace| replay(transcript, pace).is_empty();
    assert!(agree(&original, Pace::WhereReportsEnd));

    let mut fewer = original.clone();
    reports(&mut fewer, &|events| drop(events.remove(events.len() - 2)));
    assert!(!agree(&fewer, Pace::EveryEvent));
    assert!(agree(&fewer, Pace::WhereReportsEnd));

    let mut other = original.clone();
    reports(&mut other, &|events| {
        events.last_mut().expect("the last").object["status"]["replicas"] = json!(7);
    });
    assert!(!agree(&other, Pace::WhereReportsEnd));
}
