//! Names that models may have (command line, 1.7), and names that applications share a namespace with (1.8).

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::charm::names::{self, Derived};

use super::{Application, Denial};

/// Checks every name that an application derives: its length, and that it is free among `others`, applications of the
/// same model that may derive it too (B114, B116).
///
/// # Errors
/// [`Denial::Names`], with all that is wrong.
pub(super) fn check_derived_names(
    namespace: &str,
    application: &Application,
    others: &[Arc<Application>],
) -> Result<(), Denial> {
    let derive = |one: &Application| {
        names::derive(
            &one.name,
            one.uid,
            namespace,
            &one.spec.charm,
            &one.spec.filesystems,
        )
    };
    let others: Vec<Derived> = others.iter().map(|other| derive(other)).collect();
    names::check(&derive(application), namespace, &others).map_err(Denial::Names)
}

/// Whether two applications may derive the same name. A derived name begins with the application's own, which ends at a
/// hyphen, so one of the two own names must begin the other.
pub(super) fn may_clash(name: &str, other: &str) -> bool {
    let begins = |long: &str, short: &str| {
        long.strip_prefix(short)
            .is_some_and(|rest| rest.starts_with('-'))
    };
    begins(name, other) || begins(other, name)
}

/// Checks a model's name: `^[a-z0-9]+[a-z0-9-]*$`, and a namespace can have it (Kubernetes: "Object Names and IDs", a
/// DNS label of at most 63 characters that ends with a letter or digit).
///
/// # Errors
/// [`Denial::ModelName`].
pub fn check_model_name(name: &str) -> Result<(), Denial> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let refuse = |because: &'static str| {
        Err(Denial::ModelName {
            name: name.into(),
            because,
        })
    };
    if !name.bytes().all(|byte| plain(byte) || byte == b'-')
        || !name.bytes().next().is_some_and(plain)
    {
        return refuse("model names may only contain lowercase letters, digits and hyphens");
    }
    if name.len() > 63 {
        return refuse("a model is a namespace of the same name, which has at most 63 characters");
    }
    if name.ends_with('-') {
        return refuse("a model is a namespace of the same name, which does not end with a hyphen");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_a_name_that_a_namespace_can_have() {
        assert_eq!(check_model_name("shop-2"), Ok(()));
        for bad in ["", "Shop", "-shop", "shop-", "sh_op", &"s".repeat(64)] {
            assert!(check_model_name(bad).is_err(), "{bad}");
        }
    }
}
