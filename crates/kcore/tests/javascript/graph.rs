//! What objects keep, against V8's own snapshot of its heap.

use gen_cores::Case;
use kcore::{Addr, Core};
use kcore_runtimes::{
    graph::{ClassSize, Graph},
    objects::{Edge, NamedEdge, Objects},
    v8::census::graph::{CONTEXT, LONE_CONTEXT},
};

use crate::census::{Counted, cases, go_on, told, v8};

/// The graph of one core.
struct Kept {
    counted: Counted,
    graph: std::sync::Arc<Graph>,
}

impl Kept {
    fn of(case: &Case) -> Self {
        let counted = Counted::of(case);
        let graph = v8(&counted.core).graph(&counted.core, &counted.census, &mut go_on);
        Self { graph: graph.expect("nobody stops it").expect("it is not too large"), counted }
    }

    fn core(&self) -> &Core {
        &self.counted.core
    }

    fn classes(&self) -> Vec<ClassSize> {
        let v8 = v8(self.core());
        let retained = v8.retained(&self.graph, &mut go_on);
        let retained = retained.expect("nobody stops it");
        v8.class_sizes(self.core(), &self.graph, &retained)
    }

    /// What each object of a class retains, the least first.
    fn retained(&self, class: &str) -> Vec<u64> {
        let v8 = v8(self.core());
        let retained = v8.retained(&self.graph, &mut go_on);
        let retained = retained.expect("nobody stops it");
        let groups = self.counted.groups();
        let groups = groups.iter().filter(|group| *group.constructor == *class);
        let members: Vec<Addr> =
            groups.flat_map(|group| group.members(self.core(), &self.counted.census)).collect();
        let nodes = members.iter().filter_map(|at| self.counted.census.index_of(*at));
        let mut bytes: Vec<u64> =
            nodes.filter_map(|node| retained.bytes(u32::try_from(node).unwrap())).collect();
        bytes.sort_unstable();
        bytes
    }
}

/// What a list of numbers says.
fn numbers(told: &serde_json::Value) -> Vec<u64> {
    told.as_array().into_iter().flatten().filter_map(serde_json::Value::as_u64).collect()
}

#[test]
fn what_objects_retain_is_what_v8_says() {
    for case in cases(&["node-retained"]) {
        let kept = Kept::of(case);
        let retained = |class: &str| {
            let told = told(case)
                .into_iter()
                .find(|told| told["class"] == class && told["retained"].is_array());
            numbers(&told.expect("V8 told it")["retained"])
        };
        assert_eq!(kept.retained("Owner"), retained("Owner"), "{}", case.name());
        // A hundred strings are keys of a map: some of them a cache of V8 may have held when it told this.
        let (found, told) = (kept.retained("Root"), retained("Root"));
        let [found, told] = [found[0], told[0]];
        assert!((told..=told + 2400).contains(&found), "{}: {found} {told}", case.name());
    }
}

#[test]
fn classes_hold_what_their_objects_retain_together() {
    for case in cases(&["node-heap", "node-retained"]) {
        let kept = Kept::of(case);
        let classes = kept.classes();
        let class = |name: &str| {
            classes.iter().find(|class| *class.class == *name).expect("the class is there")
        };
        let (link, owner, root) = (class("Link"), class("Owner"), class("Root"));
        assert_eq!([link.dead_count, owner.dead_count, root.dead_count], [0; 3]);
        // Each link retains the next: all of them no more than the first, and perhaps their map.
        assert!((link.bytes..link.bytes + 1024).contains(&link.retained), "{}", case.name());
        assert_eq!(owner.retained, 192 + 552 + 4152, "{}", case.name());
        assert!(root.retained > class("Point").retained, "{}", case.name());
        let total: u64 = classes.iter().map(|class| class.count + class.dead_count).sum();
        assert_eq!(total, kept.counted.census.object_count(), "{}", case.name());
        assert_eq!(kept.graph.node_count() as u64, total);
    }
}

#[test]
fn garbage_is_told_apart_after_a_collection_and_before() {
    for case in cases(&["node-heap", "node-retained", "node-values"]) {
        let kept = Kept::of(case);
        let classes = kept.classes();
        let dead: u64 = classes.iter().map(|class| class.dead_count).sum();
        let known = classes.iter().find(|class| &*class.class == "KnownValues");
        if case.scenario == "node-values" {
            assert_eq!(known.map(|known| (known.count, known.dead_count)), Some((1, 0)));
            assert!(
                dead > 10_000,
                "{}: nothing was collected, and only {dead} are dead",
                case.name()
            );
        } else {
            let garbage = dead * 20;
            assert!(garbage < kept.counted.census.object_count(), "{}: {dead}", case.name());
        }
    }
}

#[test]
fn a_way_leads_from_a_root_by_names_to_an_object() {
    for case in cases(&["node-retained"]) {
        let kept = Kept::of(case);
        let (core, census) = (kept.core(), &kept.counted.census);
        let groups = kept.counted.groups();
        let owner = groups.iter().find(|group| &*group.constructor == "Owner").unwrap();
        let path = v8(core).path(core, census, &kept.graph, owner.example).expect("it is kept");
        let edges: Vec<Edge> = path.steps.iter().filter_map(|step| step.edge.clone()).collect();
        let property = |name: &str| Edge::Member(name.into());
        let [.., root, owners, Edge::Index(0..=2)] = edges.as_slice() else {
            panic!("{}: {edges:?} from {:?}", case.name(), path.root);
        };
        assert_eq!([root, owners], [&property("root"), &property("owners")], "{}", case.name());
        assert_eq!(path.steps.last().map(|step| step.at), Some(owner.example));
        let objects: &dyn Objects = v8(core);
        assert_eq!(objects.path(core, owner.example, &mut go_on), Ok(Some(path.clone())));
        for pair in path.steps[path.steps.len() - 3..].windows(2) {
            let edges = objects.edges(core, pair[0].at);
            let step = NamedEdge {
                to: pair[1].at,
                edge: pair[1].edge.clone().expect("it is not the first"),
                is_weak: false,
            };
            assert!(edges.contains(&step), "{}: {step:?} of {edges:?}", case.name());
        }
    }
}

#[test]
fn whoever_refers_to_an_object_is_found() {
    for case in cases(&["node-retained"]) {
        let counted = Counted::of(case);
        let (core, census) = (&counted.core, &counted.census);
        let groups = counted.groups();
        let class = |name: &str| groups.iter().find(|group| *group.constructor == *name).unwrap();
        let owners: Vec<Addr> = class("Owner").members(core, census).collect();
        let found = v8(core).referrers(core, census, &owners, &mut go_on).expect("nobody stops it");
        let mut indices: Vec<Edge> = found.iter().map(|found| found.edge.clone()).collect();
        indices.sort_by_key(|edge| format!("{edge:?}"));
        assert_eq!(indices, [0, 1, 2].map(Edge::Index), "{}", case.name());
        let leaves: Vec<Addr> = class("Leaf").members(core, census).collect();
        let found = v8(core).referrers(core, census, &leaves, &mut go_on).expect("nobody stops it");
        let shared = found.iter().filter(|found| found.edge == Edge::Member("shared".into()));
        assert_eq!(shared.count(), 4, "{}: of the root and of each owner", case.name());
        let values = found.iter().filter(|found| found.edge == Edge::Value);
        assert_eq!(values.count(), 100, "{}: of the map", case.name());
    }
}

#[test]
fn functions_are_found_where_they_are_defined() {
    for case in cases(&["node-retained"]) {
        let counted = Counted::of(case);
        let (core, census) = (&counted.core, &counted.census);
        let definitions = v8(core).definitions(core, census, &mut go_on);
        let definitions = definitions.expect("nobody stops it");
        let named = |name: &str| {
            let mut found = definitions.iter().filter(|it| it.name.as_deref() == Some(name));
            found.find(|it| it.file.as_deref().is_some_and(|file| file.ends_with("main.js")))
        };
        for (name, line) in [("build", 50), ("chainOf", 44), ("Owner", 35)] {
            let found = named(name).unwrap_or_else(|| panic!("{}: no {name}", case.name()));
            assert_eq!((found.count, found.line), (1, Some(line)), "{} {name}", case.name());
        }
    }
}

#[test]
fn lines_are_those_that_each_function_alone_has() {
    for case in cases(&["node-retained"]) {
        let counted = Counted::of(case);
        let (core, census) = (&counted.core, &counted.census);
        let definitions = v8(core).definitions(core, census, &mut go_on).expect("nobody stops it");
        let mut placed = 0;
        for definition in &definitions {
            let defined = v8(core).defined(core, definition.function);
            let found = (definition.line, definition.column);
            let told = (defined.map(|place| place.line), defined.map(|place| place.column));
            assert_eq!(found, told, "{}: {definition:?}", case.name());
            placed += usize::from(defined.is_some());
        }
        assert!(placed > 500, "{}: {placed} of {}", case.name(), definitions.len());
    }
}

#[test]
fn the_context_of_the_program_is_a_certain_root() {
    for case in cases(&["node-retained"]) {
        let kept = Kept::of(case);
        let count = |kind| kept.graph.roots().iter().filter(|root| *root.kind == kind).count();
        assert!(count(CONTEXT) > 0, "{}", case.name());
        assert_eq!(count(LONE_CONTEXT), 0, "{}", case.name());
    }
}
