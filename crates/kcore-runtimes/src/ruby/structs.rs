//! Structs, which data and ranges are too: `internal/struct.h`, `struct.c`, `range.c`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    heap::{ARRAY, CLASS, Heap, Object, USER},
    layout::ClassName,
    value::{Teller, elided, note, of_parts},
    version::Version,
};
use crate::{ScriptLabel, ScriptNode, ScriptPart};

/// Members of a struct, at most.
const MAX_MEMBERS: u64 = 1 << 16;
/// Classes above one, at most.
const MAX_SUPER: usize = 256;
/// The hidden variable of a class that names the members.
const MEMBERS: &str = "__members__";
/// `super` of a class.
const SUPER: u64 = 16;
/// The parts of a range.
const RANGE: [&str; 3] = ["begin", "end", "exclusive"];

impl Teller<'_> {
    /// A struct with its members, or a range.
    pub(super) fn structure(&self, object: Object, depth: u32) -> ScriptNode {
        let class = self.heap.class_of(object).and_then(|class| self.heap.real_class(class));
        let is = |name| class.is_some_and(|class| self.heap.descends(class, name));
        let kind = match () {
            () if is("Range") => "range",
            () if is("Data") => "data",
            () => "struct",
        };
        let Some(members) = self.heap.struct_members(object) else {
            return note(kind, "its members are not known");
        };
        match kind {
            "range" => self.range(&members, depth),
            _ => self.named_parts(kind, members, depth),
        }
    }

    fn range(&self, members: &[(Arc<str>, u64)], depth: u32) -> ScriptNode {
        let Some(depth) = self.deeper(depth) else { return elided("range", 2) };
        let parts: Vec<ScriptPart> = RANGE
            .into_iter()
            .zip(members)
            .map(|(name, (_, value))| {
                ScriptPart::new(ScriptLabel::Fact(name), self.node(*value, depth))
            })
            .collect();
        match parts.len() {
            3 => of_parts("range", parts, 3),
            _ => note("range", "unreadable"),
        }
    }
}

impl Heap<'_> {
    /// The members of a struct by their names.
    pub fn struct_members(&self, object: Object) -> Option<Vec<(Arc<str>, u64)>> {
        let (first, count) = self.struct_values(object)?;
        let class = self.real_class(self.class_of(object)?)?;
        let names = self.member_names(class)?;
        (names.len() as u64 == count).then_some(())?;
        let member =
            |(index, name): (u64, Arc<str>)| Some((name, self.word(first, index.checked_mul(8)?)?));
        (0..).zip(names).map(member).collect()
    }

    /// Where the members lie, and how many there are. More of them lie in the object since 3.3.
    fn struct_values(&self, object: Object) -> Option<(Addr, u64)> {
        let mask = if self.layout.version >= Version::new(3, 3) { 0x7f } else { 3 };
        match object.flags >> USER.saturating_add(1) & mask {
            0 => {
                let count = self.word(object.at, 16)?;
                (count <= MAX_MEMBERS).then_some((Addr::new(self.word(object.at, 24)?), count))
            }
            count => Some((object.at.checked_add(16)?, count)),
        }
    }

    /// The names of members, which the class has that was made with them.
    fn member_names(&self, class: Addr) -> Option<Vec<Arc<str>>> {
        let holder = self.ancestors(class).find_map(|class| self.hidden(class, MEMBERS))?;
        let array = self.object(holder).filter(|object| object.kind() == ARRAY)?;
        let (first, count) = self.elements(array)?;
        (count <= MAX_MEMBERS).then_some(())?;
        let name = |index: u64| self.symbol(self.word(first, index.checked_mul(8)?)?);
        (0..count).map(|index| name(index).map(Arc::from)).collect()
    }

    /// Whether a class is one of a name, or inherits from it.
    pub fn descends(&self, class: Addr, name: &str) -> bool {
        self.ancestors(class).any(|class| {
            class.kind() == CLASS && self.class_name(class.at).as_deref() == Some(name)
        })
    }

    /// A class, those above it, and those that stand for modules between.
    fn ancestors(&self, class: Addr) -> impl Iterator<Item = Object> + '_ {
        let above = |class: &Object| self.class(self.pointer(class.at, SUPER)?);
        std::iter::successors(self.class(class), above).take(MAX_SUPER)
    }

    /// A variable of a class that no program sees.
    fn hidden(&self, class: Object, name: &str) -> Option<u64> {
        let extension = self.extension(class)?;
        if self.layout.class.name == ClassName::Variable {
            return self.class_variable(extension, &[name]);
        }
        let variables = self.shaped(class.flags, self.pointer(extension, 0)?)?;
        variables.into_iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }
}
