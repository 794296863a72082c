//! Secrets with which images are pulled (KAPP-13).

use serde_json::json;

use super::{Kind, Manifest, Site};
use crate::kubernetes::names;
use crate::secret::Placeholder;
use crate::state::{Login, ProvisionedContainer};

/// The pull secret of a container whose image needs a login. `data`, never `stringData` (fact K31).
pub fn pull_secret(site: Site<'_>, container: &ProvisionedContainer, login: &Login) -> Manifest {
    let placeholder = Placeholder::DockerConfig {
        secret: login.secret.clone(),
        registry: registry(&container.image).into(),
        username: login.username.as_str().into(),
    };
    site.manifest(
        Kind::Secret,
        &names::pull_secret(site.application, &container.name),
        json!({
            "type": "kubernetes.io/dockerconfigjson",
            "data": { ".dockerconfigjson": placeholder.to_value() },
        }),
    )
}

/// The registry of an image reference: its first part, if that can be a host; otherwise Docker's own, under the name
/// by which clients look it up.
pub fn registry(image: &str) -> &str {
    match image.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => host,
        _ => "https://index.docker.io/v1/",
    }
}
