//! A volume is free, bound, or left by its claim.

use serde_json::json;

use super::super::client::CONTROLLER_MANAGER;
use super::super::{Next, Turn};
use super::{PROVISIONED_BY, annotation, destroy, volume_named};
use crate::cluster::object::{set_at, text_at};
use crate::cluster::resource::Resource;

pub(super) fn reconcile(turn: &mut Turn<'_>, name: &str) -> Next {
    let mut client = turn.client(CONTROLLER_MANAGER);
    let Some(volume) = volume_named(&client, name) else {
        return Next::Settled;
    };
    let reference = |field| text_at(&volume.value, &["spec", "claimRef", field]);
    let mut status = volume.value.get("status").cloned().unwrap_or(json!({}));
    let phase = text_at(&status, &["phase"]);
    if reference("uid").is_empty() {
        // Free, or kept for a claim that is not there yet.
        if phase == "Available" {
            return Next::Settled;
        }
        set_at(&mut status, &["phase"], json!("Available"));
        return Next::after(client.set_status(&volume, &status));
    }
    let claim = client.peek_in(
        Resource::PersistentVolumeClaim,
        reference("namespace"),
        reference("name"),
    );
    if claim.is_some_and(|claim| claim.uid() == reference("uid")) {
        return Next::Settled;
    }
    if phase != "Released" {
        set_at(&mut status, &["phase"], json!("Released"));
        if client.set_status(&volume, &status).is_err() {
            return Next::Retry;
        }
    }
    let delete = text_at(&volume.value, &["spec", "persistentVolumeReclaimPolicy"]) == "Delete";
    if delete && !volume.deleting() && annotation(&volume, PROVISIONED_BY).is_some() {
        return Next::after(destroy(&mut client, &volume));
    }
    Next::Settled
}
