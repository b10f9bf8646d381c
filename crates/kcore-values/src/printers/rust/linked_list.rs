//! `LinkedList`.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Elements in nodes, linked both ways.
pub struct LinkedList;

impl Printer for LinkedList {
    fn families(&self) -> &'static [&'static str] {
        &["rust::LinkedList"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let len = evaluator.number_in(object, &["len"])?;
        let mut link = evaluator.member(object, "head");
        evaluator.sequence(len, |evaluator, _| {
            let node = evaluator.dig_pointer(&link.take()?)?;
            let node = node.target(evaluator.process()).ok()?;
            link = evaluator.member(&node, "next");
            evaluator.member(&node, "element")
        })
    }
}
