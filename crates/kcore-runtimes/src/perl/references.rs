//! What values of Perl refer to: `sv_clear` of `sv.c` gives back what they keep.

use kcore_mem::Addr;

use super::{
    arenas::Arenas,
    memory::{ARRAY, CODE, FORMAT, GLOB, HASH, Memory},
    value::Entries,
};
use crate::objects::{Edge, NamedEdge};

/// References of one value, at most.
const MAX_EDGES: usize = 1 << 22;
/// Magic of one value that is looked at, at most.
const MAX_MAGIC: usize = 64;
/// `SVt_PVLV`: values of the types before it may be references.
const PLACE: u8 = 10;
/// `SVf_ROK`, `SVprv_WEAKREF`, `SVs_OBJECT`, and `SVpav_REAL` of arrays that count what they refer to.
const REFERENCE: u64 = 0x800;
const IS_WEAK: u64 = 0x8000_0000;
const IS_OBJECT: u64 = 0x0010_0000;
const IS_COUNTED: u64 = 0x4000_0000;
/// `SVt_PVMG`, the first type with a package and with magic.
const FIRST_MAGIC: u8 = 7;
/// `xmg_stash` and `xmg_magic`; `xlv_targ`.
const STASH: u64 = 0;
const MAGIC: u64 = 8;
const TARGET: u64 = 64;
/// `mg_moremagic`, `mg_flags` and `mg_obj` of `MAGIC`, and `MGf_REFCOUNTED`.
const NEXT: u64 = 0;
const MAGIC_FLAGS: u64 = 19;
const MAGIC_OBJECT: u64 = 32;
const OWNS_OBJECT: u64 = 2;
/// `gp_sv`, `gp_io`, `gp_cv`, `gp_hv`, `gp_av` and `gp_form` of `GP`.
const GLOB_PARTS: [(u64, &str); 6] =
    [(0, "scalar"), (8, "file"), (16, "code"), (32, "hash"), (40, "array"), (48, "format")];
/// `xcv_gv_u`, `xcv_outside` and `xcv_flags`; `CVf_WEAKOUTSIDE` and `CVf_CVGV_RC`.
const CODE_GLOB: u64 = 56;
const OUTSIDE: u64 = 80;
const CODE_FLAGS: u64 = 92;
const IS_OUTSIDE_WEAK: u64 = 0x10;
const OWNS_GLOB: u64 = 0x400;

/// What collects the references of one value.
pub struct References<'a> {
    memory: &'a Memory<'a>,
    arenas: &'a Arenas,
    /// They.
    pub found: Vec<NamedEdge>,
}

impl<'a> References<'a> {
    /// Those of a value of a type.
    pub fn of(memory: &'a Memory<'a>, arenas: &'a Arenas, value: Addr, kind: u8) -> Self {
        let mut references = Self { memory, arenas, found: Vec::new() };
        let flags = memory.flags(value).unwrap_or_default();
        match kind {
            ARRAY => references.of_array(value, flags),
            HASH => references.of_hash(value),
            CODE | FORMAT => references.of_code(value),
            GLOB => references.of_glob(value),
            kind if kind <= PLACE && flags & REFERENCE != 0 => {
                references.add(memory.held(value), Edge::Slot("referent"), flags & IS_WEAK != 0);
            }
            PLACE => {
                let body = memory.body(value);
                let target = body.and_then(|body| memory.pointer(body, TARGET));
                references.add(target, Edge::Slot("target"), false);
            }
            _ => {}
        }
        if kind >= FIRST_MAGIC {
            references.of_body(value, flags);
        }
        references
    }

    fn add(&mut self, to: Option<Addr>, edge: Edge, is_weak: bool) {
        if let Some(to) = to.filter(|_| self.found.len() < MAX_EDGES) {
            self.found.push(NamedEdge { to, edge, is_weak });
        }
    }

    /// The elements of an array. Those of a pad are variables.
    fn of_array(&mut self, array: Addr, flags: u64) {
        let Some((first, count)) = self.memory.elements(array) else { return };
        let code = self.arenas.pads.get(&array);
        let names = code.map(|code| self.memory.slot_names(*code)).unwrap_or_default();
        for index in 0..count.min(MAX_EDGES as u64) {
            let Some(at) = first.checked_add(index.saturating_mul(8)) else { return };
            let name = usize::try_from(index).ok().and_then(|index| names.get(index)?.clone());
            let edge = match (code.is_some(), name) {
                (_, Some(name)) => Edge::Variable(name.into()),
                (true, None) if index == 0 => Edge::Slot("@_"),
                (true, None) => Edge::Slot("temporary"),
                (false, None) => Edge::Index(index),
            };
            self.add(self.memory.pointer(at, 0), edge, flags & IS_COUNTED == 0);
        }
    }

    fn of_hash(&mut self, hash: Addr) {
        let memory = self.memory;
        for (key, value) in Entries::of(memory, hash).into_iter().flatten().take(MAX_EDGES) {
            self.add(Some(value), Edge::Entry(key.into()), false);
        }
    }

    fn of_glob(&mut self, glob: Addr) {
        let Some(parts) = self.memory.held(glob) else { return };
        for (offset, name) in GLOB_PARTS {
            self.add(self.memory.pointer(parts, offset), Edge::Slot(name), false);
        }
    }

    fn of_code(&mut self, code: Addr) {
        for pad in self.memory.pads_of(code) {
            self.add(Some(pad), Edge::Slot("pad"), false);
        }
        let Some(body) = self.memory.body(code) else { return };
        let flags = self.memory.uint(body, CODE_FLAGS, 4).unwrap_or_default();
        let outside = self.memory.pointer(body, OUTSIDE);
        self.add(outside, Edge::Slot("outside"), flags & IS_OUTSIDE_WEAK != 0);
        let glob = self.memory.pointer(body, CODE_GLOB);
        self.add(glob, Edge::Slot("glob"), flags & OWNS_GLOB == 0);
    }

    /// The package that an object is blessed into, and what its magic keeps.
    fn of_body(&mut self, value: Addr, flags: u64) {
        let Some(body) = self.memory.body(value) else { return };
        if flags & IS_OBJECT != 0 {
            self.add(self.memory.pointer(body, STASH), Edge::Slot("package"), false);
        }
        let memory = self.memory;
        let first = memory.pointer(body, MAGIC);
        let all = std::iter::successors(first, |magic| memory.pointer(*magic, NEXT));
        for magic in all.take(MAX_MAGIC) {
            let flags = memory.uint(magic, MAGIC_FLAGS, 1).unwrap_or_default();
            let object = memory.pointer(magic, MAGIC_OBJECT);
            self.add(object, Edge::Slot("magic"), flags & OWNS_OBJECT == 0);
        }
    }
}
