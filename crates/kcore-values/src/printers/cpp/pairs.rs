//! Containers whose nodes hold values, or pairs of keys and values.

use kcore_mem::Addr;
use kcore_symbols::Type;

use crate::{Object, eval::Evaluator, printers::find::aligned};

/// What the nodes of a container hold.
pub struct NodeContent {
    /// A key, or a value of a container without keys.
    pub key: Type,
    /// The value that belongs to a key.
    pub mapped: Option<Type>,
    /// Bytes before it that are links.
    pub links: u64,
}

impl NodeContent {
    /// What a container holds whose first template arguments are a key and, of a map, a value.
    pub fn of(
        evaluator: &Evaluator<'_>,
        container: &Type,
        is_map: bool,
        links: u64,
    ) -> Option<Self> {
        let key = evaluator.argument(container, 0)?;
        let mapped = if is_map { Some(evaluator.argument(container, 1)?) } else { None };
        Some(Self { key, mapped, links })
    }

    /// The key, or the value of a container without keys, in a node.
    pub fn key_in(&self, evaluator: &Evaluator<'_>, node: Addr) -> Option<Object> {
        let mapped = self.mapped.as_ref().map_or(1, |mapped| evaluator.alignment(mapped));
        let alignment = evaluator.alignment(&self.key).max(mapped);
        let at = node.checked_add(aligned(self.links, alignment))?;
        Some(Object::at(self.key.clone(), at))
    }

    /// The key and the value in a node of a map.
    pub fn pair_in(&self, evaluator: &Evaluator<'_>, node: Addr) -> Option<(Object, Object)> {
        let key = self.key_in(evaluator, node)?;
        let mapped = self.mapped.as_ref()?;
        let size = evaluator.complete(&self.key)?.size()?;
        let into = aligned(size, evaluator.alignment(mapped));
        let value = Object { ty: mapped.clone(), place: key.place.part(into) };
        Some((key, value))
    }
}
