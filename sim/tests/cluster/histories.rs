//! Properties of histories: random writes by a few managers to a few objects.

use std::collections::BTreeMap;

use pilotage_core::time::Timestamp;
use pilotage_sim::cluster::Cluster;
use pilotage_sim::cluster::request::{Propagation, Request, Response, Verb};
use pilotage_sim::cluster::resource::Resource;
use pilotage_sim::cluster::settings::Settings;
use pilotage_sim::cluster::watch::WatchKind;
use proptest::prelude::*;
use serde_json::{Value, json};

const KIND: Resource = Resource::ConfigMap;
const NAMES: [&str; 3] = ["a", "b", "c"];
const MANAGERS: [&str; 3] = ["pilotage", "charm", "hand"];
const KEYS: [&str; 4] = ["w", "x", "y", "z"];

/// Who does what to which object; `fields` are the keys that the write names, with their values.
#[derive(Clone, Debug)]
struct Write {
    manager: usize,
    name: usize,
    how: How,
    fields: Vec<(usize, u8)>,
    label: Option<u8>,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Create,
    Apply,
    Force,
    Merge,
    Replace,
    Delete(Propagation),
}

fn write() -> impl Strategy<Value = Write> {
    let how = prop_oneof![
        2 => Just(How::Create),
        3 => Just(How::Apply),
        4 => Just(How::Force),
        3 => Just(How::Merge),
        2 => Just(How::Replace),
        1 => Just(How::Delete(Propagation::Background)),
        1 => Just(How::Delete(Propagation::Orphan)),
    ];
    let fields = prop::collection::vec((0..KEYS.len(), 0..3_u8), 0..4);
    (
        0..MANAGERS.len(),
        0..NAMES.len(),
        how,
        fields,
        prop::option::of(0..2_u8),
    )
        .prop_map(|(manager, name, how, fields, label)| Write {
            manager,
            name,
            how,
            fields,
            label,
        })
}

impl Write {
    fn body(&self) -> Value {
        let data: BTreeMap<&str, String> = self
            .fields
            .iter()
            .map(|(key, value)| (KEYS[*key], value.to_string()))
            .collect();
        let mut body = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAMES[self.name]}, "data": data,
        });
        if let Some(label) = self.label {
            body["metadata"]["labels"] = json!({"set": label.to_string()});
        }
        body
    }

    fn request(&self) -> Request {
        let body = self.body();
        let verb = match self.how {
            How::Create => Verb::Create { body },
            How::Apply => Verb::Apply { body, force: false },
            How::Force => Verb::Apply { body, force: true },
            How::Merge => {
                // A merge patch can also take away: value 0 does.
                let data: BTreeMap<&str, Option<String>> = self
                    .fields
                    .iter()
                    .map(|(key, value)| (KEYS[*key], (*value > 0).then(|| value.to_string())))
                    .collect();
                Verb::MergePatch {
                    body: json!({"data": data}),
                }
            }
            How::Replace => Verb::Update { body },
            How::Delete(propagation) => Verb::Delete {
                uid: None,
                version: None,
                propagation,
                grace: None,
            },
        };
        let name = if matches!(self.how, How::Create) {
            ""
        } else {
            NAMES[self.name]
        };
        Request {
            manager: MANAGERS[self.manager].into(),
            resource: KIND,
            namespace: Some("default".into()),
            name: name.into(),
            subresource: None,
            verb,
        }
    }
}

/// Every object by name, as its whole JSON.
fn objects(cluster: &Cluster) -> BTreeMap<String, Value> {
    cluster
        .objects(KIND, Some("default"))
        .map(|stored| (stored.name().to_owned(), stored.whole()))
        .collect()
}

fn play(cluster: &mut Cluster, writes: &[Write]) {
    for (index, write) in writes.iter().enumerate() {
        cluster.request(Timestamp(index as u64 * 700), write.request());
    }
}

proptest! {
    /// A write that changes something gets the next version; one that changes nothing or is refused gets none.
    #[test]
    fn versions_rise_by_one_with_every_change(writes in prop::collection::vec(write(), 0..40)) {
        let mut cluster = Cluster::new(Settings::default());
        for write in &writes {
            let (version, before) = (cluster.version(), objects(&cluster));
            cluster.request(Timestamp(1), write.request());
            let after = objects(&cluster);
            prop_assert_eq!(cluster.version() == version, before == after, "{:?}", write);
            prop_assert!(cluster.version() <= version + 1, "{:?}", write);
        }
    }

    /// A list, and all that a watch from its version says, give the list of now: also for a watch that selects by a label.
    #[test]
    fn a_watch_played_over_a_list_gives_the_list_of_now(
        before in prop::collection::vec(write(), 0..20),
        after in prop::collection::vec(write(), 0..40),
    ) {
        for labels in [vec![], vec![(Box::from("set"), Box::from("1"))]] {
            let list = |cluster: &mut Cluster| {
                let request = Request {
                    manager: "reader".into(), resource: KIND, namespace: Some("default".into()),
                    name: "".into(), subresource: None, verb: Verb::List { labels: labels.clone(), fields: vec![] },
                };
                match cluster.request(Timestamp(0), request) {
                    Response::List { version, items } => (version, items),
                    other => panic!("{other:?}"),
                }
            };
            let mut cluster = Cluster::new(Settings::default());
            play(&mut cluster, &before);
            let (version, items) = list(&mut cluster);
            let mut seen: BTreeMap<String, _> =
                items.into_iter().map(|stored| (stored.name().to_owned(), stored)).collect();
            play(&mut cluster, &after);
            let mut last = version;
            for event in cluster.watch_since(KIND, Some("default"), &labels, version).unwrap() {
                prop_assert!(event.object.version > last);
                last = event.object.version;
                let name = event.object.name().to_owned();
                let known = match event.kind {
                    WatchKind::Deleted => seen.remove(&name),
                    _ => seen.insert(name, event.object),
                };
                prop_assert_eq!(known.is_none(), event.kind == WatchKind::Added);
            }
            prop_assert_eq!(seen.into_values().collect::<Vec<_>>(), list(&mut cluster).1);
        }
    }

    /// The same apply again changes nothing (fact K9), whatever went before. An empty map that somebody else names too is
    /// the exception: it is not kept, so it is taken from the other with the second apply (`map-of-two-emptied` among the
    /// transcripts), and the third changes nothing.
    #[test]
    fn an_apply_twice_is_an_apply_once(
        writes in prop::collection::vec(write(), 0..30),
        mut last in write(),
    ) {
        let mut cluster = Cluster::new(Settings::default());
        play(&mut cluster, &writes);
        last.how = How::Force;
        cluster.request(Timestamp(50_000), last.request());
        if last.fields.is_empty() {
            cluster.request(Timestamp(70_000), last.request());
        }
        let (version, before) = (cluster.version(), objects(&cluster));
        cluster.request(Timestamp(90_000), last.request());
        prop_assert_eq!(cluster.version(), version);
        prop_assert_eq!(objects(&cluster), before);
    }

    /// A forced apply gets what it names, and its manager owns exactly that by apply.
    #[test]
    fn a_forced_apply_holds_what_it_names(writes in prop::collection::vec(write(), 0..30), mut last in write()) {
        let mut cluster = Cluster::new(Settings::default());
        play(&mut cluster, &writes);
        last.how = How::Force;
        let Response::Object { object, .. } = cluster.request(Timestamp(50_000), last.request()) else {
            return Ok(());
        };
        let body = last.body();
        for (key, value) in body["data"].as_object().unwrap() {
            prop_assert_eq!(&object.value["data"][key], value);
            let owners = object.managers.iter().filter(|manager| {
                manager.fields.contains(&["data", key]) && *manager.name == *MANAGERS[last.manager]
            });
            prop_assert!(owners.count() >= 1);
        }
    }

    /// ConfigMaps have no defaults: every entry of one belongs to somebody, and nobody owns what is not there.
    #[test]
    fn every_field_has_an_owner_and_every_owner_a_field(writes in prop::collection::vec(write(), 0..40)) {
        let mut cluster = Cluster::new(Settings::default());
        play(&mut cluster, &writes);
        for stored in cluster.objects(KIND, Some("default")) {
            let owned = stored.managers.owned();
            if owned.is_empty() {
                continue; // What was made with no field of anybody is not tracked before its first apply.
            }
            for key in KEYS {
                let there = stored.value["data"].get(key).is_some();
                prop_assert_eq!(there, owned.contains(&["data", key]), "{} of {}", key, stored.whole());
            }
        }
    }

    /// A fork goes its own way, and two clusters that are asked the same answer the same.
    #[test]
    fn a_fork_is_alone_and_a_twin_the_same(
        writes in prop::collection::vec(write(), 0..20),
        more in prop::collection::vec(write(), 0..20),
    ) {
        let mut cluster = Cluster::new(Settings::default());
        play(&mut cluster, &writes);
        let before = objects(&cluster);
        let mut fork = cluster.clone();
        play(&mut fork, &more);
        prop_assert_eq!(objects(&cluster), before);
        let mut twin = Cluster::new(Settings::default());
        play(&mut twin, &writes);
        play(&mut twin, &more);
        prop_assert_eq!(objects(&twin), objects(&fork));
    }
}
