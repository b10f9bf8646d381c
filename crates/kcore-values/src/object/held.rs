//! What an object holds that the members of its type do not tell.

use kcore_symbols::Type;

use super::Object;
use crate::{Content, Limits, Process, Value, printers};

/// Why the members of a type do not tell all that its objects hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HolderKind {
    /// It is a container of a standard library, and owns one piece of memory in which its elements lie.
    Buffer,
    /// It is a container that owns several pieces of memory: nodes, and a table to find them by.
    Nodes,
    /// It is an enumeration with data: what lies in an object depends on its discriminant.
    Variants,
}

impl HolderKind {
    /// Of a type behind aliases; `None` where its members tell all.
    pub fn of(ty: &Type) -> Option<Self> {
        let composite = ty.composite();
        if composite.is_some_and(|composite| composite.variants.is_some()) {
            return Some(Self::Variants);
        }
        Some(match printers::keeping(ty)? {
            printers::Keeping::Buffer => Self::Buffer,
            printers::Keeping::Nodes => Self::Nodes,
        })
    }
}

impl Object {
    /// The objects that a container holds, or the data of an enumeration: those that lie in memory, at most `most`
    /// elements. Keys and values are objects of their own, and text has none. `None` of what makes no sense as an
    /// object of its type.
    pub fn held(&self, process: &dyn Process, most: u64) -> Option<Vec<Self>> {
        let limits = Limits {
            depth: Some(1),
            elements: Some(most),
            characters: Some(0),
            pointers: 0,
            ..Limits::default()
        };
        let mut held = Vec::new();
        let mut take = |value: Value| held.extend(in_memory(value));
        match self.value(process, &limits).content {
            Content::Elements(elements) => elements.values.into_iter().for_each(take),
            Content::Entries { entries, .. } => {
                entries.into_iter().flat_map(|entry| [entry.key, entry.value]).for_each(take);
            }
            Content::Variant(variant) => {
                variant.fields.into_iter().for_each(|field| take(field.value));
            }
            Content::Text(_) | Content::Bytes(_) | Content::Empty => {}
            _ => return None,
        }
        Some(held)
    }
}

/// A value that fills whole bytes of memory, as an object.
fn in_memory(value: Value) -> Option<Object> {
    let at = value.at.filter(|_| value.bits.is_none())?;
    Some(Object::at(value.ty, at))
}
