//! Where the simulated cluster is known to do something else, and why it may. The limits in the README repeat this table.

use super::Difference;

/// One known difference.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What differs.
    pub what: &'static str,
    /// Why that is so, and why it does not matter.
    pub because: &'static str,
    /// The transcript in which it shows.
    transcript: &'static str,
    /// How the places begin at which it shows.
    places: &'static [&'static str],
}

/// All of them. There may be five, and none in a field that a manifest or an invariant reads.
pub const KNOWN: &[Known] = &[
    Known {
        what: "mutating admission policies are not served, so nothing rewrites a field",
        because: "the simulated server has no admission chain beyond what every cluster needs",
        transcript: "k27-admission-rewrites",
        places: &[
            "/apis/admissionregistration.k8s.io/",
            "PATCH /api/v1/namespaces/k27-admission-rewrites/configmaps/web /data/key",
            "GET /api/v1/namespaces/k27-admission-rewrites/configmaps/web /data/key",
        ],
    },
    Known {
        what: "the first write of a claim makes no version where it changes nothing",
        because: "what is kept there looks the same before and after it, and nobody rests on a version that nothing changed",
        transcript: "written-again",
        places: &[
            "PATCH /api/v1/namespaces/written-again/persistentvolumeclaims/web /metadata/resourceVersion",
            "events of PersistentVolumeClaim web",
        ],
    },
];

impl Known {
    /// Whether a difference is this one.
    pub fn covers(&self, difference: &Difference) -> bool {
        difference.transcript == self.transcript
            && self
                .places
                .iter()
                .any(|place| difference.place.starts_with(place))
    }
}
