//! The cluster with its controllers running: how a world drives them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pilotage_core::time::Timestamp;

use super::instruction::{Incident, Rules};
use super::settings::Settings;
use super::{ActionId, Controllers, volumes};
use crate::cluster::Cluster;

impl Cluster {
    /// Starts the controllers, or starts them anew: they register their nodes and look at everything that is there.
    /// Without them the cluster is an API server alone.
    pub fn start_controllers(&mut self, at: Timestamp, settings: Settings) {
        let mut controllers = Box::new(Controllers::new(settings));
        volumes::found(self, at, controllers.settings.storage.as_ref());
        controllers.start(self, at);
        self.controllers = Some(controllers);
    }

    /// Runs everything that is due at this moment, and what becomes due by it, until nothing is left for this moment.
    pub fn advance(&mut self, at: Timestamp) {
        self.with_controllers(|controllers, cluster| controllers.advance(cluster, at));
    }

    /// The next moment at which a controller has something to do.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.controllers.as_ref()?.wake_at()
    }

    /// What the controllers could do at this moment, in the order in which [`Cluster::advance`] would.
    pub fn pending(&self, at: Timestamp) -> Vec<ActionId> {
        self.controllers
            .as_ref()
            .map_or_else(Vec::new, |controllers| controllers.pending(at))
    }

    /// Runs one pass of one controller: one of [`Cluster::pending`], in any order.
    pub fn run(&mut self, at: Timestamp, action: &ActionId) {
        self.with_controllers(|controllers, cluster| controllers.run(cluster, at, action));
    }

    /// How containers behave from now on, instead of what was said before.
    pub fn instruct(&mut self, at: Timestamp, rules: Rules) {
        self.with_controllers(|controllers, _| controllers.instruct(at, rules));
    }

    /// Something happens to a node or a pod, once.
    pub fn befall(&mut self, at: Timestamp, incident: Incident) {
        self.with_controllers(|controllers, cluster| controllers.befall(cluster, at, incident));
    }

    /// Tells the controllers what a request changed. The controllers' own requests come here too, while they are taken out:
    /// each of them looks once, at the end of its pass.
    pub(in crate::cluster) fn tell_controllers(&mut self, at: Timestamp) {
        self.with_controllers(|controllers, cluster| {
            controllers.remember_ended(cluster);
            controllers.observe(cluster, at);
        });
    }

    fn with_controllers(&mut self, work: impl FnOnce(&mut Controllers, &mut Cluster)) {
        if let Some(mut controllers) = self.controllers.take() {
            work(&mut controllers, self);
            self.controllers = Some(controllers);
        }
    }
}
