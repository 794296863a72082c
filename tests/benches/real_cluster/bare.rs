//! The bare client: a process that sends requests as fast as they are answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use pilotage_tests::control_plane::{Call, Client, ControlPlane};
use pilotage_tests::measure::{Usage, usage};
use serde_json::Value;

/// What makes this program the client.
pub(crate) const WORD: &str = "--bare-client";
/// How many requests are in flight, as with Pilotage.
const THREADS: usize = 16;

/// The client's process: it has read its requests, and waits.
pub(crate) struct Bare(Child);

impl Bare {
    pub(crate) fn start(cluster: &ControlPlane, requests: &Path) -> Bare {
        let this = std::env::current_exe().expect("the path of this program");
        let child = Command::new(this)
            .arg(WORD)
            .arg(cluster.client().base())
            .arg(cluster.certificate())
            .arg(requests)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut client = Bare(child.expect("it starts"));
        client.hear("ready");
        client
    }

    /// Lets it begin.
    pub(crate) fn go(&mut self) {
        let stdin = self.0.stdin.as_mut().expect("a pipe");
        stdin.write_all(b"go\n").expect("it listens");
    }

    /// Waits until it has sent everything, and says what it used.
    pub(crate) fn end(mut self) -> Usage {
        self.hear("done");
        let used = usage(self.0.id()).expect("the kernel says what a process used");
        drop(self.0.stdin.take());
        self.0.wait().expect("it ends");
        used
    }

    fn hear(&mut self, word: &str) {
        let stdout = self.0.stdout.as_mut().expect("a pipe");
        let mut heard = vec![0; word.len()];
        stdout.read_exact(&mut heard).expect("it speaks");
        assert_eq!(heard, word.as_bytes());
    }
}

/// The client itself: address, certificate, file of requests.
pub(crate) fn run(arguments: &[String]) {
    let [base, certificate, file] = arguments else {
        panic!("an address, a certificate and a file: {arguments:?}");
    };
    let pem = std::fs::read_to_string(certificate).expect("a certificate");
    let client = Client::new(base, &pem);
    let text = std::fs::read_to_string(file).expect("requests");
    let mut lines = text.lines().map(|line| {
        let requests: Vec<Value> = serde_json::from_str(line).expect("a list of requests");
        let requests = requests.into_iter().map(|request| {
            let text = |field: &str| request[field].as_str().unwrap_or_default().to_owned();
            let body: Value = serde_json::from_str(&text("body")).expect("an object");
            (text("path"), body)
        });
        requests.collect::<Vec<_>>()
    });
    let first = lines.next().expect("what comes first");
    let rest: Mutex<Vec<_>> = Mutex::new(lines.collect());
    say("ready");
    let mut go = String::new();
    let mut stdin = BufReader::new(std::io::stdin());
    stdin.read_line(&mut go).expect("somebody speaks");
    send(&client, &first);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let next = rest.lock().expect("no thread panics").pop();
                    let Some(requests) = next else { break };
                    send(&client, &requests);
                }
            });
        }
    });
    say("done");
    // What it used is read before it ends.
    let _ = stdin.read_line(&mut go);
}

fn say(word: &str) {
    let mut stdout = std::io::stdout();
    let said = stdout
        .write_all(word.as_bytes())
        .and_then(|()| stdout.flush());
    said.expect("somebody listens");
}

fn send(client: &Client, requests: &[(String, Value)]) {
    let query = [
        ("fieldManager".to_owned(), "pilotage".to_owned()),
        ("fieldValidation".to_owned(), "Strict".to_owned()),
    ];
    for (path, body) in requests {
        let call = Call {
            who: "bare",
            method: "POST",
            path,
            query: &query,
            content_type: "application/json",
            body: Some(body),
        };
        client.call(&call).expect("an answer").expect(201);
    }
}
