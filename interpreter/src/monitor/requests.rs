//! Requests to a cluster's API server, counted by what was answered.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How often what was asked, and answered how.
#[derive(Debug, Default)]
pub struct Requests {
    /// By HTTP status and method; no status where there was no answer.
    counts: Mutex<BTreeMap<(Option<u16>, String), u64>>,
    host: String,
}

impl Requests {
    /// None yet, to the server at an address such as `https://10.0.0.1:443`.
    pub fn to(server: &str) -> Self {
        let host = server.split_once("://").map_or(server, |(_, host)| host);
        let host = host.split('/').next().unwrap_or_default();
        Requests {
            host: host.to_owned(),
            ..Requests::default()
        }
    }

    /// One more.
    pub fn count(&self, method: &str, code: Option<u16>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((code, method.to_owned())).or_default() += 1;
    }

    /// Host and port of the server.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Status, method and number of those that there were.
    pub fn all(&self) -> Vec<(Option<u16>, String, u64)> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = counts.iter();
        rows.map(|((code, method), n)| (*code, method.clone(), *n))
            .collect()
    }
}
