//! The transition table in the docs of the phase is what the code does.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use pilotage_core::life::Life;
use pilotage_core::name::Uid;
use pilotage_core::worker::phase::Phase;
use pilotage_core::worker::view::{Standing, View};

/// What a phase depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inputs {
    read: bool,
    life: Life,
    namespace: Standing,
    predecessors: bool,
}

fn phase(inputs: Inputs) -> Phase {
    if !inputs.read {
        return Phase::Listing;
    }
    let mut view = View::new(Uid(1), "web".into(), Uid(2));
    view.record.life = inputs.life;
    view.standing = inputs.namespace;
    view.predecessors = u32::from(inputs.predecessors);
    Phase::of(&view)
}

/// What can happen to the inputs: lives only end, and what was read stays read.
fn happenings(from: Inputs) -> Vec<(String, Inputs)> {
    let mut all = Vec::new();
    if !from.read {
        all.push(("everything is read".into(), Inputs { read: true, ..from }));
        return all;
    }
    for life in [Life::Dying, Life::Dead, Life::Gone] {
        if life > from.life {
            let word = format!("{life:?}").to_lowercase();
            all.push((format!("the record says {word}"), Inputs { life, ..from }));
        }
    }
    // Whether a namespace is watched does not change while a provisioner runs.
    let namespace = match from.namespace {
        Standing::Missing => Some(("the namespace is there", Standing::Ready)),
        Standing::Ready => Some(("the namespace goes", Standing::Missing)),
        Standing::Unwatched => None,
        Standing::Unreadable | Standing::Unrecorded => {
            Some(("its model's record is read", Standing::Missing))
        }
    };
    all.extend(namespace.map(|(text, namespace)| (text.into(), Inputs { namespace, ..from })));
    let predecessors = !from.predecessors;
    let text = if predecessors {
        "a leftover of the name appears"
    } else {
        "the last leftover of the name is gone"
    };
    all.push((
        text.into(),
        Inputs {
            predecessors,
            ..from
        },
    ));
    all
}

fn table() -> String {
    let mut rows = BTreeSet::new();
    for read in [false, true] {
        for life in [Life::Alive, Life::Dying, Life::Dead, Life::Gone] {
            for namespace in [
                Standing::Missing,
                Standing::Ready,
                Standing::Unwatched,
                Standing::Unreadable,
                Standing::Unrecorded,
            ] {
                for predecessors in [false, true] {
                    let from = Inputs {
                        read,
                        life,
                        namespace,
                        predecessors,
                    };
                    for (what, to) in happenings(from) {
                        if phase(from) != phase(to) {
                            rows.insert((phase(from), what, phase(to)));
                        }
                    }
                }
            }
        }
    }
    let mut table =
        String::from("| from | what happens | to | aspects asked there |\n|---|---|---|---|\n");
    for (from, what, to) in rows {
        let aspects: Vec<String> = to
            .aspects()
            .iter()
            .map(|aspect| format!("{aspect:?}").to_lowercase())
            .collect();
        writeln!(
            table,
            "| {from:?} | {what} | {to:?} | {} |",
            aspects.join(", ")
        )
        .expect("a text");
    }
    table
}

#[test]
fn the_table_in_the_docs_is_what_the_code_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/worker/phase.md");
    let generated = table();
    if std::env::var_os("UPDATE_TABLES").is_some() {
        std::fs::write(&path, &generated).expect("the table can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "core/src/worker/phase.md is not what the code does; write it anew and review the change:\n\
         UPDATE_TABLES=1 cargo test -p pilotage-core --test phase_table\n\n{generated}"
    );
}

#[test]
fn only_a_record_that_is_gone_ends_a_worker() {
    for (from, to) in [(Life::Alive, Life::Gone), (Life::Dead, Life::Gone)] {
        let inputs = Inputs {
            read: true,
            life: from,
            namespace: Standing::Ready,
            predecessors: false,
        };
        assert_ne!(phase(inputs), Phase::Gone);
        assert_eq!(phase(Inputs { life: to, ..inputs }), Phase::Gone);
    }
}
