//! Watching one kind: a first list, then what changes, and again from where it was after a break.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pilotage_core::event::{Event, Source};
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Version;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::backoff::{Backoff, spread};
use super::lines::Lines;
use super::read::{Line, Reader, Status, seen};
use super::request::{Place, encode, read_all};
use super::{Link, reason, several};

/// How long a watch takes for what.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// After so long the server is to end a watch, and it is begun again from where it was: connections do not grow
    /// old, and move to other servers.
    pub length: Duration,
    /// A watch that says nothing for so long is taken for dead. Servers send a bookmark about every minute.
    pub silence: Duration,
    /// The wait after the first failure; it doubles with each.
    pub first_delay: Duration,
    /// The longest wait.
    pub longest_delay: Duration,
    /// How many objects a page of a list has.
    pub page: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            length: Duration::from_secs(300),
            silence: Duration::from_secs(150),
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(30),
            page: 500,
        }
    }
}

/// Tells everything of ours of a kind, and then what changes, until nobody listens.
pub(super) async fn watch(link: Arc<Link>, kind: Kind, events: mpsc::Sender<Event>) {
    let places = Place::of(kind, &link.namespaces);
    match &places[..] {
        [place] => watch_place(link, kind, place.clone(), events).await,
        places => several::watch(link, kind, places, events).await,
    }
}

/// The same of what is in one place.
pub(super) async fn watch_place(
    link: Arc<Link>,
    kind: Kind,
    place: Place,
    events: mpsc::Sender<Event>,
) {
    let deaf = events.clone();
    tokio::select! {
        () = follow(link, kind, place, events) => {}
        () = deaf.closed() => {}
    }
}

async fn follow(link: Arc<Link>, kind: Kind, place: Place, events: mpsc::Sender<Event>) {
    let timing = link.timing;
    let mut backoff = Backoff::new(timing.first_delay, timing.longest_delay);
    let mut watch = Watch {
        reader: Reader {
            kind,
            key: link.key,
        },
        link,
        place,
        events,
        position: None,
        streaming: true,
        lively: false,
        failed: None,
    };
    loop {
        watch.lively = false;
        let begun = Instant::now();
        let ended = match (watch.position, watch.streaming) {
            (Some(version), _) => watch.resume(version).await,
            (None, true) => watch.list_by_stream().await,
            (None, false) => watch.list_by_pages().await,
        };
        // A server may have nothing to say for all the time of a watch.
        watch.lively |= begun.elapsed() > timing.longest_delay;
        if watch.lively {
            backoff.reset();
            if watch.recover().await.is_err() {
                return;
            }
        }
        match ended {
            End::Deaf => return,
            // Nothing is wrong. But a server that ends each watch at once is not to be asked all the time.
            End::Over if watch.lively => continue,
            End::Over => {}
            End::Expired => {
                watch.position = None;
                if watch.lively {
                    continue;
                }
            }
            End::Failed(why) => {
                if watch.failed.as_ref() != Some(&why) {
                    let source = Source::Cluster(kind);
                    let reason = why.as_str().into();
                    let failed = Event::SourceFailed { source, reason };
                    if watch.events.send(failed).await.is_err() {
                        return;
                    }
                }
                watch.failed = Some(why);
            }
        }
        tokio::time::sleep(backoff.delay()).await;
    }
}

/// How one request of a watch ended.
enum End {
    /// As it should: the server, or the connection, ended it.
    Over,
    /// The server no longer knows what happened since the version.
    Expired,
    /// For this reason.
    Failed(String),
    /// Nobody listens any more.
    Deaf,
}

impl From<mpsc::error::SendError<Event>> for End {
    fn from(_: mpsc::error::SendError<Event>) -> Self {
        End::Deaf
    }
}

struct Watch {
    link: Arc<Link>,
    place: Place,
    reader: Reader,
    events: mpsc::Sender<Event>,
    /// Everything up to here has been told; none if a list must come first.
    position: Option<Version>,
    /// Lists are asked for as streams; by pages, if that failed last.
    streaming: bool,
    /// The request at hand brought something, or lasted.
    lively: bool,
    /// Why it fails, as it was told last; none while it does not.
    failed: Option<String>,
}

impl Watch {
    fn source(&self) -> Source {
        Source::Cluster(self.reader.kind)
    }

    async fn tell(&self, event: Event) -> Result<(), End> {
        Ok(self.events.send(event).await?)
    }

    /// Tells that it no longer fails. The end of a list says so by itself.
    async fn recover(&mut self) -> Result<(), End> {
        let source = self.source();
        match self.failed.take() {
            Some(_) if self.position.is_some() => self.tell(Event::SourceResumed { source }).await,
            _ => Ok(()),
        }
    }

    /// What changed since a version.
    async fn resume(&mut self, from: Version) -> End {
        let query = format!(
            "&watch=true&allowWatchBookmarks=true&resourceVersion={from}{}",
            self.length()
        );
        match self.open(&query).await {
            Ok(lines) => self.read(lines, None).await,
            Err(Refused { code: 410, .. }) => End::Expired,
            Err(refused) if refused.too_new() => {
                // The server's memory does not reach up to what another one told us. It may catch up; but after
                // a restore from a backup it never will, and a list is right in both cases.
                self.position = None;
                End::Failed(refused.message)
            }
            Err(refused) => End::Failed(refused.message),
        }
    }

    /// Everything that is there, and what changes after it, in one answer.
    async fn list_by_stream(&mut self) -> End {
        let query = format!(
            "&watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan{}",
            self.length()
        );
        let source = self.source();
        if let Err(end) = self.tell(Event::Listing { source }).await {
            return end;
        }
        let ended = match self.open(&query).await {
            Ok(lines) => self.read(lines, Some(source)).await,
            // A server that has no such lists says that the request is wrong.
            Err(Refused {
                code: 400 | 422, ..
            }) => {
                return self.list_by_pages().await;
            }
            Err(refused) => return End::Failed(refused.message),
        };
        // It began to list and did not come to an end: the other way may.
        self.streaming = self.position.is_some();
        match ended {
            End::Over if self.position.is_none() => {
                End::Failed("the list ended before everything was told".into())
            }
            ended => ended,
        }
    }

    /// Everything that is there, as of one version, page by page.
    async fn list_by_pages(&mut self) -> End {
        // If it does not come to its end, it is the stream's turn.
        self.streaming = true;
        let source = self.source();
        let mut more = String::new();
        if let Err(end) = self.tell(Event::Listing { source }).await {
            return end;
        }
        loop {
            let mut query = format!("&limit={}", self.link.timing.page);
            if !more.is_empty() {
                query = format!("{query}&continue={}", encode(&more));
            }
            let page = match self.page(&query).await {
                Ok(page) => page,
                Err(Refused { code: 410, .. }) => return End::Expired,
                Err(refused) => return End::Failed(refused.message),
            };
            for object in page.items {
                if let Err(end) = self.tell(seen(object)).await {
                    return end;
                }
            }
            if page.more.is_empty() {
                self.position = Some(page.version);
                self.streaming = false;
                self.lively = true;
                let synced = self.tell(Event::Synced { source }).await;
                return synced.err().unwrap_or(End::Over);
            }
            more = page.more;
        }
    }

    async fn page(&self, query: &str) -> Result<super::read::Page, Refused> {
        let request = read_all(self.reader.kind, &self.place, query).map_err(Refused::unsent)?;
        let answer = timeout(self.link.timing.silence, self.link.ask(request)).await;
        let answer = answer.map_err(|_| Refused::silent())?;
        let answer = answer.map_err(|error| Refused::unsent(reason(&error)))?;
        if answer.code != 200 {
            return Err(Refused::said(&Status::read(answer.code, &answer.body)));
        }
        self.reader
            .page(&answer.body)
            .map_err(|error| Refused::unsent(format!("a list cannot be read: {error}")))
    }

    fn length(&self) -> String {
        let longest = self.link.timing.length;
        let seconds = spread(longest * 3 / 4, longest).as_secs().max(1);
        format!("&timeoutSeconds={seconds}")
    }

    async fn open(&self, query: &str) -> Result<Lines, Refused> {
        let request = read_all(self.reader.kind, &self.place, query).map_err(Refused::unsent)?;
        let silence = self.link.timing.silence;
        let response = timeout(silence, self.link.send(request)).await;
        let response = response.map_err(|_| Refused::silent())?;
        let response = response.map_err(|error| Refused::unsent(reason(&error)))?;
        if response.status().is_success() {
            return Ok(Lines::new(response.into_body()));
        }
        let answer = timeout(silence, super::whole(response)).await;
        let answer = answer.map_err(|_| Refused::silent())?;
        let answer = answer.map_err(|error| Refused::unsent(reason(&error)))?;
        Err(Refused::said(&Status::read(answer.code, &answer.body)))
    }

    /// Tells what the lines say, until they end. With a source, everything that is there comes first, and its end is
    /// told.
    async fn read(&mut self, mut lines: Lines, mut listing: Option<Source>) -> End {
        loop {
            let timing = &self.link.timing;
            let patience = match self.failed {
                // A server that says nothing for so long has let us in.
                Some(_) => timing.longest_delay.min(timing.silence),
                None => timing.silence,
            };
            let line = match timeout(patience, lines.next()).await {
                Err(_) if self.failed.is_some() && listing.is_none() => {
                    if let Err(end) = self.recover().await {
                        return end;
                    }
                    continue;
                }
                Err(_) => return End::Over,
                Ok(Ok(None) | Err(_)) => return End::Over,
                Ok(Ok(Some(line))) => self.reader.line(line),
            };
            let (told, version) = match line {
                Ok(Line::Changed(event, version)) => (Some(event), version),
                Ok(Line::Bookmark {
                    version,
                    everything,
                }) => (
                    everything
                        .then(|| listing.take())
                        .flatten()
                        .map(|source| Event::Synced { source }),
                    version,
                ),
                Ok(Line::Failed(status)) if status.code == 410 => return End::Expired,
                Ok(Line::Failed(status)) => return End::Failed(status.message),
                Err(error) => {
                    // Told as it is, it would be missed for ever: everything is read again, later.
                    self.position = None;
                    return End::Failed(format!("an object cannot be read: {error}"));
                }
            };
            self.lively = true;
            if listing.is_none()
                && let Err(end) = self.recover().await
            {
                return end;
            }
            if let Some(event) = told
                && let Err(end) = self.tell(event).await
            {
                return end;
            }
            if listing.is_none() {
                self.position = Some(version);
            }
        }
    }
}

/// Why there is nothing to read.
struct Refused {
    /// 0 if there was no answer.
    code: u16,
    message: String,
    causes: Vec<String>,
}

impl Refused {
    fn said(status: &Status) -> Self {
        let message = match &*status.message {
            "" => format!("the server answers {}", status.code),
            message => message.to_owned(),
        };
        Refused {
            code: status.code,
            message,
            causes: status.causes().map(str::to_owned).collect(),
        }
    }

    fn unsent(why: impl ToString) -> Self {
        Refused {
            code: 0,
            message: why.to_string(),
            causes: Vec::new(),
        }
    }

    fn silent() -> Self {
        Refused::unsent("the server does not answer")
    }

    /// Whether the version asked for is newer than what the server knows.
    fn too_new(&self) -> bool {
        self.causes
            .iter()
            .any(|cause| cause == "ResourceVersionTooLarge")
    }
}
