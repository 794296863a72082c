//! One provisioner per state: a lock that ends with its process, beside the state, with the holder's name in it.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pilotage_core::digest::Digest;
use pilotage_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// Who runs a provisioner on a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// The machine that it runs on.
    pub host: String,
    /// Since when.
    pub since: Timestamp,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// Being the one provisioner of a state, until this is dropped or the process ends.
#[derive(Debug)]
pub struct Held {
    /// The lock is on the open file: it ends when the file is closed, and no crash leaves it behind. A state that is
    /// in no file has none: there a lease says who acts.
    lock: Option<File>,
    /// The state's file, if it is in one.
    state: Option<PathBuf>,
    /// As others see us.
    pub holder: Holder,
}

/// The files of a state, as they were when it was taken: by their places on the disk, whatever their names lead to later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark(Vec<(PathBuf, Place)>);

/// Device and number of a file.
type Place = (u64, u64);

fn place(path: &Path) -> Option<Place> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

impl Mark {
    /// Whether the names still lead to these files. Who writes to a file that nobody finds any more loses what is written,
    /// and a lock that nobody finds holds nobody off.
    ///
    /// # Errors
    /// [`StoreError::Replaced`].
    pub fn check(&self) -> Result<(), StoreError> {
        let replaced = self.0.iter().find(|(path, was)| place(path) != Some(*was));
        match replaced {
            None => Ok(()),
            Some((path, _)) => Err(StoreError::Replaced { path: path.clone() }),
        }
    }
}

impl Held {
    /// What is held, once the state is there. Nothing of a state that is in no file.
    pub fn mark(&self) -> Mark {
        let state = self.state.iter();
        let files = state.flat_map(|state| [state.clone(), lock_path(state)]);
        let files = files.filter_map(|path| place(&path).map(|place| (path, place)));
        Mark(files.collect())
    }

    /// Names this lock among all locks of all machines: whoever holds it has proof that every former holder of the
    /// same name is gone. None where the system does not tell one of its starts from another, or there is no lock.
    pub fn identity(&self) -> Option<String> {
        // A copy of the state has another lock, and a lock is forgotten when its machine is started again.
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let file = self.lock.as_ref()?.metadata().ok()?;
        let lock = Digest::of(&(boot.trim(), file.dev(), file.ino()));
        Some(format!("{}_{lock}", self.holder.host))
    }

    /// Being the provisioner of a state that is in no file.
    pub(super) fn elsewhere(at: Timestamp) -> Self {
        Held {
            lock: None,
            state: None,
            holder: this_process(at),
        }
    }
}

/// This process, as others see it.
fn this_process(at: Timestamp) -> Holder {
    Holder {
        pid: std::process::id(),
        host: host_name(),
        since: at,
    }
}

/// The name of this machine; in a pod, the pod's.
pub fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// Where the lock of a state lies.
pub fn lock_path(state: &Path) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io {
        action,
        path,
        source,
    }
}

/// Takes the lock of a state.
///
/// Whoever only asks who holds it takes it for a moment too, shared; so a lock that is taken is tried a few times.
///
/// # Errors
/// [`StoreError::Held`], or the lock's file cannot be made.
pub(super) fn hold(state: &Path, at: Timestamp) -> Result<Held, StoreError> {
    let path = lock_path(state);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(io("open", &path))?;
    for attempt in 0_u32.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if attempt < 20 => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Held {
                    path: state.to_owned(),
                    holder: read(&mut file).unwrap_or_else(unknown),
                });
            }
            Err(TryLockError::Error(source)) => return Err(io("lock", &path)(source)),
        }
    }
    // Somebody took the lock's file away while it was waited for.
    let locked = file.metadata().map_err(io("read", &path))?;
    if place(&path) != Some((locked.dev(), locked.ino())) {
        return Err(StoreError::Replaced { path });
    }
    let holder = this_process(at);
    write(&mut file, &holder).map_err(io("write", &path))?;
    Ok(Held {
        lock: Some(file),
        state: Some(state.to_owned()),
        holder,
    })
}

/// Who holds the lock of a state.
///
/// # Errors
/// The lock's file is there and cannot be read.
pub(super) fn holder(state: &Path) -> Result<Option<Holder>, StoreError> {
    let path = lock_path(state);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("open", &path)(error)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(read(&mut file).unwrap_or_else(unknown))),
        Err(TryLockError::Error(source)) => Err(io("lock", &path)(source)),
    }
}

fn write(file: &mut File, holder: &Holder) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&serde_json::to_vec(holder)?)
}

fn read(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Somebody has the lock and has not written who yet.
fn unknown() -> Holder {
    Holder {
        pid: 0,
        host: "an unnamed machine".into(),
        since: Timestamp::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_the_others_learn_who_and_the_lock_ends_with_the_holder() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state.db");
        assert_eq!(holder(&state).unwrap(), None);
        let held = hold(&state, Timestamp(7)).unwrap();
        assert_eq!(held.holder.pid, std::process::id());
        let identity = held.identity();
        assert_eq!(holder(&state).unwrap(), Some(held.holder.clone()));
        let refused = hold(&state, Timestamp(8)).unwrap_err();
        assert!(
            matches!(&refused, StoreError::Held { holder, .. } if *holder == held.holder),
            "{refused}"
        );
        drop(held);
        assert_eq!(holder(&state).unwrap(), None);
        let held = hold(&state, Timestamp(9)).unwrap();
        assert_eq!(held.identity(), identity, "it is the same lock");
        let copy = hold(&folder.path().join("copy.db"), Timestamp(9)).unwrap();
        if identity.is_some() {
            assert_ne!(copy.identity(), identity, "that is another");
        }
    }
}
