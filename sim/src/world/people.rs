//! What people do in a world: the commands that a user gives.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use pilotage_core::name::Uid;
use pilotage_core::outcome::Outcome;
use pilotage_core::state::{
    ApplicationCommand, Caller, CharmOrigin, Command, ModelCommand, Refresh, RemovalWish,
};

use crate::workload;
use crate::world::World;

impl World {
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
