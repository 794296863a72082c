//! The driver against a server that plays a script: what it asks, and what it makes of the answers.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilotage_core::digest::DigestKey;
use pilotage_core::effect::{Action, Effect, EffectId};
use pilotage_core::event::Event;
use pilotage_core::kubernetes::{Key, Kind, Propagation};
use pilotage_core::name::Uid;
use pilotage_core::outcome::{Outcome, Refusal};
use pilotage_core::reason::Reason;
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::{Access, Kubernetes, Timing};
use crate::cluster::{Cluster, ConnectError};

const POD: &str = r#"{"metadata":{"name":"web-NUMBER","namespace":"shop","uid":"00000000-0000-0000-0000-00000000000NUMBER","resourceVersion":"VERSION"}}"#;

fn pod(number: u32, version: u32) -> String {
    POD.replace("NUMBER", &number.to_string())
        .replace("VERSION", &version.to_string())
}

fn line(change: &str, object: &str) -> String {
    format!(r#"{{"type":"{change}","object":{object}}}"#) + "\n"
}

fn mark(version: u32) -> String {
    let end = r#""annotations":{"k8s.io/initial-events-end":"true"}"#;
    let object = format!(r#"{{"metadata":{{"resourceVersion":"{version}",{end}}}}}"#);
    line("BOOKMARK", &object)
}

fn page(version: u32, more: &str, pods: &[String]) -> String {
    let items = pods.join(",");
    format!(
        r#"{{"metadata":{{"resourceVersion":"{version}","continue":"{more}"}},"items":[{items}]}}"#
    )
}

fn failure(code: u16, reason: &str) -> String {
    format!(r#"{{"status":"Failure","code":{code},"reason":"{reason}","message":"no: {reason}"}}"#)
}

/// A server that gives one answer to each connection, in the order of its script, and then none.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers by status and body; without a status the connection ends without an answer.
    fn start(script: Vec<(Option<u16>, String)>) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = asked.clone();
        std::thread::spawn(move || {
            let mut script = VecDeque::from(script);
            // When the script is at its end nobody is let in any more.
            while let Some((status, body)) = script.pop_front() {
                let (connection, _) = listener.accept().unwrap();
                heard.lock().unwrap().push(request(&connection));
                if let Some(status) = status {
                    let mut to = &connection;
                    let _ = write!(
                        to,
                        "HTTP/1.1 {status} Answer\r\nConnection: close\r\n\r\n{body}"
                    );
                }
            }
        });
        Server { address, asked }
    }

    /// The requests, by method and address without the label selector and the length of watches.
    fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let short = |line: &String| {
            let line = line.replace(
                "?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dpilotage",
                "",
            );
            line.split("&timeoutSeconds")
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        asked.iter().map(short).collect()
    }

    async fn cluster(&self) -> Kubernetes {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("kubeconfig");
        let text = format!(
            "clusters: [{{name: c, cluster: {{server: '{}'}}}}]\nusers: [{{name: u, user: {{token: t}}}}]\n\
             contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n",
            self.address
        );
        std::fs::write(&file, text).unwrap();
        let access = Access::Kubeconfig {
            file: Some(file),
            context: None,
        };
        let timing = Timing {
            first_delay: Duration::from_millis(1),
            longest_delay: Duration::from_secs(5),
            ..Timing::default()
        };
        let cluster = Kubernetes::connect(&access, DigestKey::default(), timing);
        cluster.await.unwrap()
    }
}

fn request(connection: &TcpStream) -> String {
    let mut from = BufReader::new(connection);
    let mut first = String::new();
    from.read_line(&mut first).unwrap();
    let mut length = 0;
    loop {
        let mut header = String::new();
        from.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().unwrap();
        }
    }
    from.read_exact(&mut vec![0; length]).unwrap();
    first.trim_end().trim_end_matches(" HTTP/1.1").to_owned()
}

/// The first so many events of a watch of pods, in short.
async fn watched(server: &Server, count: usize) -> Vec<String> {
    let cluster = server.cluster().await;
    let (sender, mut events) = mpsc::channel(64);
    let watch = tokio::spawn(cluster.watch(Kind::Pod, sender));
    let mut told = Vec::new();
    while told.len() < count {
        told.push(match events.recv().await.unwrap() {
            Event::Listing { .. } => "listing".to_owned(),
            Event::Synced { .. } => "synced".to_owned(),
            Event::PodUpdated(pod) => format!("{} {}", pod.metadata.name, pod.metadata.version),
            Event::PodDeleted { key, version, .. } => format!("{} gone {version}", key.name),
            Event::SourceFailed { reason, .. } => format!("failed: {reason}"),
            Event::SourceResumed { .. } => "resumed".to_owned(),
            other => panic!("{other:?}"),
        });
    }
    watch.abort();
    told
}

const STREAM: &str = "GET /api/v1/pods&watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

fn from(version: u32) -> String {
    format!("GET /api/v1/pods&watch=true&allowWatchBookmarks=true&resourceVersion={version}")
}

#[tokio::test]
async fn a_watch_that_is_cut_within_a_line_goes_on_after_the_last_whole_one() {
    let first = line("ADDED", &pod(0, 3)) + &mark(5) + &line("MODIFIED", &pod(0, 7));
    let cut = line("MODIFIED", &pod(0, 8));
    let server = Server::start(vec![
        (Some(200), first + &cut[..40]),
        (Some(200), cut + &line("DELETED", &pod(0, 9))),
    ]);
    let told = watched(&server, 6).await;
    let expected = [
        "listing",
        "web-0 3",
        "synced",
        "web-0 7",
        "web-0 8",
        "web-0 gone 9",
    ];
    assert_eq!(told, expected);
    assert_eq!(server.asked(), [STREAM.to_owned(), from(7)]);
}

#[tokio::test]
async fn a_server_without_streaming_lists_is_asked_for_pages_of_one_version() {
    let server = Server::start(vec![
        (Some(422), failure(422, "Invalid")),
        (Some(200), page(20, "a b", &[pod(0, 3)])),
        (Some(200), page(20, "", &[pod(1, 4)])),
        (Some(200), line("MODIFIED", &pod(1, 21))),
    ]);
    let told = watched(&server, 6).await;
    // That a list begins is told before each that is asked for.
    assert_eq!(told[..2], ["listing", "listing"]);
    assert_eq!(told[2..], ["web-0 3", "web-1 4", "synced", "web-1 21"]);
    let pages = "GET /api/v1/pods&limit=500";
    let second = format!("{pages}&continue=a%20b");
    assert_eq!(server.asked(), [STREAM, pages, &second, &from(20)]);
}

#[tokio::test]
async fn what_the_server_has_forgotten_is_listed_again_whether_it_says_so_at_once_or_later() {
    let gone = line("ERROR", &failure(410, "Expired"));
    let server = Server::start(vec![
        (Some(200), mark(5)),
        (Some(410), failure(410, "Expired")),
        (Some(200), line("ADDED", &pod(0, 6)) + &mark(8) + &gone),
        (Some(200), mark(9)),
    ]);
    let told = watched(&server, 7).await;
    let list = ["listing", "synced"];
    assert_eq!(told[..2], list);
    assert_eq!(told[2..5], ["listing", "web-0 6", "synced"]);
    assert_eq!(told[5..], list);
    assert_eq!(server.asked(), [STREAM, &from(5), STREAM, STREAM]);
}

#[tokio::test]
async fn a_list_that_ends_too_early_or_cannot_be_read_is_told_and_asked_for_again() {
    let nameless = r#"{"metadata":{}}"#;
    let server = Server::start(vec![
        (Some(200), line("ADDED", &pod(0, 3))),
        (Some(200), page(20, "", &[nameless.to_owned()])),
        (Some(200), mark(21)),
    ]);
    let told = watched(&server, 7).await;
    assert_eq!(told[..2], ["listing", "web-0 3"]);
    assert_eq!(told[2], "failed: the list ended before everything was told");
    assert_eq!(told[3], "listing");
    assert!(
        told[4].contains("cannot be read: missing field `name`"),
        "{told:?}"
    );
    assert_eq!(told[5..], ["listing", "synced"]);
}

#[tokio::test]
async fn a_refused_watch_is_told_once_and_tried_until_it_is_let_in() {
    let no = || (Some(403), failure(403, "Forbidden"));
    let server = Server::start(vec![no(), no(), no(), (Some(200), mark(5))]);
    let told = watched(&server, 6).await;
    assert_eq!(told[..2], ["listing", "failed: no: Forbidden"]);
    assert_eq!(told[2..], ["listing", "listing", "listing", "synced"]);
}

#[tokio::test]
async fn a_watch_that_was_refused_and_goes_on_says_so_before_anything_else() {
    let no = || (Some(403), failure(403, "Forbidden"));
    let server = Server::start(vec![
        (Some(200), mark(5)),
        no(),
        no(),
        (Some(200), line("ADDED", &pod(0, 6))),
    ]);
    let told = watched(&server, 5).await;
    let expected = [
        "listing",
        "synced",
        "failed: no: Forbidden",
        "resumed",
        "web-0 6",
    ];
    assert_eq!(told, expected);
}

fn delete() -> Arc<Effect> {
    let key = Key::new(Kind::Pod, "shop", "web-0");
    Arc::new(Effect {
        id: EffectId {
            owner: Uid(1),
            incarnation: 1,
            sequence: 1,
        },
        subject: "web".into(),
        because: Reason::Missing { key: key.clone() },
        action: Action::Delete {
            key,
            uid: Uid(1),
            propagation: Propagation::Background,
        },
    })
}

#[tokio::test]
async fn a_write_is_sent_once_unknown_without_an_answer_and_not_sent_without_a_connection() {
    let server = Server::start(vec![
        (None, String::new()),
        (Some(503), failure(503, "ServiceUnavailable")),
    ]);
    let cluster = server.cluster().await;
    let run = || cluster.run(delete(), Arc::new(|_| None));
    assert_eq!(run().await, Outcome::Unknown);
    let busy = run().await;
    assert!(
        matches!(
            &busy,
            Outcome::Refused {
                reason: Refusal::Busy { .. },
                ..
            }
        ),
        "{busy:?}"
    );
    // The script is at its end, and with it, in a moment, the server.
    let (reason, message) = loop {
        match run().await {
            Outcome::Unknown => {}
            Outcome::Refused { reason, message } => break (reason, message),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(reason, Refusal::NotSent);
    assert!(message.contains("Connection refused"), "{message}");
    assert_eq!(
        server.asked(),
        ["DELETE /api/v1/namespaces/shop/pods/web-0"; 2]
    );
}

#[tokio::test]
async fn what_answers_but_is_no_kubernetes_is_told() {
    let server = Server::start(vec![
        (Some(200), "<html>".into()),
        (Some(401), "who?".into()),
    ]);
    let cluster = server.cluster().await;
    let not = cluster.link.uid().await;
    assert!(
        matches!(not, Err(ConnectError::NoKubernetes { .. })),
        "{not:?}"
    );
    let Err(ConnectError::Refused { code, message, .. }) = cluster.link.uid().await else {
        panic!("it let us in");
    };
    assert_eq!((code, &*message), (401, "who?"));
}
