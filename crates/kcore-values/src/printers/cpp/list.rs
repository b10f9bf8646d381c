//! `std::list`: a circle of nodes, in which the container itself is one.

use kcore_mem::Addr;

use super::pairs::NodeContent;
use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Nodes that are counted of a list that does not know how many it has (libstdc++ before gcc 5).
const MAX_COUNTED: u64 = 1 << 20;

/// Elements in nodes, linked both ways.
pub struct List;

impl Printer for List {
    fn families(&self) -> &'static [&'static str] {
        &["std::list"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let header = evaluator.dig(object, &["_M_node", "__end_"])?;
        let end = header.address()?;
        let first = evaluator.pointer_in(&header, &["_M_next", "__next_"])?;
        // libc++ has the link backward first.
        let is_libcxx = evaluator.dig(&header, &["__next_"]).is_some();
        let next = if is_libcxx { evaluator.word() } else { 0 };
        let size = evaluator.number_in(object, &["_M_size", "__size_alloc_", "__size_"]);
        let size = size.or_else(|| counted(evaluator, first, end, next))?;
        let links = evaluator.word().checked_mul(2)?;
        let held = NodeContent::of(evaluator, &object.ty, false, links)?;
        if (size == 0) != (first == end) || !evaluator.is_mapped(first) {
            return None;
        }
        let mut node = first;
        evaluator.sequence(size, |evaluator, _| {
            let element = held.key_in(evaluator, node).filter(|_| node != end)?;
            node = evaluator.pointer_at(node, next).unwrap_or(end);
            Some(element)
        })
    }
}

fn counted(evaluator: &Evaluator<'_>, first: Addr, end: Addr, next: u64) -> Option<u64> {
    let mut node = first;
    for count in 0..MAX_COUNTED {
        if node == end {
            return Some(count);
        }
        node = evaluator.pointer_at(node, next)?;
    }
    None
}
