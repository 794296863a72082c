//! The thread that sends spans.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use http::Request;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use super::Settings;

/// Batches that wait to be sent.
const WAITING: usize = 2_048;
/// Spans of one request, about.
const TOGETHER: usize = 512;
/// How long spans wait for others.
const DELAY: Duration = Duration::from_secs(1);
/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the end of the process waits for a collector.
const LAST: Duration = Duration::from_secs(2);

/// Sends spans, if it can.
#[derive(Debug)]
pub(super) struct Exporter {
    /// None once it has ended.
    queue: Mutex<Option<SyncSender<Vec<Value>>>>,
    ended: Mutex<Receiver<()>>,
    counts: Arc<Counts>,
}

/// Spans, by what became of them.
#[derive(Debug, Default)]
struct Counts {
    /// Taken, and not yet answered for.
    pending: AtomicU64,
    dropped: AtomicU64,
}

impl Exporter {
    pub(super) fn start(settings: &Settings) -> std::io::Result<Self> {
        let (queue, waiting) = sync_channel(WAITING);
        let (done, ended) = sync_channel(1);
        let counts = Arc::<Counts>::default();
        let threads = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let sender = Sender {
            client: Client::builder(TokioExecutor::new()).build(HttpConnector::new()),
            settings: settings.clone(),
            counts: counts.clone(),
            failing: false,
        };
        thread::Builder::new().name("spans".into()).spawn(move || {
            let mut sender = sender;
            while let Some(spans) = gather(&waiting) {
                threads.block_on(sender.send(spans));
            }
            // Nobody waits any more, if it took too long.
            let _ = done.send(());
        })?;
        Ok(Exporter {
            queue: Mutex::new(Some(queue)),
            ended: Mutex::new(ended),
            counts,
        })
    }

    /// Takes the spans of a batch, or drops them where others wait already. It waits for nobody.
    pub(super) fn take(&self, spans: Vec<Value>) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = &*queue else { return };
        let number = spans.len() as u64;
        // Before they are sent: the thread may be faster than this one.
        self.counts.pending.fetch_add(number, Ordering::Relaxed);
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = queue.try_send(spans) {
            self.counts.lose(number);
        }
    }

    /// Sends what there is for a while, and gives how many spans were dropped.
    pub(super) fn end(&self) -> u64 {
        drop(
            self.queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = ended.recv_timeout(LAST);
        // What has no answer by now is not waited for.
        self.counts.dropped.load(Ordering::Relaxed) + self.counts.pending.load(Ordering::Relaxed)
    }
}

impl Counts {
    fn lose(&self, spans: u64) {
        self.dropped.fetch_add(spans, Ordering::Relaxed);
        self.pending.fetch_sub(spans, Ordering::Relaxed);
    }
}

/// Waits for spans, and then a moment for others; none when there will be no more.
fn gather(waiting: &Receiver<Vec<Value>>) -> Option<Vec<Value>> {
    let mut spans = waiting.recv().ok()?;
    let end = Instant::now() + DELAY;
    while spans.len() < TOGETHER {
        match waiting.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(others) => spans.extend(others),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Some(spans)
}

struct Sender {
    client: Client<HttpConnector, Full<Bytes>>,
    settings: Settings,
    counts: Arc<Counts>,
    /// Whether the last request failed: a collector that stays away is told of once.
    failing: bool,
}

impl Sender {
    async fn send(&mut self, spans: Vec<Value>) {
        let number = spans.len() as u64;
        let answer = tokio::time::timeout(PATIENCE, self.post(spans)).await;
        let wrong = match answer {
            Ok(Ok(())) => None,
            Ok(Err(wrong)) => Some(wrong),
            Err(_) => Some(format!("no answer within {} s", PATIENCE.as_secs())),
        };
        match &wrong {
            None => {
                self.counts.pending.fetch_sub(number, Ordering::Relaxed);
            }
            Some(wrong) => {
                self.counts.lose(number);
                if !self.failing {
                    eprintln!(
                        "spans are dropped, {} does not take them: {wrong}",
                        self.settings.endpoint
                    );
                }
            }
        }
        self.failing = wrong.is_some();
    }

    async fn post(&self, spans: Vec<Value>) -> Result<(), String> {
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": [
                { "key": "service.name", "value": { "stringValue": self.settings.service } },
                { "key": "service.version", "value": { "stringValue": env!("CARGO_PKG_VERSION") } },
            ]},
            "scopeSpans": [{
                "scope": { "name": "pilotage", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans,
            }],
        }]});
        let mut request = Request::post(self.settings.endpoint.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|error| error.to_string())?;
        for (name, value) in &self.settings.headers {
            request.headers_mut().insert(name, value.clone());
        }
        let answer = self.client.request(request).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let status = answer.status();
        let body = answer.into_body().collect().await;
        body.map_err(|error| error.to_string())?;
        if status.is_success() {
            Ok(())
        } else {
            Err(format!("it answers {status}"))
        }
    }
}
