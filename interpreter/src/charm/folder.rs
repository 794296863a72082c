//! The charms folder: where charms are that are named, not pointed at.
//!
//! Scripts and bundles name charms of a store. Pilotage has no store; a folder of charms, named by `--charms` or the
//! environment variable `PILOTAGE_CHARMS`, takes its place: `ledger` and `ch:ledger` are `FOLDER/ledger`, or
//! `FOLDER/ledger.charm`.

use std::path::{Path, PathBuf};

use pilotage_core::charm::names;

/// A folder of charms, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharmsFolder(Option<PathBuf>);

/// What an argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Something at a path.
    Path(PathBuf),
    /// A revision of a charm that the model knows: `local:<charm>-<revision>`.
    Known {
        /// Name of the charm.
        charm: String,
        /// Its revision.
        revision: u64,
    },
}

/// A charm that is neither a path nor in the charms folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "charm {0:?} is not a local path and not in the charms folder; Pilotage deploys local charms and bundles only"
)]
pub struct NotInFolder(pub String);

impl CharmsFolder {
    /// A folder of charms, or none.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self(folder)
    }

    /// Finds what an argument names. A path is relative to `base`; a name is looked up in the folder.
    ///
    /// # Errors
    ///
    /// [`NotInFolder`], for a name. A path is not looked at, so that whoever opens it tells what is wrong.
    pub fn find(&self, argument: &str, base: &Path) -> Result<Source, NotInFolder> {
        if let Some(known) = argument.strip_prefix("local:") {
            return known
                .rsplit_once('-')
                .and_then(|(charm, revision)| {
                    Some(Source::Known {
                        charm: charm.into(),
                        revision: revision.parse().ok()?,
                    })
                })
                .ok_or_else(|| NotInFolder(argument.into()));
        }
        let is_path = argument.starts_with(['.', '/']) || base.join(argument).exists();
        if is_path && !argument.starts_with("ch:") {
            // Without the `.` of `./x`, which would only lengthen what is shown.
            return Ok(Source::Path(base.join(argument).components().collect()));
        }
        let missing = || NotInFolder(argument.into());
        let name = store_name(argument).ok_or_else(missing)?;
        let folder = self.0.as_ref().ok_or_else(missing)?;
        let candidates = [folder.join(name), folder.join(format!("{name}.charm"))];
        let found = candidates.into_iter().find(|path| path.exists());
        found.map(Source::Path).ok_or_else(missing)
    }
}

/// The charm's name in `ledger`, `ch:ledger`, `ch:amd64/jammy/ledger-5` or, from an older store, `cs:~owner/ledger`. Only
/// what has the form of a charm's name is looked up, so that no name leads out of the folder.
fn store_name(argument: &str) -> Option<&str> {
    let name = match argument.split_once(':') {
        None => argument,
        Some(("ch" | "cs", rest)) => {
            let last = rest.rsplit('/').next().unwrap_or(rest);
            match last.rsplit_once('-') {
                Some((name, revision))
                    if !revision.is_empty()
                        && revision.bytes().all(|byte| byte.is_ascii_digit()) =>
                {
                    name
                }
                _ => last,
            }
        }
        Some(_) => return None,
    };
    names::check_application(name).is_ok().then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_in_the_folder_and_a_path_is_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ledger")).unwrap();
        std::fs::write(folder.path().join("web.charm"), "").unwrap();
        let charms = CharmsFolder::new(Some(folder.path().into()));
        let base = Path::new("/nowhere");
        let found = |argument: &str| charms.find(argument, base);
        let path = |name: &str| Ok(Source::Path(folder.path().join(name)));
        assert_eq!(found("ledger"), path("ledger"));
        assert_eq!(found("ch:ledger"), path("ledger"));
        assert_eq!(found("ch:amd64/jammy/ledger-5"), path("ledger"));
        assert_eq!(found("cs:~owner/web"), path("web.charm"));
        assert_eq!(
            found("./ledger"),
            Ok(Source::Path("/nowhere/ledger".into()))
        );
        for missing in ["other", "ch:other", "ch:..", "a/../b", "http://x", ""] {
            assert_eq!(found(missing), Err(NotInFolder(missing.into())));
        }
    }

    #[test]
    fn a_known_revision_is_told_apart() {
        let known = CharmsFolder::default().find("local:my-charm-3", Path::new("."));
        assert_eq!(
            known,
            Ok(Source::Known {
                charm: "my-charm".into(),
                revision: 3
            })
        );
    }

    #[test]
    fn without_a_folder_a_name_is_refused_with_the_reason() {
        let missing = CharmsFolder::default()
            .find("ledger", Path::new("/nowhere"))
            .unwrap_err();
        assert_eq!(
            missing.to_string(),
            "charm \"ledger\" is not a local path and not in the charms folder; Pilotage deploys local charms and \
             bundles only"
        );
    }
}
