//! Where each object is known: by uid, so that a no-op event costs one look-up and a comparison.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::kubernetes::Kind;
use crate::name::{Uid, Version};

use super::table::Table;

/// Every object that carries our label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Index(Table<Entry>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Entry {
    version: Version,
    kind: Kind,
    holder: Uid,
    /// The last list that told it.
    list: u32,
}

/// Nobody that is known.
pub const NOBODY: Uid = Uid(0);

impl Index {
    /// Notes a version of an object. None if it is no newer than what is known, outside of a list.
    pub fn note(
        &mut self,
        uid: Uid,
        kind: Kind,
        version: Version,
        list: Option<u32>,
    ) -> Option<Uid> {
        match self.0.get_mut(uid) {
            Some(entry) => {
                let news = version > entry.version || (list.is_some() && version != entry.version);
                if let Some(list) = list {
                    entry.list = list;
                }
                if !news {
                    return None;
                }
                entry.version = version;
                Some(entry.holder)
            }
            None => {
                let entry = Entry {
                    version,
                    kind,
                    holder: NOBODY,
                    list: list.unwrap_or_default(),
                };
                self.0.insert(uid, entry);
                Some(NOBODY)
            }
        }
    }

    /// Notes the version that an answer to a write told.
    pub fn raise(&mut self, uid: Uid, kind: Kind, version: Version, holder: Uid) {
        let known = self.0.get_mut(uid);
        match known {
            Some(entry) => {
                entry.version = entry.version.max(version);
                entry.holder = holder;
            }
            None => {
                let entry = Entry {
                    version,
                    kind,
                    holder,
                    list: 0,
                };
                self.0.insert(uid, entry);
            }
        }
    }

    /// Gives an object to somebody.
    pub fn give(&mut self, uid: Uid, holder: Uid) {
        if let Some(entry) = self.0.get_mut(uid) {
            entry.holder = holder;
        }
    }

    /// Forgets an object. Returns who had it.
    pub fn remove(&mut self, uid: Uid) -> Option<Uid> {
        self.0.remove(uid).map(|entry| entry.holder)
    }

    /// The holder of an object and the version that is known.
    pub fn get(&self, uid: Uid) -> Option<(Uid, Version)> {
        self.0.get(uid).map(|entry| (entry.holder, entry.version))
    }

    /// Objects of a kind that a list did not tell, by uid.
    pub fn untold(&self, kind: Kind, list: u32) -> Vec<Uid> {
        let untold = self
            .0
            .iter()
            .filter(|(_, entry)| entry.kind == kind && entry.list != list);
        let mut untold: Vec<Uid> = untold.map(|(uid, _)| uid).collect();
        untold.sort_unstable();
        untold
    }
}
