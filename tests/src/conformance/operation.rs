//! What people and programs do to a cluster, drawn at random over few kinds and names, so that they meet.

use proptest::prelude::*;

use super::forms::Form;

/// One thing that somebody does.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Who: a user, and so a field manager.
    pub who: &'static str,
    /// What.
    pub deed: Deed,
}

/// An object that may be there or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The kind.
    pub kind: &'static str,
    /// The name; that of a cluster-scoped object begins with the life's.
    pub name: &'static str,
}

/// What somebody does.
#[derive(Clone, Debug)]
pub enum Deed {
    /// POST.
    Create(Target, Form),
    /// Server-side apply, guarded as said.
    Apply {
        /// Of this.
        target: Target,
        /// What is wanted.
        form: Form,
        /// Whether fields of others are taken.
        force: bool,
        /// What it rests on.
        guard: Guard,
    },
    /// A read, and the JSON patch that makes a birth entry one of applies; see [`pilotage_core::kubernetes::ownership`].
    TakeOver(Target, Guard),
    /// A merge patch by hand.
    Edit(Target, Edit),
    /// PUT of the scale.
    Scale {
        /// Of this StatefulSet.
        name: &'static str,
        /// To so many.
        replicas: u32,
        /// What it rests on.
        guard: Guard,
    },
    /// DELETE.
    Delete {
        /// Of this.
        target: Target,
        /// What it rests on.
        guard: Guard,
        /// `Background`, `Foreground`, `Orphan`; or nothing is said.
        propagation: Option<&'static str>,
        /// Whether at once: zero seconds of grace.
        at_once: bool,
    },
    /// GET of one.
    Get(Target),
    /// GET of all of a kind; of those with a label, or of all.
    List(&'static str, bool),
    /// The scheduler gives a pod a node.
    Schedule(&'static str),
    /// The kubelet says how a pod is: its phase, and whether it is ready.
    Report(&'static str, &'static str, bool),
    /// The kubelet has stopped a pod's containers, and takes it off the list.
    End(&'static str),
    /// The provisioner makes a volume for a claim of that name, if it waits for one.
    Provide(&'static str),
}

/// What a guarded write names of the object: nothing, what is, or what is no longer or never was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Nothing.
    None,
    /// The uid that is.
    Uid,
    /// Uid and version, just read.
    Read,
    /// The uid that is, with the first version that was seen under the name.
    Stale,
    /// The first uid that was seen under the name: it may be that of a predecessor.
    Former,
    /// A uid that no object has.
    Nobody,
    /// Version 1: only if there is none yet.
    Absent,
}

/// An edit by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A label is set.
    Label(u8),
    /// The label is taken off.
    NoLabel,
    /// An annotation is set.
    Note(u8),
    /// A finalizer is put on.
    Hold,
    /// All finalizers are taken off.
    Release,
    /// The part of the kind that forms vary is set to another.
    Part(u8),
    /// The same, with everything else of the part taken off, where a patch can.
    OnlyPart(u8),
}

const KINDS: &[&str] = &[
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "Service",
    "PersistentVolumeClaim",
    "StatefulSet",
    "Pod",
];

/// Lives of so many operations.
pub fn lives(operations: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Operation>> {
    // A life is about a few kinds: where all ten meet, hardly anything meets again.
    let kinds = prop::sample::subsequence(KINDS.to_vec(), 1..=3);
    (kinds, operations).prop_flat_map(|(kinds, number)| {
        let stateful = kinds.contains(&"StatefulSet") || kinds.contains(&"Pod");
        prop::collection::vec(operation(kinds, stateful), number)
    })
}

fn operation(kinds: Vec<&'static str>, pods: bool) -> impl Strategy<Value = Operation> {
    let who = prop_oneof![4 => Just("pilotage"), 2 => Just("alice"), 1 => Just("operator")];
    (who, deed(kinds, pods)).prop_map(|(who, deed)| Operation { who, deed })
}

fn deed(kinds: Vec<&'static str>, pods: bool) -> BoxedStrategy<Deed> {
    let kind = prop::sample::select(kinds);
    let target = || (kind.clone(), name()).prop_map(|(kind, name)| Target { kind, name });
    let delete = (target(), guard(), propagation(), prop::bool::weighted(0.2));
    let written = prop_oneof![
        6 => (target(), form()).prop_map(|(target, form)| Deed::Create(target, form)),
        6 => (target(), form(), any::<bool>(), guard())
            .prop_map(|(target, form, force, guard)| Deed::Apply { target, form, force, guard }),
        2 => (target(), guard()).prop_map(|(target, guard)| Deed::TakeOver(target, guard)),
        5 => (target(), edit()).prop_map(|(target, edit)| Deed::Edit(target, edit)),
        3 => delete.prop_map(|(target, guard, propagation, at_once)| {
            Deed::Delete { target, guard, propagation, at_once }
        }),
        1 => target().prop_map(Deed::Get),
        1 => (kind.clone(), any::<bool>()).prop_map(|(kind, labelled)| Deed::List(kind, labelled)),
    ];
    if pods {
        prop_oneof![5 => written, 3 => of_pods()].boxed()
    } else {
        written.boxed()
    }
}

/// What is done to pods and their claims.
fn of_pods() -> impl Strategy<Value = Deed> {
    let pod = || prop::sample::select(vec!["web-0", "web-1", "db-0", "web"]);
    let phase = prop_oneof![3 => Just("Running"), 1 => Just("Failed"), 1 => Just("Succeeded")];
    prop_oneof![
        2 => (name(), 0..3u32, guard())
            .prop_map(|(name, replicas, guard)| Deed::Scale { name, replicas, guard }),
        3 => pod().prop_map(Deed::Schedule),
        3 => (pod(), phase, prop::bool::weighted(0.8))
            .prop_map(|(pod, phase, ready)| Deed::Report(pod, phase, ready && phase == "Running")),
        2 => pod().prop_map(Deed::End),
        1 => prop::sample::select(vec!["web", "data-web-0"]).prop_map(Deed::Provide),
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just("web"), 1 => Just("db")]
}

fn form() -> impl Strategy<Value = Form> {
    let owner = prop_oneof![4 => Just(None), 1 => name().prop_map(Some)];
    let held = prop::bool::weighted(0.1);
    let note = prop_oneof![2 => Just(None), 1 => (0..3u8).prop_map(Some)];
    (any::<bool>(), note, owner, held, 0..4u8).prop_map(|(labelled, note, owner, held, part)| {
        Form {
            labelled,
            note,
            owner,
            held,
            part,
        }
    })
}

fn guard() -> impl Strategy<Value = Guard> {
    prop_oneof![
        5 => Just(Guard::None),
        1 => Just(Guard::Uid),
        5 => Just(Guard::Read),
        1 => Just(Guard::Stale),
        1 => Just(Guard::Former),
        1 => Just(Guard::Nobody),
        1 => Just(Guard::Absent),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (0..3u8).prop_map(Edit::Label),
        Just(Edit::NoLabel),
        (0..3u8).prop_map(Edit::Note),
        Just(Edit::Hold),
        Just(Edit::Release),
        (0..4u8).prop_map(Edit::Part),
        (0..4u8).prop_map(Edit::OnlyPart),
    ]
}

fn propagation() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![
        2 => Just(None),
        1 => Just(Some("Background")),
        1 => Just(Some("Foreground")),
        1 => Just(Some("Orphan")),
    ]
}
