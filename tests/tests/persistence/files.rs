//! Files: made by the first write, for their owner alone; what is not ours is left as it is, and said so.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pilotage_core::name::Uid;
use pilotage_core::time::Timestamp;
use pilotage_interpreter::store::{self, Changes, Position, Snapshot, StoreError};
use tempfile::tempdir;

use super::{add, done};

#[test]
fn a_missing_state_reads_as_empty_and_no_read_makes_it() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("not/there/state.db");
    let store = store::open(&path);
    assert_eq!(store.snapshot().unwrap(), Snapshot::default());
    assert_eq!(
        store.changes_since(Position::default()).unwrap(),
        Changes::Events(vec![], Position::default())
    );
    assert_eq!(store.provisioner().unwrap(), None);
    let secret = pilotage_core::secret::SecretRef {
        application: Uid(1),
        name: "a".into(),
        generation: 1,
    };
    assert_eq!(store.secret(&secret).unwrap(), None);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_first_write_makes_file_and_folder_for_their_owner_alone() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("not/there/state.db");
    let store = store::open(&path);
    done(&*store, &add(1));
    let held = store.hold(Timestamp(1)).unwrap();
    let mut files = 0;
    for entry in fs::read_dir(path.parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.path());
        files += 1;
    }
    assert_eq!(files, 4, "state, its log, the log's index, and the lock");
    let mode = fs::metadata(path.parent().unwrap())
        .unwrap()
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(mode, 0o700);
    drop(held);
}

#[test]
fn a_reader_that_came_before_the_file_sees_it_once_it_is_there() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let reader = store::open(&path);
    assert_eq!(reader.snapshot().unwrap().models.len(), 0);
    // As another process leaves it that has just begun to make it.
    fs::write(&path, b"").unwrap();
    assert_eq!(reader.snapshot().unwrap().models.len(), 0);
    done(&*store::open(&path), &add(1));
    assert_eq!(reader.snapshot().unwrap().models.len(), 1);
}

#[test]
fn what_is_no_state_is_refused_and_left_as_it_is() {
    let folder = tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(
        &text,
        "not a database, but long enough to be looked at as one".repeat(40),
    )
    .unwrap();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (a INTEGER); INSERT INTO theirs VALUES (1)")
        .unwrap();
    for path in [text, other] {
        let before = fs::read(&path).unwrap();
        let store = store::open(&path);
        for error in [
            store.snapshot().unwrap_err(),
            store.execute(Timestamp(1), &add(1), &[]).unwrap_err(),
            store.fingerprint_key().unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
            let text = error.to_string();
            assert!(
                text.contains("--state") && text.contains(path.to_str().unwrap()),
                "{text}"
            );
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    let directory = store::open(folder.path());
    assert!(matches!(
        directory.snapshot().unwrap_err(),
        StoreError::Io { .. }
    ));
}

#[test]
fn a_state_of_a_later_release_is_refused_with_what_to_do() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    done(&*store::open(&path), &add(1));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    let store = store::open(&path);
    for error in [
        store.snapshot().unwrap_err(),
        store.execute(Timestamp(1), &add(2), &[]).unwrap_err(),
    ] {
        assert!(
            matches!(error, StoreError::Newer { theirs: 99, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_row_that_has_no_name_is_damage_of_the_whole_file() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    done(&*store::open(&path), &add(1));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute("UPDATE models SET uid = 'nobody'", [])
        .unwrap();
    let error = store::open(&path).snapshot().unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_change_that_cannot_be_read_is_lost_and_a_snapshot_goes_on() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = store::open(&path);
    done(&*store, &add(1));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute("UPDATE changes SET events = '[7]'", [])
        .unwrap();
    let nothing = Position::default();
    assert_eq!(store.changes_since(nothing).unwrap(), Changes::Lost);
    let position = store.snapshot().unwrap().position;
    assert_eq!(
        store.changes_since(position).unwrap(),
        Changes::Events(vec![], position)
    );
}

#[test]
fn a_state_remembers_its_cluster_and_refuses_another() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = store::open(&path);
    store.bind_cluster(Uid(7)).unwrap();
    store.bind_cluster(Uid(7)).unwrap();
    let error = store::open(&path).bind_cluster(Uid(8)).unwrap_err();
    let StoreError::OtherCluster { theirs, ours, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((theirs, ours), (Uid(7), Uid(8)));
}

#[test]
fn the_key_of_fingerprints_is_the_states_own_and_stays() {
    let folder = tempdir().unwrap();
    let (one, two) = (folder.path().join("one.db"), folder.path().join("two.db"));
    let key = store::open(&one).fingerprint_key().unwrap();
    assert!(store::open(&one).fingerprint_key().unwrap() == key);
    assert!(store::open(&two).fingerprint_key().unwrap() != key);
}
