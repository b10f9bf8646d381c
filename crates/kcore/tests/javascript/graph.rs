//! What objects keep, against V8's own snapshot of its heap.

use std::ops::ControlFlow;

use gen_cores::Case;
use kcore::{Addr, Core};
use kcore_runtimes::v8::census::graph::{ClassSize, Graph, RootKind};

use crate::census::{Counted, cases, told, v8};

/// The graph of one core.
struct Kept {
    counted: Counted,
    graph: std::sync::Arc<Graph>,
}

impl Kept {
    fn of(case: &Case) -> Self {
        let counted = Counted::of(case);
        let graph = v8(&counted.core).graph(&counted.core, &counted.census, &mut |_, _| {
            ControlFlow::Continue(())
        });
        Self { graph: graph.expect("nobody stops it").expect("it is not too large"), counted }
    }

    fn core(&self) -> &Core {
        &self.counted.core
    }

    fn classes(&self) -> Vec<ClassSize> {
        let v8 = v8(self.core());
        let retained = v8.retained(&self.graph);
        v8.class_sizes(self.core(), &self.counted.census, &self.graph, &retained)
    }

    /// What each object of a class retains, the least first.
    fn retained(&self, class: &str) -> Vec<u64> {
        let v8 = v8(self.core());
        let retained = v8.retained(&self.graph);
        let groups = v8.groups(self.core(), &self.counted.census);
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

#[test]
fn what_objects_retain_is_what_v8_says() {
    for case in cases(&["node-retained"]) {
        let kept = Kept::of(case);
        for told in told(case) {
            let Some(class) = told["class"].as_str() else { continue };
            if told["retained"].is_array() {
                println!("{} {class} {} {:?}", case.name(), told["retained"], kept.retained(class));
            }
        }
    }
}

#[test]
fn x_classes() {
    for case in cases(&["node-retained", "node-heap", "node-values"]) {
        let start = std::time::Instant::now();
        let kept = Kept::of(case);
        let graph = start.elapsed();
        let classes = kept.classes();
        let dead: u64 = classes.iter().map(|class| class.dead_count).sum();
        let count: u64 = classes.iter().map(|class| class.count).sum();
        println!("{} {count} reachable {dead} dead {graph:?} {:?} edges {}", case.name(), start.elapsed(), kept.graph.edge_count());
        let guessed = kept.graph.roots().iter().filter(|root| root.kind == RootKind::Guessed).count();
        println!("  roots {} guessed {guessed}", kept.graph.roots().len());
        for class in classes.iter().take(8) {
            println!("    {class:?}");
        }
        let mut dead = classes.clone();
        dead.sort_by_key(|class| std::cmp::Reverse(class.dead_count));
        for class in dead.iter().take(6) {
            println!("    dead {} {} {}", class.class, class.dead_count, class.dead_bytes);
        }
    }
}
