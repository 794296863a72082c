//! `--dry-run`: what would be made, without making it.

use pilotage_core::name::Uid;
use pilotage_core::state::NewApplication;

use super::super::failure::Done;
use super::super::session::Session;
use super::super::target::Target;
use super::super::wish::Wish;

/// Says what a deploy would make.
pub fn show(
    session: &mut Session<'_>,
    target: &Target,
    uid: Uid,
    new: NewApplication,
    wish: &Wish,
) -> Done {
    let _ = uid;
    let plural = if new.scale == 1 { "" } else { "s" };
    session.print_line(&format!(
        "would deploy application {} with {} unit{plural} using local charm {} in model {}",
        wish.name,
        new.scale,
        wish.charm.name,
        target.shown_name()
    ));
    for filesystem in &new.filesystems {
        session.print_line(&format!(
            "- each unit gets storage {} of {}M",
            filesystem.storage, filesystem.size_mib
        ));
    }
    Ok(())
}
