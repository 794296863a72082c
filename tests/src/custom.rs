//! Custom resources of Pilotage on a control plane, as somebody sees and changes them who knows nothing of records.

use serde_json::{Value, json};

use crate::control_plane::{Answer, Call, Client, ControlPlane};

/// The address of the API group.
const ROOT: &str = "/apis/pilotage.dev/v1alpha1";

/// The custom resources of a cluster. Places are below the address of the API group, as `models/shop`.
#[derive(Clone, Debug)]
pub struct Custom {
    client: Client,
}

impl Custom {
    /// Those of a control plane, by the user `alice`.
    pub fn of(control_plane: &ControlPlane) -> Custom {
        Custom {
            client: control_plane.client().clone(),
        }
    }

    fn call(&self, method: &str, path: &str, content: &str, body: Option<&Value>) -> Answer {
        let call = Call {
            who: "alice",
            method,
            path,
            query: &[],
            content_type: content,
            body,
        };
        self.client.call(&call).expect("the server answers")
    }

    /// One object, or a list; null if it is not there.
    ///
    /// # Panics
    /// If the server does not answer, or says no.
    pub fn get(&self, place: &str) -> Value {
        let answer = self.call("GET", &format!("{ROOT}/{place}"), "", None);
        match answer.status {
            404 => Value::Null,
            _ => answer.expect(200),
        }
    }

    /// Makes an object in a collection, or says why not.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn create(&self, place: &str, object: &Value) -> Answer {
        let path = format!("{ROOT}/{place}");
        self.call("POST", &path, "application/json", Some(object))
    }

    /// Changes an object by a JSON patch.
    ///
    /// # Panics
    /// If the server does not answer, or says no.
    pub fn patch(&self, place: &str, patch: &Value) -> Value {
        let content = "application/json-patch+json";
        let path = format!("{ROOT}/{place}");
        self.call("PATCH", &path, content, Some(patch)).expect(200)
    }

    /// Changes an object by a merge patch, or says why not.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn merge(&self, place: &str, patch: &Value) -> Answer {
        let content = "application/merge-patch+json";
        let path = format!("{ROOT}/{place}");
        self.call("PATCH", &path, content, Some(patch))
    }

    /// Deletes an object.
    ///
    /// # Panics
    /// If the server does not answer, or says no.
    pub fn delete(&self, place: &str) {
        self.call("DELETE", &format!("{ROOT}/{place}"), "", None)
            .expect(200);
    }

    /// Takes everything away, whatever holds it.
    ///
    /// # Panics
    /// If the server does not answer, or says no.
    pub fn wipe(&self) {
        for kind in ["applications", "storages", "models"] {
            let all = self.get(kind);
            for object in all["items"].as_array().into_iter().flatten() {
                let metadata = &object["metadata"];
                let name = metadata["name"].as_str().unwrap_or_default();
                let place = match metadata["namespace"].as_str() {
                    Some(namespace) => format!("namespaces/{namespace}/{kind}/{name}"),
                    None => format!("{kind}/{name}"),
                };
                let released = self.merge(&place, &json!({ "metadata": { "finalizers": null } }));
                if released.status == 200 && metadata["deletionTimestamp"].is_null() {
                    self.delete(&place);
                }
            }
        }
        let query = [("labelSelector".to_owned(), "pilotage.dev/vault".to_owned())];
        let secrets = self.client.call(&Call {
            who: "alice",
            method: "GET",
            path: "/api/v1/secrets",
            query: &query,
            content_type: "",
            body: None,
        });
        let secrets = secrets.expect("the server answers");
        for secret in secrets.body["items"].as_array().into_iter().flatten() {
            let metadata = &secret["metadata"];
            let text = |key: &str| metadata[key].as_str().unwrap_or_default();
            let path = format!(
                "/api/v1/namespaces/{}/secrets/{}",
                text("namespace"),
                text("name")
            );
            self.call("DELETE", &path, "", None);
        }
    }
}
