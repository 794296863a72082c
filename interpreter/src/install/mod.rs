//! What a cluster needs so that Pilotage runs in it: the objects that `pilotage manifests` prints, and that the chart in
//! `interpreter/install/chart` renders (a test compares the two).

mod access;
mod workload;

use serde_json::{Value, json};

use crate::cluster::OWN_NAMESPACE;
use crate::store::kubernetes::definitions;

/// Where trusted applications may do everything, and so what Pilotage may grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Nowhere: the API server refuses the roles of an application that is trusted.
    Nowhere,
    /// In their namespace.
    Namespace,
    /// In the whole cluster.
    Cluster,
}

impl Trust {
    /// Every scope, by its name.
    pub const ALL: [(&'static str, Trust); 3] = [
        ("none", Trust::Nowhere),
        ("namespace", Trust::Namespace),
        ("cluster", Trust::Cluster),
    ];
}

/// What is to be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// Where the pods run.
    pub namespace: String,
    /// The image that holds the program.
    pub image: String,
    /// What it may grant.
    pub trust: Trust,
}

/// The name of everything that is made.
const NAME: &str = "pilotage";

impl Install {
    /// The objects, in the order in which they are to be applied.
    pub fn objects(&self) -> Vec<Value> {
        let mut objects = definitions();
        objects.push(namespace(OWN_NAMESPACE));
        if self.namespace != OWN_NAMESPACE {
            objects.push(namespace(&self.namespace));
        }
        objects.extend([
            self.account(),
            self.cluster_role(),
            self.cluster_role_binding(),
            self.role(),
            self.role_binding(),
            self.deployment(),
            self.disruption_budget(),
        ]);
        objects
    }

    fn metadata(&self) -> Value {
        json!({ "name": NAME, "namespace": self.namespace, "labels": self.labels() })
    }

    /// Of an object of the whole cluster.
    fn cluster_metadata(&self) -> Value {
        json!({ "name": self.shared_name(), "labels": self.labels() })
    }

    /// Of an object where all who act on a state meet.
    fn meeting_metadata(&self) -> Value {
        json!({ "name": self.shared_name(), "namespace": OWN_NAMESPACE, "labels": self.labels() })
    }

    /// Two installations do not share what is not in their own namespaces.
    fn shared_name(&self) -> String {
        format!("{NAME}:{}", self.namespace)
    }

    /// What tells our objects. Not the label that marks what is ours in models: nothing here is for us to tend.
    fn labels(&self) -> Value {
        json!({ "app.kubernetes.io/name": NAME })
    }
}

fn namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {
                "app.kubernetes.io/name": NAME,
                "pod-security.kubernetes.io/enforce": "restricted",
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::output::yaml;

    fn install(trust: Trust) -> Install {
        Install {
            namespace: "pilotage-system".into(),
            image: "registry.example/pilotage:1".into(),
            trust,
        }
    }

    #[test]
    fn the_objects_are_these() {
        for (name, trust) in Trust::ALL {
            let objects = install(trust).objects();
            // What the definitions say is for the suite of the state in the cluster to look at.
            let (definitions, others) = objects.split_at(3);
            for definition in definitions {
                assert_eq!(definition["kind"], "CustomResourceDefinition");
            }
            let others: Vec<String> = others.iter().map(yaml).collect();
            insta::assert_snapshot!(name, others.join("---\n"));
        }
    }

    #[test]
    fn the_chart_has_the_definitions_of_this_release() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/install/chart/templates/definitions.yaml"
        );
        let mut text = String::from(
            "# Made by a test from the definitions in the program; to make it anew:\n\
             # PILOTAGE_WRITE_CHART=1 cargo test -p pilotage-interpreter the_chart_has\n",
        );
        for mut definition in definitions() {
            // What users have deployed is not to go with the chart.
            let keep = "helm.sh/resource-policy";
            definition["metadata"]["annotations"][keep] = json!("keep");
            text.push_str(&format!("---\n{}", yaml(&definition)));
        }
        assert!(!text.contains("{{"), "this would be a template");
        if std::env::var_os("PILOTAGE_WRITE_CHART").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == text,
            "{path} is old; its first lines say what makes it anew"
        );
    }

    #[test]
    fn to_grant_more_than_one_has_is_asked_for_only_where_trust_may_be_granted() {
        for (name, trust) in Trust::ALL {
            let objects = install(trust).objects();
            let granting: Vec<(String, &Value)> = objects
                .iter()
                .flat_map(|object| object["rules"].as_array().into_iter().flatten())
                .filter(|rule| {
                    let verbs = rule["verbs"].as_array().into_iter().flatten();
                    verbs
                        .into_iter()
                        .any(|verb| verb == "escalate" || verb == "bind")
                })
                .map(|rule| (rule["resources"].to_string(), &rule["verbs"]))
                .collect();
            let both = json!(["escalate", "bind"]);
            let expected: Vec<(String, &Value)> = match trust {
                Trust::Nowhere => Vec::new(),
                Trust::Namespace => vec![(r#"["roles"]"#.into(), &both)],
                Trust::Cluster => vec![(r#"["roles","clusterroles"]"#.into(), &both)],
            };
            assert_eq!(granting, expected, "{name}");
            // Nothing is allowed for what is not named.
            let rules = objects.iter().map(|object| &object["rules"]);
            let rules: Vec<&Value> = rules.collect();
            assert!(!json!(rules).to_string().contains("\"*\""), "{name}");
        }
    }
}
