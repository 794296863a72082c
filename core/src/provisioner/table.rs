//! A map by uid for a hundred thousand entries: a look-up touches one place in memory, where a tree's goes through its
//! levels.
//!
//! Linear probing in the order of the scattered uid ("ordered hash tables", Amble and Knuth 1974), without wrapping
//! round: the slots are a sorted list with gaps, and which entry lies where depends on what is in the table and how
//! wide it is, not on the order of what happened. Uids are scattered by a product with an odd number, which loses none
//! of them and is the same on every machine.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::name::Uid;

/// Values by uid.
#[derive(Clone, Debug)]
pub struct Table<T> {
    /// Sorted by [`scatter`], each entry at its [`home`] or the first free place after it.
    slots: Vec<Option<(Uid, T)>>,
    /// How many homes there are; the slots can reach a little beyond.
    homes: usize,
    entries: usize,
}

/// The width of a table that begins.
const FEWEST: usize = 8;

/// Where a uid stands in the order of the slots.
fn scatter(uid: Uid) -> u128 {
    // The fractional part of the golden ratio, made odd.
    uid.0
        .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

/// The first slot that an entry may lie in: its share of the homes, so that the order of homes is that of [`scatter`].
fn home(uid: Uid, homes: usize) -> usize {
    let upper = scatter(uid) >> 64;
    let share = u128::try_from(homes).unwrap_or(0).wrapping_mul(upper) >> 64;
    usize::try_from(share).unwrap_or(0)
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table {
            slots: Vec::new(),
            homes: 0,
            entries: 0,
        }
    }
}

impl<T> Table<T> {
    /// The slot of a uid, or the one where it would be.
    fn place(&self, uid: Uid) -> Result<usize, usize> {
        let wanted = scatter(uid);
        let mut at = home(uid, self.homes);
        while let Some(Some((known, _))) = self.slots.get(at) {
            if *known == uid {
                return Ok(at);
            }
            if scatter(*known) > wanted {
                break;
            }
            at = at.saturating_add(1);
        }
        Err(at)
    }

    /// The value of a uid.
    pub fn get(&self, uid: Uid) -> Option<&T> {
        let at = self.place(uid).ok()?;
        self.slots.get(at)?.as_ref().map(|(_, value)| value)
    }

    /// The value of a uid, to be changed.
    pub fn get_mut(&mut self, uid: Uid) -> Option<&mut T> {
        let at = self.place(uid).ok()?;
        self.slots.get_mut(at)?.as_mut().map(|(_, value)| value)
    }

    /// All entries, in an order that depends on nothing but their uids.
    pub fn iter(&self) -> impl Iterator<Item = (Uid, &T)> {
        let entries = self.slots.iter().flatten();
        entries.map(|(uid, value)| (*uid, value))
    }

    /// Takes a value. What the uid had before is gone.
    pub fn insert(&mut self, uid: Uid, value: T) {
        let at = match self.place(uid) {
            Ok(at) => {
                if let Some(slot) = self.slots.get_mut(at) {
                    *slot = Some((uid, value));
                }
                return;
            }
            // Three quarters full at most.
            Err(_) if self.room() == 0 => {
                let wider = self.homes.saturating_add(self.homes / 2).max(FEWEST);
                self.lay_out(wider);
                self.place(uid).unwrap_or_else(|at| at)
            }
            Err(at) => at,
        };
        let rest = self.slots.get(at..).unwrap_or_default();
        let free = rest.iter().position(Option::is_none);
        let free = at.saturating_add(free.unwrap_or(rest.len()));
        while self.slots.len() <= free {
            self.slots.push(None);
        }
        if let Some(moved) = self.slots.get_mut(at..=free) {
            moved.rotate_right(1);
        }
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Some((uid, value));
            self.entries = self.entries.saturating_add(1);
        }
    }

    /// How many more entries the table takes at its width.
    fn room(&self) -> usize {
        (self.homes.saturating_mul(3) / 4).saturating_sub(self.entries)
    }

    /// Forgets a uid. Returns its value.
    pub fn remove(&mut self, uid: Uid) -> Option<T> {
        let at = self.place(uid).ok()?;
        let (_, value) = self.slots.get_mut(at)?.take()?;
        self.entries = self.entries.saturating_sub(1);
        // Whoever had to give way moves up.
        let after = at.saturating_add(1);
        let rest = self.slots.get(after..).unwrap_or_default();
        let stays = |(ahead, slot): (usize, &Option<(Uid, T)>)| match slot {
            Some((uid, _)) => home(*uid, self.homes) == after.saturating_add(ahead),
            None => true,
        };
        let follow = rest.iter().enumerate().position(stays);
        let end = after.saturating_add(follow.unwrap_or(rest.len()));
        if let Some(moved) = self.slots.get_mut(at..end) {
            moved.rotate_left(1);
        }
        if self.homes > FEWEST && self.entries.saturating_mul(6) < self.homes {
            self.lay_out((self.homes / 3).max(FEWEST));
        }
        Some(value)
    }

    /// Lays all entries out anew over a number of homes.
    fn lay_out(&mut self, homes: usize) {
        let mut slots = Vec::with_capacity(homes.saturating_add(homes / 16));
        for (uid, value) in core::mem::take(&mut self.slots).into_iter().flatten() {
            while slots.len() < home(uid, homes) {
                slots.push(None);
            }
            slots.push(Some((uid, value)));
        }
        while slots.len() < homes {
            slots.push(None);
        }
        self.slots = slots;
        self.homes = homes;
    }
}

impl<T: PartialEq> PartialEq for Table<T> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Table<T> {}

impl<T: Hash> Hash for Table<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.entries.hash(hasher);
        self.iter().for_each(|entry| entry.hash(hasher));
    }
}

/// As a map, sorted by uid.
impl<T: Serialize> Serialize for Table<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.iter()
            .collect::<BTreeMap<_, _>>()
            .serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Table::default();
        for (uid, value) in BTreeMap::deserialize(deserializer)? {
            table.insert(uid, value);
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Deed {
        Insert(Uid, u8),
        Remove(Uid),
    }

    /// Uids that are spread, that are neighbours, and that share a home whatever the width.
    fn uid() -> impl Strategy<Value = Uid> {
        prop_oneof![
            any::<u128>().prop_map(Uid),
            (0..40_u128).prop_map(Uid),
            (0..40_u128).prop_map(|low| Uid(low << 64)),
            // The inverse of the factor, so that what is scattered is small: the first home is everybody's.
            (0..40_u128).prop_map(|low| Uid(low.wrapping_mul(inverse()))),
            (0..40_u128).prop_map(|low| Uid(u128::MAX.wrapping_sub(low).wrapping_mul(inverse()))),
        ]
    }

    /// The inverse of the factor modulo 2^128, by Newton's iteration.
    fn inverse() -> u128 {
        let factor = scatter(Uid(1));
        (0..7).fold(factor, |x, _| {
            x.wrapping_mul(2_u128.wrapping_sub(factor.wrapping_mul(x)))
        })
    }

    fn deeds() -> impl Strategy<Value = Vec<Deed>> {
        let insert = (uid(), any::<u8>()).prop_map(|(uid, value)| Deed::Insert(uid, value));
        prop::collection::vec(
            prop_oneof![3 => insert, 2 => uid().prop_map(Deed::Remove)],
            0..400,
        )
    }

    #[test]
    fn what_scatters_the_uids_can_be_undone() {
        assert_eq!(scatter(Uid(inverse())), 1);
    }

    proptest! {
        #[test]
        fn a_table_holds_what_a_map_holds_however_it_came_about(deeds in deeds()) {
            let (mut table, mut map) = (Table::default(), BTreeMap::new());
            for deed in deeds {
                match deed {
                    Deed::Insert(uid, value) => {
                        table.insert(uid, value);
                        map.insert(uid, value);
                    }
                    Deed::Remove(uid) => prop_assert_eq!(table.remove(uid), map.remove(&uid)),
                }
                prop_assert_eq!(table.entries, map.len());
                prop_assert!(table.entries * 4 <= table.homes * 3);
            }
            for (uid, value) in &map {
                prop_assert_eq!(table.get(*uid), Some(value));
                prop_assert_eq!(table.get_mut(*uid), Some(&mut value.clone()));
            }
            prop_assert_eq!(table.iter().map(|(uid, value)| (uid, *value)).collect::<BTreeMap<_, _>>(), map.clone());
            // Another history and another width, the same table.
            let other: Table<u8> = serde_json::from_str(&serde_json::to_string(&table).unwrap()).unwrap();
            prop_assert_eq!(&table, &other);
            prop_assert_eq!(serde_json::to_value(&table).unwrap(), serde_json::to_value(&map).unwrap());
            let mut wide = table.clone();
            wide.lay_out(1_000);
            prop_assert_eq!(&wide, &table);
            prop_assert_eq!(crate::digest::Digest::of(&wide), crate::digest::Digest::of(&table));
        }
    }
}
