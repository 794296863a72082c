//! A proxy on loopback between a client and an API server, whose watches and answers fail in a way that can be
//! chosen.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::{Call, Client, ControlPlane};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// Nothing.
    None,
    /// Each watch is cut within its third line.
    Cut,
    /// Each watch is cut so, and every other that is to go on is told that its version is too old (410).
    Expired,
    /// Each watch says nothing more after its second line, and stays open.
    Silent,
    /// Each line of a watch comes twice.
    Duplicated,
    /// Each line of a watch takes its time.
    Slow,
    /// There are no streaming lists, as before Kubernetes 1.32.
    NoStreams,
    /// Every ninth write is done, and its answer is lost.
    Unanswered,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Fault; 7] = [
        Fault::Cut,
        Fault::Expired,
        Fault::Silent,
        Fault::Duplicated,
        Fault::Slow,
        Fault::NoStreams,
        Fault::Unanswered,
    ];
}

/// The proxy. It takes no more connections when it is dropped.
pub struct Proxy {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    fault: AtomicU8,
    faults: AtomicU64,
    writes: AtomicU64,
    ended: AtomicBool,
}

impl Proxy {
    /// A proxy of a control plane's API server.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn start(control_plane: &ControlPlane) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("its port").port();
        let shared = Arc::new(Shared {
            client: control_plane.client().clone(),
            fault: AtomicU8::new(Fault::None as u8),
            faults: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let accepting = shared.clone();
        thread::spawn(move || {
            for connection in listener.incoming() {
                if accepting.ended.load(Ordering::Relaxed) {
                    return;
                }
                let shared = accepting.clone();
                // A client that goes away in the middle is no mistake.
                thread::spawn(move || connection.and_then(|connection| shared.serve(connection)));
            }
        });
        Proxy {
            address: format!("http://127.0.0.1:{port}"),
            shared,
        }
    }

    /// Its address, for a kubeconfig.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// From now on this goes wrong.
    pub fn set(&self, fault: Fault) {
        self.shared.fault.store(fault as u8, Ordering::Relaxed);
        self.shared.faults.store(0, Ordering::Relaxed);
    }

    /// How often the fault happened.
    pub fn faults(&self) -> u64 {
        self.shared.faults.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // Its last connection, which tells it that it has ended.
        let _ = TcpStream::connect(self.address.trim_start_matches("http://"));
    }
}

/// One request, as it was sent.
struct Sent {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    content_type: String,
    who: String,
    body: Option<Value>,
}

impl Shared {
    fn serve(&self, connection: TcpStream) -> io::Result<()> {
        let sent = read(&mut BufReader::new(&connection))?;
        let call = Call {
            who: &sent.who,
            method: &sent.method,
            path: &sent.path,
            query: &sent.query,
            content_type: &sent.content_type,
            body: sent.body.as_ref(),
        };
        let has = |name: &str| sent.query.iter().any(|(key, _)| key == name);
        let (watch, reads) = (has("watch"), sent.method == "GET");
        if self.is(Fault::NoStreams) && has("sendInitialEvents") {
            self.faults.fetch_add(1, Ordering::Relaxed);
            let body = json!({
                "kind": "Status", "status": "Failure", "reason": "Invalid", "code": 422,
                "message": "sendInitialEvents: Forbidden: the WatchList feature gate is off",
            });
            return answer(&connection, 422, &body);
        }
        if watch && self.is(Fault::Expired) && !has("sendInitialEvents") {
            let number = self.faults.fetch_add(1, Ordering::Relaxed);
            if number.is_multiple_of(2) {
                // As the API server says it: within a watch that has begun.
                let expired = json!({ "type": "ERROR", "object": {
                    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                    "message": "too old resource version: 1 (2)", "reason": "Expired", "code": 410,
                }});
                return answer(&connection, 200, &expired);
            }
        }
        if watch {
            return self.watch(&call, connection);
        }
        let said = self.client.call(&call).map_err(io::Error::other)?;
        if self.is(Fault::Unanswered)
            && !reads
            && self.writes.fetch_add(1, Ordering::Relaxed) % 9 == 2
        {
            self.faults.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        answer(&connection, said.status, &said.body)
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault.load(Ordering::Relaxed) == fault as u8
    }

    fn watch(&self, call: &Call<'_>, mut to: TcpStream) -> io::Result<()> {
        to.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        )?;
        let mut lines = 0;
        let mut written = Ok(());
        // An answer that is a refusal goes through as one line: an event without a type, which is an error too.
        let ended = self.client.stream(call, |line| {
            lines += 1;
            written = self.line(&mut to, &format!("{line}\n"), lines);
            written.is_ok()
        });
        written?;
        ended.map_err(io::Error::other)?;
        to.write_all(b"0\r\n\r\n")
    }

    fn line(&self, to: &mut TcpStream, line: &str, number: u64) -> io::Result<()> {
        let cut = self.is(Fault::Cut) || self.is(Fault::Expired);
        let silent = self.is(Fault::Silent);
        let (duplicated, slow) = (self.is(Fault::Duplicated), self.is(Fault::Slow));
        if ((self.is(Fault::Cut) || silent) && number > 2) || duplicated || slow {
            self.faults.fetch_add(1, Ordering::Relaxed);
        }
        if cut && number > 2 {
            chunk(to, &line[..line.len() / 2])?;
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if silent && number > 2 {
            return Ok(());
        }
        if slow {
            thread::sleep(Duration::from_millis(50));
        }
        if duplicated {
            chunk(to, line)?;
        }
        chunk(to, line)
    }
}

fn answer(mut to: &TcpStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    write!(
        to,
        "HTTP/1.1 {status} Answer\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len(),
    )
}

fn chunk(to: &mut TcpStream, text: &str) -> io::Result<()> {
    write!(to, "{:x}\r\n{text}\r\n", text.len())
}

fn read(from: &mut impl BufRead) -> io::Result<Sent> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let address = words.next().unwrap_or_default();
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let mut sent = Sent {
        method,
        path: decode(path),
        query: pairs
            .map(|(key, value)| (decode(key), decode(value)))
            .collect(),
        content_type: String::new(),
        who: String::new(),
        body: None,
    };
    let mut length = 0;
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-type" => sent.content_type = value.to_owned(),
            "content-length" => length = value.parse().map_err(io::Error::other)?,
            "authorization" => sent.who = value.trim_start_matches("Bearer ").to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    if length > 0 {
        sent.body = Some(serde_json::from_slice(&body)?);
    }
    Ok(sent)
}

/// Undoes percent-encoding.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let digits = (*first == b'%').then(|| after.get(..2)).flatten();
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
