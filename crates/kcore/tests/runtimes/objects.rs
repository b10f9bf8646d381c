//! The heap of a runtime that says no more of it than it must: all else follows.

use std::{collections::BTreeSet, ops::ControlFlow, sync::Arc};

use kcore::{
    Addr, Probes,
    graph::Path,
    objects::{ClassCount, Edge, Objects, Stopped},
};

use crate::{core, open};

fn toy() -> &'static dyn Objects {
    let mut heaps = core().runtimes().with_objects(core());
    let (identity, objects) = heaps.next().expect("the toy");
    assert_eq!((identity.name, heaps.count()), ("toy", 0), "the thief has no objects");
    objects
}

fn go_on(_done: u64, _total: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Where a variable of the program lies.
fn variable(name: &str) -> Addr {
    core().symbols().lookup(None, name).expect("the program has it")
}

fn path(name: &str) -> Path {
    let path = toy().path(core(), variable(name), &mut go_on).expect("nobody stops it");
    path.expect("the tree keeps it")
}

#[test]
fn objects_are_counted_by_class() {
    let counts = toy().class_counts(core(), &mut go_on).expect("nobody stops it");
    let [ClassCount { count: 6, bytes: 144, example, .. }] = counts[..] else {
        panic!("{counts:?}");
    };
    assert_eq!(example, variable("root"), "the first one that is told");
}

#[test]
fn an_address_inside_of_an_object_is_held_by_it() {
    let leaf = variable("leaf_3");
    let held = |at: Addr| toy().holder(core(), at).map(|object| object.at);
    assert_eq!([held(leaf), held(leaf.saturating_add(23))], [Some(leaf); 2]);
    assert_eq!(held(variable("head")), None, "it is no node of the tree");
}

#[test]
fn referrers_follow_from_what_objects_refer_to() {
    let to = [variable("leaf_6"), variable("branch_2")];
    let found = toy().referrers(core(), &to, &mut go_on).expect("nobody stops it");
    let found: BTreeSet<_> = found
        .into_iter()
        .map(|referrer| (referrer.to, referrer.at, format!("{:?}", referrer.edge)))
        .collect();
    let member = |name: &str| format!("{:?}", Edge::Member(name.into()));
    let expected =
        [(to[0], variable("branch_5"), member("right")), (to[1], variable("root"), member("left"))];
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn a_way_leads_from_the_root_by_names() {
    let path = path("leaf_3");
    let root = (path.root.kind.word, path.root.name.as_deref(), path.root.to);
    assert_eq!(root, ("global", Some("root"), variable("root")));
    let steps: Vec<_> = path.steps.iter().map(|step| (step.at, step.edge.clone())).collect();
    let member = |name: &str| Some(Edge::Member(name.into()));
    let expected = [
        (variable("root"), None),
        (variable("branch_2"), member("left")),
        (variable("leaf_3"), member("right")),
    ];
    assert_eq!(steps, expected);
    let none = toy().path(core(), variable("head"), &mut go_on).expect("nobody stops it");
    assert_eq!(none, None, "what is no object has no way");
}

#[test]
fn an_object_retains_what_only_it_keeps() {
    let graph = toy().graph(core(), &mut go_on).expect("nobody stops it").expect("it is small");
    let retained = toy().retained(&graph, &mut go_on).expect("nobody stops it");
    let bytes = |name| retained.bytes(graph.nodes().number(variable(name))?);
    let found = ["root", "branch_2", "branch_5", "leaf_1"].map(bytes);
    assert_eq!(found, [144, 72, 48, 24].map(Some));
    let again = toy().graph(core(), &mut go_on).expect("nobody stops it").expect("it is small");
    assert!(Arc::ptr_eq(&graph, &again), "it is made once");
    let sizes = graph.class_sizes(&retained, &|_| "tree".into());
    assert_eq!(sizes.iter().map(|size| size.retained).collect::<Vec<_>>(), [144]);
}

#[test]
fn whoever_waits_may_stop_it() {
    let core = open(Probes { runtimes: crate::toy::PROBES, ..Probes::NONE });
    let (_, toy) = core.runtimes().with_objects(&core).next().expect("the toy");
    let stopped = toy.graph(&core, &mut |_, _| ControlFlow::Break(()));
    assert_eq!(stopped.err(), Some(Stopped));
    assert!(toy.graph(&core, &mut go_on).expect("nobody stops it").is_some(), "it is made then");
}

#[test]
fn a_process_without_a_runtime_has_no_heap_of_objects() {
    let core = open(Probes::NONE);
    assert_eq!(core.runtimes().with_objects(&core).count(), 0);
}
