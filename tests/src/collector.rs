//! A collector of spans on loopback: it keeps what it is sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;

/// One request that came.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Request line and headers, in lower case.
    pub head: String,
    /// The body.
    pub body: Value,
}

/// Listens until the process ends.
#[derive(Debug)]
pub struct Collector {
    address: String,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl Collector {
    /// Listens on a free port.
    ///
    /// # Panics
    /// If there is none.
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let sent = Arc::<Mutex<Vec<Sent>>>::default();
        let kept = sent.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                thread::spawn(move || serve(&stream, &kept));
            }
        });
        Collector { address, sent }
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Every request so far.
    pub fn sent(&self) -> Vec<Sent> {
        self.sent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Every span so far.
    pub fn spans(&self) -> Vec<Value> {
        let mut spans = Vec::new();
        for sent in self.sent() {
            let spans_of = &sent.body["resourceSpans"][0]["scopeSpans"][0]["spans"];
            spans.extend(spans_of.as_array().cloned().unwrap_or_default());
        }
        spans
    }
}

/// Answers the requests of one connection, as long as they make sense.
fn serve(stream: &TcpStream, kept: &Mutex<Vec<Sent>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line.to_lowercase());
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))?;
        let mut body = vec![0; length.trim().parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        kept.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Sent { head, body });
        writer
            .write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
            )
            .ok()?;
    }
}
