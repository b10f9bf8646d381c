//! `QHash` and `QSet` of Qt 5 (QtCore/qhash.h of 5.15): buckets of lists that end at the table itself. Those of Qt 6 are
//! in the set `qt.kcore`.

use kcore_mem::Addr;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Nodes and buckets that a table may have.
const MAX: u64 = 0x7fff_ffff;

/// A table of nodes.
pub struct Hash;

impl Printer for Hash {
    fn families(&self) -> &'static [&'static str] {
        &["QHash", "QMultiHash", "QSet"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let set = evaluator.member(object, "q_hash");
        let mut nodes = Nodes::of(evaluator, set.as_ref().unwrap_or(object))?;
        let size = nodes.size;
        match set {
            Some(_) => evaluator.sequence(size, |evaluator, _| {
                let node = nodes.next(evaluator)?;
                evaluator.member(&node, "key")
            }),
            None => evaluator.entries(size, |evaluator, _| {
                let node = nodes.next(evaluator)?;
                Some((evaluator.member(&node, "key")?, evaluator.member(&node, "value")?))
            }),
        }
    }
}

/// The nodes of a table, one after the other.
struct Nodes {
    /// Where the table lies, at which the list of each bucket ends.
    table: Addr,
    size: u64,
    /// The buckets that were not looked at.
    buckets: Addr,
    left: u64,
    /// A node as the type of the pointer to the end has it, at whichever address.
    node: Object,
    at: Addr,
}

impl Nodes {
    fn of(evaluator: &Evaluator<'_>, hash: &Object) -> Option<Self> {
        let process = evaluator.process();
        let table = evaluator.member(hash, "d")?.target(process).ok()?;
        let node = evaluator.member(hash, "e")?.target(process).ok()?;
        let number = |name| evaluator.number(&evaluator.member(&table, name)?);
        let buckets = Addr::new(number("buckets")?);
        let (size, left) = (number("size")?, number("numBuckets")?);
        // Both are of type int.
        if size > MAX || left > MAX {
            return None;
        }
        let room = left.checked_mul(evaluator.word())?;
        let last = buckets.checked_add(room.saturating_sub(1))?;
        if left > 0 && !(evaluator.is_mapped(buckets) && evaluator.is_mapped(last)) {
            return None;
        }
        let at = table.address()?;
        Some(Self { table: at, size, buckets, left, node, at })
    }

    fn next(&mut self, evaluator: &Evaluator<'_>) -> Option<Object> {
        while self.at == self.table {
            self.left = self.left.checked_sub(1)?;
            self.at = evaluator.pointer_at(self.buckets, 0)?;
            self.buckets = self.buckets.checked_add(evaluator.word())?;
        }
        let node = Object::at(self.node.ty.clone(), self.at);
        self.at = evaluator.pointer_in(&node, &["next"])?;
        Some(node)
    }
}
