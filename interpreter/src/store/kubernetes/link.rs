//! The way to the cluster, and the picture of it: lists, watches, and whose turn it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use pilotage_core::name::{Uid, Version};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{Mutex as Turn, OnceCell};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::api::{Api, Failed};
use super::cache::Cache;
use super::kind::{Key, Kind};
use super::object::Object;
use crate::cluster::Access;
use crate::cluster::kube::{client, encode};
use crate::store::{Changes, Position, StoreError};

/// How many objects a page of a list has.
const PAGE: u32 = 500;
/// How often a list is begun anew that was too slow for the server's memory.
const LISTS: u32 = 4;
/// A watch that says nothing for so long is taken for dead. Servers send a bookmark about every minute.
const SILENCE: Duration = Duration::from_secs(150);
/// After so long the server is to end a watch, and it is begun again from where it was.
const LENGTH: u64 = 240;
/// How often it is looked whether the definitions have come, where they are not there yet.
const MISSING: Duration = Duration::from_secs(1);

/// Which record a command is about.
pub(super) type Subject = (Kind, Uid, u32);

/// The way to the cluster, and what is known of it.
pub(super) struct Link {
    access: Access,
    api: OnceCell<Api>,
    cache: Mutex<Cache>,
    /// One command at a time for each record, and one list.
    turns: Mutex<BTreeMap<Subject, Arc<Turn<()>>>>,
    listing: Turn<()>,
    /// Everything was listed once.
    listed: AtomicBool,
    /// The definitions are there.
    pub(super) installed: AtomicBool,
    /// This process acts on the records: it settles what users wrote.
    pub(super) holds: AtomicBool,
    watches: Mutex<Watches>,
    /// Objects whose records the server did not take, and when they are tried again.
    put_off: Mutex<BTreeMap<Key, Instant>>,
    /// Which values are in the vaults of applications, as far as that was seen.
    kept: Mutex<BTreeMap<Uid, BTreeSet<String>>>,
    /// What was known when everything was settled last.
    pub(super) settled: AtomicU64,
}

#[derive(Default)]
struct Watches {
    tasks: Vec<JoinHandle<()>>,
    /// One has ended: what changes is not seen.
    broken: bool,
    next_list: Option<Instant>,
}

impl Drop for Watches {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

#[derive(Deserialize)]
struct List {
    metadata: ListMetadata,
    items: Vec<Value>,
}

#[derive(Deserialize)]
struct ListMetadata {
    #[serde(rename = "resourceVersion")]
    version: Version,
    #[serde(default, rename = "continue")]
    more: String,
}

#[derive(Deserialize)]
struct Line {
    r#type: String,
    object: Value,
}

impl Link {
    pub(super) fn new(access: Access, epoch: u64) -> Self {
        Link {
            access,
            api: OnceCell::new(),
            cache: Mutex::new(Cache::new(epoch)),
            turns: Mutex::default(),
            listing: Turn::new(()),
            listed: AtomicBool::new(false),
            installed: AtomicBool::new(true),
            holds: AtomicBool::new(false),
            watches: Mutex::default(),
            put_off: Mutex::default(),
            kept: Mutex::default(),
            settled: AtomicU64::new(u64::MAX),
        }
    }

    /// The server, connected.
    pub(super) async fn api(&self) -> Result<&Api, StoreError> {
        let connect = || async {
            let (client, server) = client(&self.access).await?;
            Ok::<_, StoreError>(Api::new(client, server))
        };
        self.api.get_or_try_init(connect).await
    }

    pub(super) fn cache(&self) -> MutexGuard<'_, Cache> {
        // Nothing of it is left half done: every change of it is whole before anything can panic.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put_off(&self) -> MutexGuard<'_, BTreeMap<Key, Instant>> {
        self.put_off.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, BTreeMap<Uid, BTreeSet<String>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watches(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose turn it is with a record.
    pub(super) fn turn(&self, subject: Subject) -> Arc<Turn<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(subject).or_default().clone()
    }

    /// An error that stops everything.
    pub(super) fn error(&self, what: impl ToString) -> StoreError {
        let server = self.api.get().map(|api| api.server.clone());
        StoreError::InCluster {
            server: server.unwrap_or_default(),
            what: what.to_string(),
            denied: false,
            refused: false,
        }
    }

    /// That something cannot be done, which stops everything.
    pub(super) fn failed(&self, action: &str, failed: &Failed) -> StoreError {
        let advice = match failed.code() {
            401 | 403 => "; the README lists the permissions that are needed",
            _ => "",
        };
        let mut error = self.error(format!("cannot {action}: {}{advice}", failed.words()));
        if let StoreError::InCluster {
            denied, refused, ..
        } = &mut error
        {
            *denied = !advice.is_empty();
            *refused = failed.is_invalid();
        }
        error
    }

    /// Lists everything, if that was not done yet.
    pub(super) async fn begin(&self) -> Result<(), StoreError> {
        if self.listed.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.list().await.map(drop)
    }

    /// Lists everything as of one version, which is the answer; none if the definitions are not there.
    pub(super) async fn list(&self) -> Result<Option<Version>, StoreError> {
        let _one = self.listing.lock().await;
        let api = self.api().await?;
        let mut attempt = 0;
        let listed = loop {
            attempt += 1;
            match self.list_once(api).await {
                Err(failed) if failed.code() == 410 && attempt < LISTS => {}
                other => break other,
            }
        };
        let listed = match listed {
            Ok(listed) => Some(listed),
            Err(failed) if failed.is_missing() => None,
            Err(failed) => return Err(self.failed("list the records", &failed)),
        };
        let mut objects: Vec<(Kind, Vec<Object>)> = Vec::new();
        for kind in Kind::ALL {
            let values = match &listed {
                Some((_, values)) => values.get(&kind).cloned().unwrap_or_default(),
                None => Vec::new(),
            };
            let read: Result<Vec<Object>, _> = values
                .into_iter()
                .map(|value| Object::read(kind, value))
                .collect();
            objects.push((kind, read.map_err(|error| self.error(error))?));
        }
        self.installed.store(listed.is_some(), Ordering::SeqCst);
        let version = listed.map(|(version, _)| version);
        let mut cache = self.cache();
        for (kind, objects) in objects {
            // Without definitions there is nothing, whatever was there.
            cache.see_all(kind, objects, version.unwrap_or(Version(u64::MAX)));
        }
        drop(cache);
        self.listed.store(true, Ordering::SeqCst);
        Ok(version)
    }

    async fn list_once(&self, api: &Api) -> Result<(Version, BTreeMap<Kind, Vec<Value>>), Failed> {
        let mut lists = BTreeMap::new();
        let mut version: Option<Version> = None;
        // What the other kinds are read at is the version of the first.
        for kind in [Kind::Application, Kind::Model, Kind::Storage] {
            let mut items = Vec::new();
            let mut more = String::new();
            loop {
                let mut path = format!("{}?limit={PAGE}", kind.all());
                match (version, &*more) {
                    (Some(version), "") => path.push_str(&format!(
                        "&resourceVersion={version}&resourceVersionMatch=Exact"
                    )),
                    (None, "") => {}
                    (_, more) => path.push_str(&format!("&continue={}", encode(more))),
                }
                let list: List = api.get(&path).await?;
                version.get_or_insert(list.metadata.version);
                items.extend(list.items);
                more = list.metadata.more;
                if more.is_empty() {
                    break;
                }
            }
            lists.insert(kind, items);
        }
        Ok((version.unwrap_or_default(), lists))
    }

    /// Looks at one object again.
    pub(super) async fn look(&self, key: &Key) -> Result<Option<Value>, StoreError> {
        let api = self.api().await?;
        match api.get::<Value>(&key.path()).await {
            Ok(value) => {
                let object = Object::read(key.kind, value.clone());
                let object = object.map_err(|error| self.error(error))?;
                self.cache().see(object);
                Ok(Some(value))
            }
            Err(failed) if failed.is_missing() => {
                let mut cache = self.cache();
                let known = cache.entry(key).map(|entry| entry.object.uid);
                if let Some(uid) = known {
                    cache.lose(key, uid);
                }
                Ok(None)
            }
            Err(failed) => Err(self.failed(&format!("read {key}"), &failed)),
        }
    }

    /// What changed since a position. From the first call on, everything is watched.
    pub(super) async fn news(self: &Arc<Self>, since: Position) -> Result<Changes, StoreError> {
        let unwatched = {
            let watches = self.watches();
            let idle = watches.tasks.is_empty() || watches.broken;
            idle && watches.next_list.is_none_or(|next| next <= Instant::now())
        };
        if unwatched {
            let version = self.list().await?;
            let mut watches = self.watches();
            *watches = Watches::default();
            match version {
                Some(version) => {
                    for kind in Kind::ALL {
                        let follow = follow(Arc::downgrade(self), kind, version);
                        watches.tasks.push(tokio::spawn(follow));
                    }
                }
                None => watches.next_list = Some(Instant::now() + MISSING),
            }
        }
        if self.holds.load(Ordering::SeqCst) {
            self.settle_all().await?;
        }
        Ok(self.cache().since(since))
    }

    fn hear(&self, kind: Kind, line: Line) -> Result<Version, String> {
        let version = line.object["metadata"]["resourceVersion"].as_str();
        let version = version.and_then(|text| text.parse().ok()).map(Version);
        match &*line.r#type {
            "BOOKMARK" => version.ok_or_else(|| "a bookmark without a version".into()),
            "ERROR" => Err(line.object["message"].as_str().unwrap_or("?").into()),
            deleted => {
                let deleted = deleted == "DELETED";
                let object = Object::read(kind, line.object).map_err(|error| error.to_string())?;
                let version = object.version;
                let mut cache = self.cache();
                if deleted {
                    cache.lose(&object.key, object.uid);
                } else {
                    cache.see(object);
                }
                Ok(version)
            }
        }
    }
}

/// Follows one kind from a version, until it cannot.
async fn follow(link: Weak<Link>, kind: Kind, from: Version) {
    let mut from = from;
    loop {
        let Some(strong) = link.upgrade() else { return };
        let path = format!(
            "{}?watch=true&allowWatchBookmarks=true&resourceVersion={from}&timeoutSeconds={LENGTH}",
            kind.all()
        );
        let opened = match strong.api.get() {
            Some(api) => api.watch(&path).await.ok(),
            None => None,
        };
        let Some(mut lines) = opened else {
            strong.watches().broken = true;
            return;
        };
        drop(strong);
        let begun = Instant::now();
        let mut heard = false;
        while let Ok(Ok(Some(line))) = timeout(SILENCE, lines.next()).await {
            let Some(strong) = link.upgrade() else { return };
            let told = serde_json::from_slice::<Line>(line)
                .map_err(|error| error.to_string())
                .and_then(|line| strong.hear(kind, line));
            match told {
                Ok(version) => from = version,
                Err(_) => {
                    strong.watches().broken = true;
                    return;
                }
            }
            heard = true;
        }
        // A server that ends each watch at once is not to be asked all the time.
        if !heard && begun.elapsed() < MISSING {
            tokio::time::sleep(MISSING).await;
        }
    }
}
