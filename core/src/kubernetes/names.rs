//! Names of an application's objects (reference, 12.1 to 12.5 and 8.9). One function each, so that what is checked at
//! deploy is what is made later.

use alloc::format;
use alloc::string::String;

use crate::name::Uid;

/// The Service that only names the pods.
pub fn endpoints(application: &str) -> String {
    format!("{application}-endpoints")
}

/// The pull secret of a container.
pub fn pull_secret(application: &str, container: &str) -> String {
    format!("{application}-{container}-secret")
}

/// The cluster role and its binding. No two of namespace and application give the same (reference, ODD-28): neither
/// holds a colon.
pub fn cluster_role(namespace: &str, application: &str) -> String {
    format!("pilotage:{namespace}:{application}")
}

/// A volume of the pod that is no claim.
pub fn volume(application: &str, storage: &str, index: Option<u32>) -> String {
    match index {
        Some(index) => format!("{application}-{storage}-{index}"),
        None => format!("{application}-{storage}"),
    }
}

/// A claim template, and the pod's volume of the claim. The uid makes claims of another life of the name others (B43).
pub fn claim_template(
    application: &str,
    storage: &str,
    index: Option<u32>,
    application_uid: Uid,
) -> String {
    format!(
        "{}-{}",
        volume(application, storage, index),
        application_uid.short()
    )
}

/// The claim that the StatefulSet controller makes of a template for the pod of that ordinal.
pub fn claim(template: &str, application: &str, ordinal: u32) -> String {
    format!("{template}-{application}-{ordinal}")
}

/// The storage, its index and the unit that a claim of an application is of, by its name; none if the claim was made by
/// something else than a StatefulSet of ours.
///
/// A storage's name has a letter between any two hyphens and after the last, so a number at the end is an index.
pub fn parts_of_claim(
    application: &str,
    application_uid: Uid,
    claim: &str,
) -> Option<(String, Option<u32>, u32)> {
    let between = format!("-{}-{application}-", application_uid.short());
    let (volume, unit) = claim.rsplit_once(between.as_str())?;
    let storage = volume.strip_prefix(application)?.strip_prefix('-')?;
    let unit = number(unit)?;
    let indexed = storage.rsplit_once('-');
    let indexed = indexed.and_then(|(storage, index)| Some((storage, number(index)?)));
    Some(match indexed {
        Some((storage, index)) => (storage.into(), Some(index), unit),
        None => (storage.into(), None, unit),
    })
}

/// The pod of a unit.
pub fn pod(application: &str, ordinal: u32) -> String {
    format!("{application}-{ordinal}")
}

/// The ordinal in the name of a pod of that application.
pub fn ordinal(application: &str, pod: &str) -> Option<u32> {
    number(pod.strip_prefix(application)?.strip_prefix('-')?)
}

/// A number as it is written in names: in one way only.
fn number(digits: &str) -> Option<u32> {
    let canonical = digits == "0" || !digits.starts_with(['0', '+']);
    canonical.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_ordinal_of_a_pod_is_its_units_number(app in "[a-z][a-z0-9-]{0,20}", number: u32) {
            prop_assert_eq!(ordinal(&app, &pod(&app, number)), Some(number));
        }
    }

    proptest! {
        #[test]
        fn a_claims_name_says_what_it_is_of(
            app in "[a-z][a-z0-9]{0,6}(-[a-z0-9]{0,3}[a-z][a-z0-9]{0,3}){0,2}",
            storage in "[a-z][a-z0-9]{0,6}(-[a-z0-9]{0,3}[a-z][a-z0-9]{0,3}){0,2}",
            index: Option<u32>,
            uid: u128,
            unit: u32,
        ) {
            let template = claim_template(&app, &storage, index, Uid(uid));
            let name = claim(&template, &app, unit);
            prop_assert_eq!(parts_of_claim(&app, Uid(uid), &name), Some((storage, index, unit)));
            prop_assert_eq!(parts_of_claim(&app, Uid(!uid), &name), None);
        }
    }

    #[test]
    fn a_pod_of_another_form_has_no_ordinal() {
        for pod in [
            "web",
            "web-",
            "web-x",
            "web-01",
            "web-+1",
            "webs-1",
            "web-1-2",
            "web-4294967296",
        ] {
            assert_eq!(ordinal("web", pod), None, "{pod}");
        }
    }
}
