//! Charms and bundles as files: what is read of them, and what is said about every mistake.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use pilotage_core::charm::filesystem::filesystems;
use pilotage_core::charm::{
    Charm, ConfigValue, Filesystem, FilesystemKind, ResourceDeclaration, ResourceKind,
    StorageDefaults,
};
use pilotage_interpreter::charm::{
    CharmsFolder, GivenResource, Kind, ReadCharm, ReadError, kind, read_bundle, read_charm,
    read_resource,
};
use pilotage_tests::charms::own;

/// A folder with files in it, gone at the end of the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(&path, bytes).expect("the file is written");
        path
    }

    /// What a failure says, without the folder's name, which is another one each time.
    fn shown(&self, error: impl std::fmt::Display) -> String {
        error
            .to_string()
            .replace(&format!("{}/", self.path().display()), "")
            .replace(&self.path().display().to_string(), "FOLDER")
    }
}

/// An archive with files in it.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        writer
            .start_file(*name, options)
            .expect("a file in the archive");
        writer.write_all(bytes).expect("its bytes");
    }
    writer
        .finish()
        .expect("the archive is complete")
        .into_inner()
}

/// What is said about the mistakes of a charm.
fn refusal(metadata: &str) -> String {
    let folder = Folder::with(&[("metadata.yaml", metadata)]);
    let error = read_charm(folder.path()).expect_err("the charm is refused");
    folder.shown(error)
}

fn accepted(metadata: &str) -> ReadCharm {
    let folder = Folder::with(&[("metadata.yaml", metadata)]);
    read_charm(folder.path()).unwrap_or_else(|error| panic!("the charm is refused:\n{error}"))
}

/// A charm with one container and whatever else is given.
fn web(more: &str) -> String {
    format!(
        "name: web\ncontainers:\n  web:\n    resource: web-image\n{more}\nresources:\n  web-image:\n    type: oci-image\n    \
         upstream-source: nginx\n"
    )
}

#[test]
fn our_own_charm_is_read_without_a_word() {
    let read = read_charm(&own("tests/charms/hello")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.warnings, []);
    insta::assert_json_snapshot!(read.charm);
}

#[test]
fn five_mistakes_of_five_kinds_are_all_shown_with_their_lines() {
    let folder = own("tests/charms/five-mistakes");
    let error = read_charm(&folder)
        .expect_err("the charm is refused")
        .to_string();
    let shown = error.replace(&format!("{}/", folder.display()), "");
    insta::assert_snapshot!(shown);
}

#[test]
fn a_charm_is_of_one_format_and_says_which() {
    insta::assert_snapshot!(
        [
            refusal("name: a\n"),
            refusal("name: a\nseries: [kubernetes]\ncontainers: {}\n"),
            refusal("name: a\nseries: kubernetes\n"),
            refusal("name: a\ndeployment: {type: stateless}\nassumes: [k8s-api]\n"),
            refusal("min-juju-version: 2.9.0\ncharm-user: root\n"),
        ]
        .join("\n\n")
    );
    for sidecar in [
        "containers: {}",
        "assumes: [k8s-api]",
        "charm-user: root",
        "containers: {}\nseries: [focal]",
    ] {
        accepted(&format!("name: a\n{sidecar}\n"));
    }
}

#[test]
fn every_mistake_of_a_charm_is_reported_with_its_place() {
    insta::assert_snapshot!(refusal(
        "name: Web\n\
         charm-user: admin\n\
         assumes:\n  - juju == 3\n  - any-off: [k8s-api]\n  - all-of: []\n  - any-of: [k8s-api]\n    all-of: [k8s-api]\n\
         containers:\n\
         \x20 Bad_Name:\n    resource: web-imag\n\
         \x20 nested:\n    nested:\n      resource: web-image\n\
         \x20 base:\n    bases: [{name: ubuntu, channel: 22.04/stable}]\n\
         \x20 file:\n    resource: page\n\
         \x20 web:\n    resource: web-image\n    uid: 5000\n    gid: many\n    mounts:\n      - storage: data\n        location: data\n      \
         - location: /x\n      - storage: dat\n        location: /y\n      - storage: data\n        location: /y/\n      - storag: data\n\
         \x20 text: hello\n\
         storage:\n  data: {type: filesytem, minimum-size: 1KB, multiple: {range: 3-1}, read-only: maybe}\n  disk: {type: block, location: /disk}\n  \
         up: {type: filesystem, location: /a/../b, multiple: {ranges: 1+}}\n  a-1: {description: x}\n\
         resources:\n  web-image: {type: oci-image, upstream-source: '{{ image }}'}\n  page: {type: file}\n  other: {type: oci}\n\
         devices:\n  gpu: {count: 2, type: gpu, countmin: 3, countmax: 1}\n"
    ));
}

#[test]
fn options_take_defaults_of_their_type_or_none() {
    let folder = Folder::with(&[
        ("metadata.yaml", "name: a\nassumes: [k8s-api]\n"),
        (
            "config.yaml",
            "options:\n  text: {type: string, default: yes}\n  quoted: {type: string, default: 'yes'}\n  number: {type: int, default: 1.5}\n  \
             whole: {type: int, default: '7'}\n  flag: {type: boolean, default: 'True'}\n  old: {type: boolean, default: on}\n  ratio: {type: float, default: 2}\n  \
             nothing: {type: int, default: null}\n  empty: {type: int, default: ''}\n  odd: {type: bool, default: true}\n  untyped: {default: x}\n  \
             nested: {type: string, default: [a]}\n",
        ),
    ]);
    let error = read_charm(folder.path()).expect_err("four defaults are wrong");
    insta::assert_snapshot!(folder.shown(error));
}

#[test]
fn defaults_that_are_right_are_kept_as_values_of_their_type() {
    let folder = Folder::with(&[
        ("metadata.yaml", "name: a\nassumes: [k8s-api]\n"),
        (
            "config.yaml",
            "options:\n  a: {type: int, default: '7'}\n  b: {type: boolean, default: on}\n  c: {type: float, default: 2.50}\n  d: {default: ''}\n  \
             e: {type: secret}\n  f: {type: int, default: 1, default: 2}\n",
        ),
    ]);
    let read = read_charm(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let default = |name: &str| read.charm.option(name).expect("the option").default.clone();
    assert_eq!(default("a"), Some(ConfigValue::Int(7)));
    assert_eq!(default("b"), Some(ConfigValue::Boolean(true)));
    assert_eq!(default("c"), Some(ConfigValue::Float("2.5".into())));
    assert_eq!(default("d"), Some(ConfigValue::String(String::new())));
    assert_eq!(default("e"), None);
    assert_eq!(
        default("f"),
        Some(ConfigValue::Int(2)),
        "of a key that comes twice the last one counts"
    );
    assert_eq!(
        folder.shown(&read.warnings[0]),
        "config.yaml:7:30: warning: options.f.default: the key \"default\" comes twice; the last one counts\n  remove one of \
         them"
    );
}

#[test]
fn b118_a_uid_in_the_reserved_range_is_refused_with_the_container() {
    for allowed in ["0", "999", "10000", "'584792'", "2147483647"] {
        let charm = accepted(&web(&format!("    uid: {allowed}"))).charm;
        assert_eq!(
            charm.containers[0].uid,
            allowed.trim_matches('\'').parse().ok()
        );
    }
    for reserved in ["1000", "5000", "9999", "2147483648", "-1", "99999999999"] {
        let error = refusal(&web(&format!("    uid: {reserved}")));
        assert!(
            error.starts_with("metadata.yaml:5:10: containers.web.uid: "),
            "{error}"
        );
    }
    assert_eq!(
        accepted(&web("")).charm.containers[0].uid,
        None,
        "absent is not 0"
    );
}

#[test]
fn b119_a_container_without_a_usable_image_is_refused_with_file_and_place() {
    let resources = "resources: {image: {type: oci-image}}";
    assert_eq!(
        refusal(&format!(
            "name: a\ncontainers:\n  web:\n    resources: image\n{resources}\n"
        )),
        "metadata.yaml:4:5: containers.web: unknown key \"resources\" in a container\n  did you mean \"resource\"?"
    );
    assert_eq!(
        refusal(&format!(
            "name: a\ncontainers:\n  web:\n    web:\n      resource: image\n{resources}\n"
        )),
        "metadata.yaml:4:5: containers.web: unknown key \"web\" in a container\n  what stands under \"web\" is one level too \
         deep: move it up, directly under the container"
    );
    assert_eq!(
        refusal(&format!("name: a\ncontainers:\n  web: {{}}\n{resources}\n")),
        "metadata.yaml:3:3: containers.web: the container has no image\n  add \"resource:\" with the name of a resource of \
         type oci-image"
    );
}

#[test]
fn unknown_keys_at_the_top_and_whole_schemas_in_relations_are_ignored() {
    let read = accepted(&format!(
        "{}display-name: Web\nprovides:\n  api: {{interface: http, schema: {{v1: {{type: object}}}}, versions: [v1]}}\nissues: https://example.com\n\
         tags: [a, b]\nmaintainer: Ünïcode <a@example.com>\n",
        web("")
    ));
    assert_eq!(read.warnings, []);
}

#[test]
fn devices_are_recorded_with_a_warning_that_they_wait() {
    let read = accepted(&format!(
        "{}devices: {{gpu: {{type: nvidia.com/gpu, countmin: 1, countmax: 2}}}}\n",
        web("")
    ));
    assert_eq!(
        (read.charm.devices[0].minimum, read.charm.devices[0].maximum),
        (1, Some(2))
    );
    assert_eq!(
        read.warnings[0].problem,
        "devices are recorded, and no unit gets one yet"
    );
}

#[test]
fn a_charm_is_read_alike_from_a_directory_an_archive_and_one_file() {
    let metadata = web("");
    let config = "options: {port: {type: int, default: 80}}\n";
    let manifest = "bases: [{name: ubuntu, channel: 24.04/stable, architectures: [amd64]}]\n";
    let folder = Folder::with(&[
        ("apart/metadata.yaml", &metadata),
        ("apart/config.yaml", config),
        ("apart/manifest.yaml", manifest),
        ("apart/revision", "7\n"),
        (
            "whole/charmcraft.yaml",
            &format!("{metadata}type: charm\nbase: ubuntu@24.04\nconfig:\n  {config}"),
        ),
    ]);
    let packed = archive(&[
        ("metadata.yaml", metadata.as_bytes()),
        ("config.yaml", config.as_bytes()),
        ("manifest.yaml", manifest.as_bytes()),
        ("../escape", b"never unpacked"),
    ]);
    let packed = folder.write("web.charm", &packed);
    let apart = read_charm(&folder.path().join("apart")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(apart.revision, Some(7));
    for path in [folder.path().join("whole"), packed] {
        assert_eq!(kind(&path).expect("a charm"), Kind::Charm);
        let other = read_charm(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(other.charm, apart.charm, "{}", path.display());
    }
    assert!(
        !folder
            .path()
            .parent()
            .expect("a parent")
            .join("escape")
            .exists()
    );
}

#[test]
fn mistakes_in_an_archive_are_shown_behind_its_name() {
    let folder = Folder::with(&[]);
    folder.write(
        "bad.charm",
        &archive(&[("metadata.yaml", b"name: a\ncontainers: 5\n")]),
    );
    let error = read_charm(&folder.path().join("bad.charm")).expect_err("refused");
    assert_eq!(
        folder.shown(error),
        "bad.charm/metadata.yaml:2:13: containers: expected a map, found a number (\"5\")\n  write a map here"
    );
}

#[test]
fn files_that_cannot_be_read_are_told_apart() {
    let folder = Folder::with(&[
        ("empty/README", ""),
        ("text.charm", "not a zip"),
        ("template/bundle.yaml.j2", ""),
    ]);
    folder.write("latin/metadata.yaml", b"name: caf\xe9\n");
    folder.write("large/metadata.yaml", &vec![b'#'; (4 << 20) + 1]);
    folder.write(
        "bomb.charm",
        &archive(&[("metadata.yaml", &vec![b'#'; (4 << 20) + 1])]),
    );
    folder.write("other.charm", &archive(&[("README", b"")]));
    let said: Vec<String> = [
        "nowhere",
        "empty",
        "text.charm",
        "latin",
        "large",
        "bomb.charm",
        "other.charm",
    ]
    .iter()
    .map(|name| folder.shown(read_charm(&folder.path().join(name)).expect_err("unreadable")))
    .collect();
    insta::assert_snapshot!(said.join("\n"));
    // A device, which like a pipe has no end: it is not waited for.
    let device = read_charm(Path::new("/dev/zero")).expect_err("unreadable");
    let words = "/dev/zero is no file; name a file, or the charm's directory";
    assert!(device.to_string().contains(words), "{device}");
}

#[test]
fn mistakes_of_several_files_are_shown_together() {
    let folder = Folder::with(&[
        ("metadata.yaml", "name: a\ncontainers: {web: {}}\n"),
        ("config.yaml", "options:\n  a: [\n"),
    ]);
    let error = folder.shown(read_charm(folder.path()).expect_err("refused"));
    assert!(
        error.contains("metadata.yaml:2:14: containers.web: the container has no image"),
        "{error}"
    );
    assert!(error.contains("config.yaml:"), "{error}");
}

/// The filesystems of a charm with the storages given, and one container that mounts what is said.
fn made(
    mounts: &str,
    storage: &str,
    directives: &[(&str, &str)],
) -> Result<Vec<Filesystem>, String> {
    let charm: Charm = accepted(&web(&format!("    mounts: {mounts}\nstorage: {storage}"))).charm;
    let directives: BTreeMap<_, _> = directives
        .iter()
        .map(|(name, text)| ((*name).to_string(), text.parse().expect("a directive")))
        .collect();
    filesystems(&charm, &directives, &StorageDefaults::default()).map_err(|refused| {
        refused
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    })
}

/// What matters of filesystems in a line each.
fn told(filesystems: &[Filesystem]) -> Vec<String> {
    filesystems
        .iter()
        .map(|filesystem| {
            let index = filesystem
                .index
                .map(|index| format!("/{index}"))
                .unwrap_or_default();
            let mounts: Vec<String> = filesystem
                .mounts
                .iter()
                .map(|mount| format!("{}:{}", mount.container, mount.path))
                .collect();
            format!(
                "{}{index} {}M {} [{}]",
                filesystem.storage,
                filesystem.size_mib,
                filesystem.path,
                mounts.join(" ")
            )
        })
        .collect()
}

#[test]
fn b49_several_filesystems_of_one_storage_have_names_and_paths_of_their_own() {
    let storage = "{s: {type: filesystem, location: /data, multiple: {range: 0+}}}";
    let mounts = "[{storage: s, location: /srv}]";
    let three = made(mounts, storage, &[("s", "3")]).expect("three filesystems");
    assert_eq!(
        told(&three),
        [
            "s/0 1024M /data/0 [web:/srv/0]",
            "s/1 1024M /data/1 [web:/srv/1]",
            "s/2 1024M /data/2 [web:/srv/2]"
        ]
    );
    assert_eq!(
        made(mounts, storage, &[]),
        Ok(Vec::new()),
        "a count of 0 gives none"
    );
}

#[test]
fn storages_of_at_most_one_keep_their_path_and_those_without_one_get_ours() {
    let storage = "{a: {type: filesystem, location: /a, multiple: {range: 0-1}, minimum-size: 2G}, b: {type: filesystem, read-only: true}}";
    let both = made(
        "[{storage: a}, {storage: b, location: /b}]",
        storage,
        &[("a", "1")],
    )
    .expect("both");
    assert_eq!(
        told(&both),
        [
            "a/0 2048M /a [web:/a]",
            "b 1024M /var/lib/pilotage/storage/b/0 [web:/b]"
        ]
    );
    assert!(both[1].read_only);
}

#[test]
fn pools_say_what_filesystems_are_made_of() {
    let storage = "{a: {type: filesystem}}";
    let of = |directive: &str| {
        made("[]", storage, &[("a", directive)]).expect("one filesystem")[0].clone()
    };
    assert_eq!(of("rootfs,2G").kind, FilesystemKind::Rootfs);
    assert_eq!(of("tmpfs").kind, FilesystemKind::Tmpfs);
    let class = |directive: &str| match of(directive).kind {
        FilesystemKind::Claim { class, .. } => class,
        other => panic!("no claim: {other:?}"),
    };
    assert_eq!(class("kubernetes"), None);
    assert_eq!(class("fast-ssd,1G").as_deref(), Some("fast-ssd"));
}

#[test]
fn storage_that_cannot_be_is_refused_all_at_once() {
    let storage = "{one: {type: filesystem}, two: {type: filesystem, multiple: {range: 2-3}, minimum-size: 1G}, disk: {type: block}}";
    let directives = [("one", "2"), ("two", "1"), ("other", "1")];
    insta::assert_snapshot!(made("[]", storage, &directives).expect_err("refused"));
    assert_eq!(
        made(
            "[]",
            "{two: {type: filesystem, minimum-size: 1G}}",
            &[("two", "512M")]
        ),
        Err("charm \"web\" store \"two\": minimum storage size is 1024M, 512M specified".into())
    );
}

#[test]
fn a_bundle_is_checked_as_a_whole_and_every_mistake_stands_where_it_is_written() {
    let folder = Folder::with(&[
        ("web/metadata.yaml", &web("")),
        (
            "web/config.yaml",
            "options: {port: {type: int}, name: {type: string}}\n",
        ),
        (
            "broken/metadata.yaml",
            "name: broken\ncontainers: {a: {}}\n",
        ),
        (
            "bundle.yaml",
            "bundle: kubernetes\napplications:\n  good:\n    charm: ./web\n    options: {port: 80, name: '80', trust: true}\n  bad:\n    charm: web\n    \
             options: {port: many, colour: red, name: 80}\n    resources: {image: x, web-image: A B}\n    constraints: ram=1G\n  gone: {charm: ./gone}\n  \
             unknown: {charm: ch:unknown}\n  broken: {charm: ./broken, scal: 2}\n  again: {charm: ./broken}\n",
        ),
    ]);
    let bundle = folder.path().join("bundle.yaml");
    let error = read_bundle(&bundle, &[], &CharmsFolder::default()).expect_err("refused");
    insta::assert_snapshot!(folder.shown(error));
    folder.write("bundle.yaml", b"");
    let error = read_bundle(&bundle, &[], &CharmsFolder::default()).expect_err("an empty file");
    assert!(
        folder
            .shown(error)
            .starts_with("bundle.yaml: the file is empty")
    );
}

#[test]
fn a_bundle_lies_in_a_file_a_directory_or_an_archive_and_overlays_name_paths_of_their_own() {
    let bundle = "applications: {web: {charm: ./web, scale: 2}, db: {charm: ch:db}}\n";
    let folder = Folder::with(&[
        ("b/bundle.yaml", bundle),
        ("b/web/metadata.yaml", &web("")),
        ("web/metadata.yaml", &web("")),
        (
            "o/overlay.yaml",
            "applications: {db: {charm: ./db}, web: {resources: {web-image: file.json}}}\n",
        ),
        ("o/db/metadata.yaml", &web("")),
        (
            "o/file.json",
            "{\"registrypath\": \"registry.example.com/web:2\", \"username\": \"u\", \"password\": \"p\"}",
        ),
    ]);
    let zip = folder.write("b.zip", &archive(&[("bundle.yaml", bundle.as_bytes())]));
    let overlay = folder.path().join("o/overlay.yaml");
    for path in [
        folder.path().join("b"),
        folder.path().join("b/bundle.yaml"),
        zip,
    ] {
        assert_eq!(kind(&path).expect("a bundle"), Kind::Bundle);
        let read = read_bundle(
            &path,
            std::slice::from_ref(&overlay),
            &CharmsFolder::default(),
        )
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let names: Vec<&str> = read
            .applications
            .iter()
            .map(|read| read.application.name.as_str())
            .collect();
        assert_eq!(names, ["db", "web"]);
        assert_eq!(
            read.applications[1].images[0].image,
            "registry.example.com/web:2"
        );
        assert!(
            !format!("{read:?}").contains("\"p\""),
            "a password is not shown"
        );
    }
    assert!(matches!(
        read_bundle(&folder.path().join("web"), &[], &CharmsFolder::default()),
        Err(ReadError::NotABundle(_))
    ));
}

#[test]
fn a_resource_is_an_image_a_file_for_one_or_a_file() {
    let folder = Folder::with(&[
        (
            "good.yaml",
            "registrypath: registry.example.com/web:1\nusername: u\npassword: secret\n",
        ),
        ("bad.yaml", "registrypath: A B\n"),
        ("none.yaml", "username: u\n"),
    ]);
    let declared = |kind| ResourceDeclaration {
        name: "image".into(),
        kind,
        description: String::new(),
        upstream_source: None,
        filename: None,
    };
    let image =
        |value: &str| read_resource(&declared(ResourceKind::OciImage), value, folder.path());
    let details = |value: &str| match image(value).expect("an image") {
        GivenResource::Image(details) => details,
        GivenResource::File(path) => panic!("a file: {}", path.display()),
    };
    assert_eq!(details("nginx:1").registry_path, "nginx:1");
    assert_eq!(details("good.yaml").password.as_deref(), Some("secret"));
    assert!(!format!("{:?}", details("good.yaml")).contains("secret"));
    let said: Vec<String> = ["no such image", "12", "bad.yaml", "none.yaml", ""]
        .iter()
        .map(|value| folder.shown(image(value).expect_err("no image")))
        .collect();
    insta::assert_snapshot!(said.join("\n"));
    let file = read_resource(&declared(ResourceKind::File), "good.yaml", folder.path());
    assert_eq!(
        file.expect("a file"),
        GivenResource::File(folder.path().join("good.yaml"))
    );
    assert!(read_resource(&declared(ResourceKind::File), "nginx", folder.path()).is_err());
}
