//! `std::forward_list`: nodes up to one that leads nowhere.

use super::pairs::NodeContent;
use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Elements in nodes, linked one way.
pub struct ForwardList;

impl Printer for ForwardList {
    fn families(&self) -> &'static [&'static str] {
        &["std::forward_list"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let head = evaluator.dig(object, &["_M_head", "__before_begin_"])?;
        let first = evaluator.pointer_in(&head, &["_M_next", "__next_"])?;
        let held = NodeContent::of(evaluator, &object.ty, false, evaluator.word())?;
        let mut count = 0;
        let mut node = first;
        while node.get() != 0 && count <= evaluator.max_elements() {
            node = evaluator.pointer_at(node, 0)?;
            count = u64::saturating_add(count, 1);
        }
        let total = (node.get() == 0).then_some(count);
        let mut node = first;
        evaluator.counted_sequence(count, total, |evaluator, _| {
            let element = held.key_in(evaluator, node).filter(|_| node.get() != 0)?;
            node = evaluator.pointer_at(node, 0)?;
            Some(element)
        })
    }
}
