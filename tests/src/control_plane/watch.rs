//! Watches of whole kinds, one thread each.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Call, Client, ClientError, kind};

/// One watch event.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// ADDED, MODIFIED or DELETED.
    pub event: String,
    /// The object, with its kind.
    pub object: Value,
}

/// The events of some kinds, all namespaces, in the order in which they arrive.
#[derive(Debug)]
pub struct Watches {
    events: Receiver<Seen>,
}

impl Watches {
    /// Watches each of `kinds` from now on; the threads end with the server.
    pub fn start(client: &Client, kinds: &[&'static str]) -> Result<Watches, ClientError> {
        let (sender, events) = channel();
        for name in kinds {
            let path = kind(name).collection("");
            let list = client.call(&Call {
                who: "recorder",
                method: "GET",
                path: &path,
                query: &[],
                content_type: "",
                body: None,
            })?;
            let version = list.body["metadata"]["resourceVersion"].clone();
            let (client, sender) = (client.clone(), sender.clone());
            thread::spawn(move || watch(&client, &path, &version, &sender));
        }
        Ok(Watches { events })
    }

    /// The next event, or none if there is none within `patience`.
    pub fn next(&self, patience: Duration) -> Option<Seen> {
        self.events.recv_timeout(patience).ok()
    }
}

fn watch(client: &Client, path: &str, version: &Value, sender: &Sender<Seen>) {
    let query = [
        ("watch".to_owned(), "true".to_owned()),
        (
            "resourceVersion".to_owned(),
            version.as_str().unwrap_or_default().to_owned(),
        ),
        ("timeoutSeconds".to_owned(), "7200".to_owned()),
    ];
    let call = Call {
        who: "recorder",
        method: "GET",
        path,
        query: &query,
        content_type: "",
        body: None,
    };
    // The stream ends when the server is stopped, which is how the thread ends.
    let _ = client.stream(&call, |mut line| {
        let event = line["type"].as_str().unwrap_or_default().to_owned();
        let object = line
            .get_mut("object")
            .map(Value::take)
            .unwrap_or(json!(null));
        event == "BOOKMARK" || sender.send(Seen { event, object }).is_ok()
    });
}
