//! The requests that the provisioner sends for applications, as the simulator sees them.

use std::io::Write;

use pilotage_core::effect::Action;
use pilotage_core::state::ApplicationCommand;
use pilotage_sim::cluster::effects;
use pilotage_sim::cluster::request::Verb;
use pilotage_sim::workload;
use pilotage_sim::world::World;
use pilotage_tests::control_plane::kind;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

/// How many there are for each application.
pub(crate) const EACH: usize = 8;

/// The name of an application.
pub(crate) fn name(index: usize) -> String {
    format!("ledger{index}")
}

/// Writes the requests to a file: a line for what is sent first, then one for each application, of a list each.
pub(crate) fn write(namespace: &str, number: usize) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    let (model, application) = one(namespace);
    writeln!(file, "{}", Value::Array(vec![model])).expect("a line");
    let text = Value::Array(application).to_string();
    for index in 0..number {
        // All are alike but for the name, of which the text has no other use.
        writeln!(file, "{}", text.replace("NAME", &name(index))).expect("a line");
    }
    file.flush().expect("a file");
    file
}

/// The request for a model, and those for an application of it.
fn one(namespace: &str) -> (Value, Vec<Value>) {
    let mut world = World::new();
    let model = world.add_model(namespace);
    let mut new = workload::ledger_application(model, "name", 1);
    new.filesystems.clear();
    let application = world.store.draw_uid();
    world.command(application, ApplicationCommand::Add(Box::new(new)));
    let mut sent = Vec::new();
    while sent.len() < EACH + 1 {
        let choice = world.choices().first().cloned().expect("something to do");
        world.take(&choice);
        for (effect, _) in &world.ran {
            if matches!(effect.action, Action::Create { .. }) {
                let request = effects::request(&effect.action, world.now, &|_| None);
                sent.push(request.expect("a request"));
            }
        }
    }
    let mut lines = sent.into_iter().map(|request| {
        let Verb::Create { body } = request.verb else {
            panic!("a POST: {request:?}");
        };
        let namespace = request.namespace.as_deref().unwrap_or_default();
        let path = kind(request.resource.kind()).collection(namespace);
        let body = body.to_string();
        json!({ "path": path, "body": body })
    });
    let first = lines.next().expect("the namespace");
    (first, lines.map(named).collect())
}

/// The request with a mark where the name of the application stands.
fn named(mut line: Value) -> Value {
    let body: Value =
        serde_json::from_str(line["body"].as_str().unwrap_or_default()).expect("JSON");
    let mut body = body;
    mark(&mut body);
    line["body"] = body.to_string().into();
    line
}

fn mark(value: &mut Value) {
    match value {
        Value::String(text) => {
            let whole = text == "name";
            if whole {
                *text = "NAME".into();
            } else if let Some(rest) = text.strip_prefix("name-") {
                *text = format!("NAME-{rest}");
            } else if let Some(rest) = text.strip_suffix(":name") {
                *text = format!("{rest}:NAME");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mark),
        Value::Object(fields) => fields.values_mut().for_each(mark),
        _ => {}
    }
}
