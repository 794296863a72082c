//! A model's namespace.

use serde_json::{Value, json};

use super::{Kind, Manifest, build};
use crate::kubernetes::Key;
use crate::kubernetes::labels::{self, Labels};
use crate::state::ModelView;

/// Annotation: the model's name, for people who look at the namespace.
const MODEL_NAME: &str = "pilotage.dev/model-name";

/// The namespace of a model that owns its namespace.
pub fn namespace(model: &ModelView) -> Manifest {
    let labels: Labels = [
        (labels::MANAGED_BY, labels::PILOTAGE.into()),
        (labels::MODEL, alloc::format!("{}", model.uid)),
    ]
    .into_iter()
    .collect();
    let key = Key::new(Kind::Namespace, "", &model.namespace);
    let mut manifest = build(key, &labels, json!({}));
    if let Some(Value::Object(metadata)) = manifest.body.get_mut("metadata") {
        metadata.insert("annotations".into(), json!({ MODEL_NAME: model.name }));
    }
    manifest
}
