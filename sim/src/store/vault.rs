//! Secret values.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use core::fmt;

use pilotage_core::name::Uid;
use pilotage_core::secret::SecretRef;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Value(Box<str>);

impl fmt::Debug for Value {
    // A state is printed when something is wrong with it; its secrets are not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Value(…)")
    }
}

/// Values by what names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Vault(BTreeMap<SecretRef, Value>);

impl Vault {
    /// Keeps a value. The first one stays: whoever names it again means the same.
    pub(super) fn put(&mut self, secret: &SecretRef, value: &str) {
        self.0
            .entry(secret.clone())
            .or_insert_with(|| Value(value.into()));
    }

    pub(super) fn get(&self, secret: &SecretRef) -> Option<&str> {
        self.0.get(secret).map(|value| &*value.0)
    }

    /// Forgets what an application no longer needs.
    pub(super) fn keep(&mut self, application: Uid, needs: impl Fn(&SecretRef) -> bool) {
        self.0
            .retain(|secret, _| secret.application != application || needs(secret));
    }

    pub(super) fn drop_all_of(&mut self, application: Uid) {
        self.0.retain(|secret, _| secret.application != application);
    }
}
