//! The core and its trace.

use pilotage_core::effect::Effect;
use pilotage_core::event::Event;
use pilotage_core::provisioner::{Config, Provisioner};
use pilotage_core::time::Timestamp;
use pilotage_core::trace::Recorded;

use std::sync::Arc;

use super::{Observer, RuntimeError, Settings};
use crate::trace::{Limits, Tracing, Writer};

/// Feeds the core, and writes down what it says before anybody acts on it.
pub(super) struct Pilot {
    core: Provisioner,
    trace: Option<Writer>,
    every_step: bool,
    observer: Arc<dyn Observer>,
    now: Timestamp,
    wake_at: Option<Timestamp>,
}

impl Pilot {
    pub(super) fn new(
        config: Config,
        settings: &Settings,
        at: Timestamp,
    ) -> Result<Self, RuntimeError> {
        let core = Provisioner::new(config.clone());
        let (trace, every_step) = match &settings.tracing {
            Tracing::Off => (None, false),
            Tracing::On { folder, every_step } => {
                let begun = Writer::begin(folder.clone(), Limits::default(), config, &core, at);
                let writer = begun.map_err(|source| RuntimeError::Trace {
                    folder: folder.clone(),
                    source,
                })?;
                (Some(writer), *every_step)
            }
        };
        Ok(Pilot {
            core,
            trace,
            every_step,
            observer: settings.observer.clone(),
            now: at,
            wake_at: None,
        })
    }

    /// When the core wants a timer.
    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        self.wake_at
    }

    /// One step. A clock that was set back stands still until it has caught up: what is left out of a trace must not
    /// matter to what is in it.
    pub(super) fn step(&mut self, at: Timestamp, event: Event) -> Vec<Effect> {
        let at = self.now.max(at);
        self.now = at;
        if let Event::SourceFailed { source, reason } = &event {
            self.observer.warning(&format!(
                "{source:?} cannot be read: {reason}; trying again"
            ));
        }
        self.observer.event(&event);
        let told = self.trace.is_some().then(|| event.clone());
        let step = self.core.step(at, event);
        let something = step.changed || !step.effects.is_empty() || step.wake_at != self.wake_at;
        self.wake_at = step.wake_at;
        if let (Some(event), true) = (told, something || self.every_step) {
            self.write(Recorded {
                sequence: 0,
                at,
                event,
                effects: step.effects.clone(),
                wake_at: step.wake_at,
                digest: None,
            });
        }
        step.effects
    }

    fn write(&mut self, step: Recorded) {
        let Some(trace) = &mut self.trace else { return };
        if let Err(error) = trace.step(step, &self.core) {
            // Applications matter more than their trace.
            self.observer.warning(&format!(
                "the trace ends here, it cannot be written: {error}"
            ));
            self.trace = None;
        }
    }
}
