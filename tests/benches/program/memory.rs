//! What an idle application of a large real charm takes in the core, by the source that tells of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use pilotage_core::charm::filesystem::filesystems;
use pilotage_core::event::Source;
use pilotage_core::kubernetes::Kind;
use pilotage_core::name::Uid;
use pilotage_core::state::{CharmOrigin, NewApplication};
use pilotage_interpreter::charm::read_charm;
use pilotage_interpreter::cli::wish::check::storage_defaults;
use pilotage_tests::charms::CHARMS;

use crate::{fleet, live};

const CHARM: &str = "postgresql-k8s";
const APPLICATIONS: u16 = 1_000;
const UNITS: u32 = 3;

pub fn print() {
    let Some(folder) = std::env::var_os(CHARMS) else {
        println!(
            "NOT RUN: memory of {CHARM}: no real charms; run it with {CHARMS}=FOLDER cargo bench -p pilotage-tests"
        );
        return;
    };
    let read = read_charm(&std::path::Path::new(&folder).join(CHARM));
    let charm = read.expect("the charm can be read").charm;
    let units = filesystems(&charm, &BTreeMap::new(), &storage_defaults(None));
    let filesystems = units.expect("its storage can be had");
    let claims = filesystems.len();
    let (world, lists) = fleet::first_lists_of(|model| application(model, charm, filesystems));
    let begin = live();
    let mut marks = Vec::new();
    let core = fleet::provisioner(&lists, world.now, APPLICATIONS, |source| {
        marks.push((source, live()));
    });
    let each = |bytes: usize| bytes / usize::from(APPLICATIONS);
    let whole = each(live() - begin);
    println!(
        "memory of an idle {CHARM} with {UNITS} units of {claims} storage each, provisioning and pods included: {whole} bytes \
         (goal: 4 KiB and 256 bytes for each pod)"
    );
    let mut before = begin;
    for (source, mark) in marks {
        let bytes = each(mark.saturating_sub(before));
        before = mark;
        match source {
            Source::Cluster(Kind::Pod) => println!("  pods: {} bytes each", bytes / 3),
            _ if bytes > 0 => println!("  {source}: {bytes} bytes"),
            _ => {}
        }
    }
    drop(core);
}

fn application(
    model: Uid,
    charm: pilotage_core::charm::Charm,
    filesystems: Vec<pilotage_core::charm::Filesystem>,
) -> NewApplication {
    NewApplication {
        model,
        name: "ledger".into(),
        charm: Arc::new(charm),
        origin: CharmOrigin {
            revision: 0,
            version: None,
        },
        resources: BTreeMap::new(),
        scale: UNITS,
        trust: false,
        config: BTreeMap::new(),
        settings: BTreeMap::new(),
        constraints: Default::default(),
        storage: BTreeMap::new(),
        filesystems,
        devices: BTreeMap::new(),
        base: None,
    }
}
