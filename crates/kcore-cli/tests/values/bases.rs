//! Virtual base classes: an object has one of each, whatever paths lead to it.

use gen_cores::Outcome;
use serde_json::Value as Json;

use crate::ask::Asked;
use crate::tree::children;

/// How often a member of a name is shown.
fn count(tree: &Json, name: &str) -> usize {
    let below: usize = children(tree).iter().map(|child| count(child, name)).sum();
    below + usize::from(tree["name"] == name)
}

#[test]
fn a_virtual_base_is_shown_once() {
    for variant in ["O0-pie", "O0-clang-pie"] {
        let case = match gen_cores::ensure("values-cpp", variant).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                continue;
            }
        };
        let mut asked = Asked::open(&case);
        let whole = asked.print("demo::g_diamond").unwrap();
        assert_eq!(count(&whole, "top"), 1, "{variant}: {whole}");
        assert_eq!(count(&whole, "via_b"), 1, "{variant}: {whole}");
    }
}
