//! The fence around the pure half: the compiler keeps clocks, files, threads and sockets out.
//!
//! A fence that is never tried may have fallen long ago; so a copy of `core` that asks for the time must not compile,
//! and the same copy without the question must.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .expect("the project's root")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// A copy of the two pure packages as a workspace of their own.
fn pure_copy(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    copy(&root().join("core"), &folder.join("core"));
    copy(&root().join("sim"), &folder.join("sim"));
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let manifest = manifest
        .replace(
            "members = [\"core\", \"sim\", \"interpreter\", \"tests\"]",
            "members = [\"core\", \"sim\"]",
        )
        .replace("default-members = [\"interpreter\"]", "");
    let manifest: Vec<&str> = manifest
        .lines()
        .filter(|line| !line.starts_with("pilotage-interpreter"))
        .collect();
    fs::write(folder.join("Cargo.toml"), manifest.join("\n")).expect("a manifest");
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock");
}

/// Whether a package of the copy compiles, and what the compiler says.
fn compiles(folder: &Path, package: &str) -> (bool, String) {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--package", package])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn a_copy_of_core_or_sim_that_asks_for_the_time_does_not_compile() {
    let folder = std::env::temp_dir().join(format!("pilotage-fence-{}", std::process::id()));
    pure_copy(&folder);
    for package in ["core", "sim"] {
        let name = format!("pilotage-{package}");
        let (fine, said) = compiles(&folder, &name);
        assert!(fine, "the copy itself does not compile: {said}");
        let file = folder.join(package).join("src/lib.rs");
        let source = fs::read_to_string(&file).expect("the source");
        let asked = format!(
            "{source}\n/// Asks.\npub fn now() -> std::time::SystemTime {{ std::time::SystemTime::now() }}\n"
        );
        fs::write(&file, asked).expect("the source");
        let (fine, said) = compiles(&folder, &name);
        assert!(!fine, "{name} with a clock compiles: the fence is down");
        assert!(
            said.contains("E0433"),
            "it fails for another reason: {said}"
        );
        fs::write(&file, source).expect("the source");
    }
    fs::remove_dir_all(&folder).expect("the copy goes");
}

#[test]
fn the_pure_packages_depend_on_what_they_may() {
    let allowed: [(&str, &[&str]); 2] = [
        ("core", &["serde", "serde_json", "siphasher", "thiserror"]),
        (
            "sim",
            &["pilotage-core", "serde", "serde_json", "thiserror"],
        ),
    ];
    for (package, allowed) in allowed {
        let manifest =
            fs::read_to_string(root().join(package).join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest
            .split("[dependencies]")
            .nth(1)
            .expect("dependencies");
        let names: Vec<&str> = (dependencies.lines())
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|name| !name.is_empty() && !name.starts_with('#'))
            .collect();
        assert_eq!(names, allowed, "{package}");
    }
}

#[test]
fn core_denies_what_can_panic_and_everything_forbids_unsafe_code() {
    let core = fs::read_to_string(root().join("core/src/lib.rs")).expect("the source");
    for lint in [
        "unwrap_used",
        "expect_used",
        "panic",
        "indexing_slicing",
        "arithmetic_side_effects",
    ] {
        assert!(
            core.contains(&format!("clippy::{lint}")),
            "{lint} is allowed in core"
        );
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    assert!(manifest.contains("unsafe_code = \"forbid\""));
    for package in ["core", "sim"] {
        let source =
            fs::read_to_string(root().join(package).join("src/lib.rs")).expect("the source");
        assert!(source.contains("#![no_std]"), "{package} is not no_std");
    }
}
