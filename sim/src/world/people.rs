//! What people do in a world: the commands that users give, and what hands do to objects.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

use pilotage_core::kubernetes::Kind;
use pilotage_core::kubernetes::labels::MANAGED_BY;
use pilotage_core::kubernetes::names;
use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::secret::{self, Placeholder, SecretRef};
use pilotage_core::state::{
    ApplicationCommand, Caller, CharmOrigin, Command, Login, ModelCommand, Refresh, RemovalWish,
    ResourceValue,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cluster::effects;
use crate::cluster::request::{Propagation, Request, Response, Subresource, Verb};
use crate::workload;
use crate::world::World;

/// The value that must never be seen outside the vault and the cluster.
pub const CANARY: &str = "canary-9d1f7c55";

/// What a hand does to an object of an application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// Takes the label off that says that we manage it.
    Unlabel(Kind),
    /// Changes the image in the pod template.
    Template,
    /// Sets the number of pods.
    Scale(u32),
    /// Deletes it; a pod is the one with number 0.
    Delete(Kind),
    /// Gives all rights to the application's role.
    Rights,
}

impl World {
    /// A user deploys [`workload::ledger`] with an image that needs a login, whose password is [`CANARY`].
    pub fn deploy_private(&mut self, model: Uid, name: &str, scale: u32) -> Uid {
        let application = self.store.draw_uid();
        let mut new = workload::ledger_application(model, name, scale);
        let secret = SecretRef {
            application,
            name: "ledger-image".into(),
            generation: 1,
        };
        let placeholder = Placeholder::DockerConfig {
            secret: secret.clone(),
            registry: "registry.example".into(),
            username: "clerk".into(),
        };
        let data = json!({ ".dockerconfigjson": placeholder.render(CANARY) });
        let login = Login {
            username: "clerk".to_string(),
            secret: secret.clone(),
            fingerprint: secret::fingerprint(self.key, &data),
        };
        let image = ResourceValue::Image {
            path: "registry.example/ledger:1".to_string(),
            login: Some(login),
        };
        new.resources.insert("ledger-image".to_string(), image);
        let command = Command::Application {
            application,
            caller: Caller::User,
            expect: None,
            body: ApplicationCommand::Add(Box::new(new)),
        };
        let values = [(secret, String::from(CANARY))];
        self.store.execute(self.now, &command, &values);
        application
    }

    /// A hand changes an object of an application; nothing if it is not there.
    pub fn edit(&mut self, namespace: &str, application: &str, edit: &Edit) {
        let kind = match edit {
            Edit::Unlabel(kind) | Edit::Delete(kind) => *kind,
            Edit::Template | Edit::Scale(_) => Kind::StatefulSet,
            Edit::Rights => Kind::Role,
        };
        let name = match kind {
            Kind::Pod => names::pod(application, 0),
            Kind::ClusterRole | Kind::ClusterRoleBinding => {
                names::cluster_role(namespace, application)
            }
            Kind::Secret => names::pull_secret(application, "ledger"),
            Kind::Namespace => namespace.to_string(),
            _ => application.to_string(),
        };
        let patch = |body: Value| Verb::MergePatch { body };
        let verb = match edit {
            Edit::Unlabel(_) => patch(json!({"metadata": {"labels": {MANAGED_BY: null}}})),
            Edit::Template => patch(json!({"spec": {"template": {"spec": {"containers": [
                {"name": "ledger", "image": "elsewhere.example/other:9"},
            ]}}}})),
            Edit::Scale(replicas) => patch(json!({"spec": {"replicas": replicas}})),
            Edit::Delete(_) => Verb::Delete {
                uid: None,
                version: None,
                propagation: Propagation::Background,
                grace: None,
            },
            Edit::Rights => patch(json!({"rules": [
                {"apiGroups": ["*"], "resources": ["secrets"], "verbs": ["*"]},
            ]})),
        };
        let subresource = matches!(edit, Edit::Scale(_)).then_some(Subresource::Scale);
        let namespace = kind.namespaced().then(|| namespace.into());
        self.by_hand(Request {
            manager: "kubectl-edit".into(),
            resource: effects::resource(kind),
            namespace,
            name: name.into(),
            subresource,
            verb,
        });
    }

    /// A request of somebody else.
    pub fn by_hand(&mut self, request: Request) -> Response {
        self.cluster.request(self.now, request)
    }

    /// A user's command about an application.
    pub fn command(&mut self, application: Uid, body: ApplicationCommand) -> Outcome {
        let command = Command::Application {
            application,
            caller: Caller::User,
            expect: None,
            body,
        };
        self.store.execute(self.now, &command, &[])
    }

    /// A user adds a model.
    pub fn add_model(&mut self, name: &str) -> Uid {
        let model = self.store.draw_uid();
        let body = ModelCommand::Add {
            name: name.into(),
            settings: BTreeMap::new(),
        };
        self.model_command(model, body);
        model
    }

    /// A user's command about a model.
    pub fn model_command(&mut self, model: Uid, body: ModelCommand) -> Outcome {
        let command = Command::Model {
            model,
            caller: Caller::User,
            expect: None,
            body,
        };
        self.store.execute(self.now, &command, &[])
    }

    /// A user deploys [`workload::ledger`].
    pub fn deploy(&mut self, model: Uid, name: &str, scale: u32) -> Uid {
        let application = self.store.draw_uid();
        let new = workload::ledger_application(model, name, scale);
        self.command(application, ApplicationCommand::Add(Box::new(new)));
        application
    }

    /// A user refreshes an application to another revision of the same charm.
    pub fn refresh(&mut self, application: Uid, revision: u32) -> Outcome {
        let origin = CharmOrigin {
            revision,
            version: None,
        };
        let filesystems = workload::ledger_application(Uid(0), "", 0).filesystems;
        let body = ApplicationCommand::Refresh(Box::new(Refresh {
            charm: Some((Arc::new(workload::ledger()), origin)),
            resources: BTreeMap::new(),
            config: BTreeMap::new(),
            settings: BTreeMap::new(),
            storage: BTreeMap::new(),
            filesystems,
            trust: None,
            base: None,
        }));
        self.command(application, body)
    }

    /// A user removes an application.
    pub fn remove(&mut self, application: Uid, destroy_storage: bool, force: bool) -> Outcome {
        let wish = RemovalWish {
            destroy_storage,
            force,
        };
        self.command(application, ApplicationCommand::Remove { wish })
    }
}
