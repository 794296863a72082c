//! What the API server was asked, by whom: its audit log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Call, Client, ControlPlane};
use crate::patience::until;

/// Every request is written down with its metadata, when it was answered; those of whoever plays a part of the cluster are not.
const POLICY: &str = r#"{
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [
        { "level": "Metadata", "nonResourceURLs": ["/version"] },
        { "level": "None", "users": ["scheduler", "kubelet", "provisioner", "recorder", "kube-controller-manager"] },
        { "level": "None", "userGroups": ["system:nodes", "system:serviceaccounts"] },
        { "level": "None", "users": ["system:apiserver", "system:anonymous"] },
        { "level": "Metadata" }
    ]
}"#;

/// The flags that make an API server keep its log in a folder; writes its policy there.
pub(super) fn flags(folder: &Path) -> std::io::Result<[(&'static str, String); 2]> {
    let policy = folder.join("audit-policy.json");
    std::fs::write(&policy, POLICY)?;
    Ok([
        ("audit-policy-file", policy.display().to_string()),
        ("audit-log-path", log(folder).display().to_string()),
    ])
}

fn log(folder: &Path) -> PathBuf {
    folder.join("audit.log")
}

/// One request, as the server's log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub verb: String,
    /// The plural of the kind, with the subresource: `statefulsets/scale`; empty where the address is no object's.
    pub resource: String,
    /// The namespace; empty where there is none.
    pub namespace: String,
    /// The name; of what is made it is known only if the client said it in the address.
    pub name: String,
    /// The address with its query.
    pub uri: String,
    /// The HTTP status; of a watch that goes on, that it began with.
    pub code: u16,
}

impl Asked {
    /// Whether it was to change something.
    pub fn writes(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
    }
}

/// Requests by verb and resource.
pub fn count(asked: &[Asked]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for Asked { verb, resource, .. } in asked {
        *counts.entry(format!("{verb} {resource}")).or_default() += 1;
    }
    counts
}

/// A line of the log.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "auditID")]
    id: String,
    verb: String,
    user: User,
    #[serde(rename = "requestURI")]
    uri: String,
    #[serde(default)]
    object_ref: Object,
    #[serde(default)]
    response_status: Status,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Object {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Default, Deserialize)]
struct Status {
    code: u16,
}

impl ControlPlane {
    /// Everything that a user has asked since the server was first started, in the order in which it was answered (of
    /// watches, begun).
    ///
    /// # Panics
    ///
    /// If the log does not show what was asked last.
    pub fn asked(&self, user: &str) -> Vec<Asked> {
        let path = log(self.folder());
        let mark = format!("/version?mark={}", length(&path));
        ask(self.client(), &mark);
        let text = until("the audit log shows the last request", || {
            let text = std::fs::read_to_string(&path).ok()?;
            (text.ends_with('\n') && text.contains(&mark)).then_some(text)
        });
        let mut known = BTreeSet::new();
        let lines = text.lines().map(|line| {
            let read: Result<Line, _> = serde_json::from_str(line);
            read.unwrap_or_else(|error| panic!("a line of the audit log: {error}: {line}"))
        });
        lines
            // A watch is written down when it begins, and again when it ends.
            .filter(|line| line.user.username == user && known.insert(line.id.clone()))
            .map(|line| {
                let Object {
                    resource,
                    subresource,
                    namespace,
                    name,
                } = line.object_ref;
                let resource = match subresource.as_str() {
                    "" => resource,
                    subresource => format!("{resource}/{subresource}"),
                };
                Asked {
                    verb: line.verb,
                    resource,
                    namespace,
                    name,
                    uri: line.uri,
                    code: line.response_status.code,
                }
            })
            .collect()
    }
}

fn length(path: &Path) -> u64 {
    path.metadata().map(|file| file.len()).unwrap_or_default()
}

fn ask(client: &Client, uri: &str) {
    let answer = client.call(&Call {
        who: "recorder",
        method: "GET",
        path: uri,
        query: &[],
        content_type: "",
        body: None,
    });
    answer.expect("the server answers").expect(200);
}
