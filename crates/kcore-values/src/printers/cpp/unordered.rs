//! `std::unordered_map` and its relatives: one list of nodes, whatever buckets there are.

use super::pairs::NodeContent;
use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Hash tables.
pub struct Unordered;

impl Printer for Unordered {
    fn families(&self) -> &'static [&'static str] {
        &[
            "std::unordered_map",
            "std::unordered_multimap",
            "std::unordered_set",
            "std::unordered_multiset",
        ]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let is_map = object.ty.name()?.split('<').next()?.ends_with("map");
        let head = evaluator.dig(object, &["_M_before_begin", "__p1_", "__first_node_"])?;
        let first = evaluator.pointer_in(&head, &["_M_nxt", "__next_"])?;
        let count = evaluator.number_in(object, &["_M_element_count", "__p2_", "__size_"])?;
        // A node of libc++ has its hash between the link and the value.
        let is_libcxx = evaluator.dig(object, &["_M_before_begin"]).is_none();
        let words = if is_libcxx { 2 } else { 1 };
        let held =
            NodeContent::of(evaluator, &object.ty, is_map, evaluator.word().checked_mul(words)?)?;
        if (count == 0) != (first.get() == 0) || (count > 0 && !evaluator.is_mapped(first)) {
            return None;
        }
        let mut next = first;
        let mut node = move |evaluator: &Evaluator<'_>| {
            let node = next;
            next = evaluator.pointer_at(node, 0)?;
            Some(node)
        };
        match is_map {
            true => evaluator.entries(count, |evaluator, _| {
                let node = node(evaluator)?;
                held.pair_in(evaluator, node)
            }),
            false => evaluator.sequence(count, |evaluator, _| {
                let node = node(evaluator)?;
                held.key_in(evaluator, node)
            }),
        }
    }
}
