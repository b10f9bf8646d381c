//! What objects of Lua refer to: `reallymarkobject` and `propagatemark` of `lgc.c`.

use kcore_mem::Addr;

use super::{
    heap::Kind,
    layout::Series,
    memory::{FUNCTION, Function, Memory, STRING, TABLE, THREAD, VALUE, Value, pointer},
    proto::Proto,
    table::Entries,
};
use crate::{
    lua_text::is_whole,
    objects::{Edge, NamedEdge},
};

/// References of one object, at most.
const MAX_EDGES: usize = 1 << 22;
/// The member of a metatable that says which references of its tables are weak, and how many are looked at.
const MODE: &str = "__mode";
const MAX_MEMBERS: usize = 1024;
const TAG: u64 = 8;
const VARIANTS: u8 = 0x3f;
/// `env` of functions and userdata, and `l_gt` of states, in 5.1.
const ENVIRONMENT: u64 = 24;
const GLOBALS: u64 = 120;
/// `env` of userdata in 5.2, `user_` in 5.3, and the first of its values in 5.4 with how many there are.
const USER_ENVIRONMENT: u64 = 24;
const USER_VALUE: u64 = 32;
const USER_TAG: u64 = 10;
const USER_VALUES: u64 = 40;
const USER_COUNT: u64 = 10;
/// Upvalues of a function, at most: their count is a byte.
const MAX_UPVALUES: u64 = 255;
const INTEGER_53: u8 = 0x13;
const NUMBER: u8 = 3;

/// What collects the references of one object.
pub struct References<'a> {
    memory: &'a Memory<'a>,
    /// They.
    pub found: Vec<NamedEdge>,
}

impl<'a> References<'a> {
    /// Those of an object.
    pub fn of(memory: &'a Memory<'a>, at: Addr, kind: Kind) -> Self {
        let mut references = Self { memory, found: Vec::new() };
        match kind {
            Kind::Text => {}
            Kind::Table => references.of_table(at),
            Kind::Function => references.of_function(at),
            Kind::Userdata => references.of_userdata(at),
            Kind::Thread => references.of_thread(at),
            Kind::Proto => references.of_proto(at),
            Kind::Upvalue => {
                let place = memory.pointer(at, memory.layout.upvalue_place);
                references.add_at(place, Edge::Slot("value"));
            }
        }
        references
    }

    fn to(&mut self, to: Option<Addr>, edge: Edge, is_weak: bool) {
        if let Some(to) = to.filter(|_| self.found.len() < MAX_EDGES) {
            self.found.push(NamedEdge { to, edge, is_weak });
        }
    }

    fn add(&mut self, value: Value, edge: Edge, is_weak: bool) {
        self.to(target(value), edge, is_weak);
    }

    fn add_at(&mut self, place: Option<Addr>, edge: Edge) {
        if let Some(value) = place.and_then(|place| self.memory.value(place)) {
            self.add(value, edge, false);
        }
    }

    fn add_pointer(&mut self, at: Addr, offset: u64, name: &'static str) {
        self.to(self.memory.pointer(at, offset), Edge::Slot(name), false);
    }

    fn of_table(&mut self, at: Addr) {
        let metatable = self.memory.metatable(at, Kind::Table);
        self.to(metatable, Edge::Slot("metatable"), false);
        let mode =
            || self.memory.text(self.memory.member(metatable?, MODE, MAX_MEMBERS)?.object(STRING)?);
        let mode = mode().unwrap_or_default();
        let (weak_keys, weak_values) = (mode.contains('k'), mode.contains('v'));
        let memory = self.memory;
        for (key, value) in Entries::of(memory, at).into_iter().flatten().take(MAX_EDGES) {
            self.add(key, Edge::Key, weak_keys);
            if target(value).is_some() {
                let edge = self.edge_of(key);
                // What is only kept with its key (an ephemeron) is shown as kept.
                self.add(value, edge, weak_values);
            }
        }
    }

    fn edge_of(&self, key: Value) -> Edge {
        let text = key.object(STRING).and_then(|at| self.memory.text(at));
        match text {
            Some(name) if is_whole(&name) => Edge::Member(name.into()),
            Some(name) => Edge::Entry(name.into()),
            None => whole(self.memory.layout.series, key).map_or(Edge::Value, Edge::Numbered),
        }
    }

    fn of_function(&mut self, at: Addr) {
        let memory = self.memory;
        let Some(tag) = memory.byte(at, TAG) else { return };
        if memory.layout.series == Series::V51 {
            self.add_pointer(at, ENVIRONMENT, "environment");
        }
        let (first, count) = memory.layout.upvalues;
        let count = memory.uint(at, count, 1).unwrap_or_default().min(MAX_UPVALUES);
        let place =
            |index: u64, each: u64| at.checked_add(first)?.checked_add(index.checked_mul(each)?);
        match memory.function(Value { tag: tag & VARIANTS, word: at.get() }) {
            Some(Function::C { .. }) => {
                for index in 0..count {
                    self.add_at(place(index, VALUE), Edge::Slot("upvalue"));
                }
            }
            Some(Function::Lua { proto, .. }) => {
                self.to(Some(proto), Edge::Slot("proto"), false);
                let code = Proto::load(memory, proto);
                for index in 0..count {
                    let shared = place(index, 8).and_then(|at| memory.pointer(at, 0));
                    self.to(shared, Edge::Slot("upvalue"), false);
                    let name = code.as_ref().and_then(|code| code.upvalue(memory, index));
                    let edge =
                        name.map_or(Edge::Slot("upvalue"), |name| Edge::Variable(name.into()));
                    let value =
                        shared.and_then(|at| memory.pointer(at, memory.layout.upvalue_place));
                    self.add_at(value, edge);
                }
            }
            None => {}
        }
    }

    fn of_userdata(&mut self, at: Addr) {
        self.to(self.memory.metatable(at, Kind::Userdata), Edge::Slot("metatable"), false);
        match self.memory.layout.series {
            Series::V51 | Series::V52 => self.add_pointer(at, USER_ENVIRONMENT, "environment"),
            Series::V53 => {
                let tag = self.memory.byte(at, USER_TAG).map(|tag| tag & VARIANTS);
                if let Some((tag, word)) = tag.zip(self.memory.word(at, USER_VALUE)) {
                    self.add(Value { tag, word }, Edge::Slot("value"), false);
                }
            }
            Series::V54 => {
                let count = self.memory.uint(at, USER_COUNT, 2).unwrap_or_default();
                for index in 0..count {
                    let offset = index.saturating_mul(VALUE).saturating_add(USER_VALUES);
                    self.add_at(at.checked_add(offset), Edge::Slot("value"));
                }
            }
        }
    }

    /// The values on the stack of a thread.
    fn of_thread(&mut self, at: Addr) {
        let state = &self.memory.layout.state;
        if self.memory.layout.series == Series::V51 {
            self.add_at(at.checked_add(GLOBALS), Edge::Slot("globals"));
        }
        let ends = self.memory.pointer(at, state.stack).zip(self.memory.pointer(at, state.top));
        let Some((first, top)) = ends else { return };
        let count = top.offset_from(first).and_then(|bytes| bytes.checked_div(VALUE));
        for index in 0..count.unwrap_or_default().min(MAX_EDGES as u64) {
            let place = first.saturating_add(index.saturating_mul(VALUE));
            if self.memory.value(place).is_none() {
                return;
            }
            self.add_at(Some(place), Edge::Slot("stack"));
        }
    }

    /// Constants, functions inside, and names.
    fn of_proto(&mut self, at: Addr) {
        let layout = &self.memory.layout.proto;
        let memory = self.memory;
        self.add_pointer(at, layout.source, "source");
        let array = |(start, count): (u64, u64)| {
            let count = memory.uint(at, count, 4).unwrap_or_default().min(MAX_EDGES as u64);
            memory.pointer(at, start).map(|first| (first, count))
        };
        let places = |part: (u64, u64), each: u64| {
            let (first, count) = array(part).unwrap_or((Addr::new(0), 0));
            (0..count).map(move |index| first.saturating_add(index.saturating_mul(each)))
        };
        for place in places(layout.constants, VALUE) {
            self.add_at(Some(place), Edge::Slot("constant"));
        }
        for place in places((layout.inner, layout.inner_count), 8) {
            self.add_pointer(place, 0, "function");
        }
        let names = places(layout.locals, 16);
        for place in names.chain(places(layout.upvalues, layout.upvalue_size)) {
            self.add_pointer(place, 0, "name");
        }
    }
}

/// The object that a value is.
fn target(value: Value) -> Option<Addr> {
    let is_object = match value.kind() {
        STRING | TABLE | super::heap::USERDATA | THREAD => true,
        // A function of C without upvalues is no object.
        FUNCTION => value.tag != 0x16,
        _ => false,
    };
    is_object.then(|| pointer(value.word))?
}

/// The whole number that a key is.
fn whole(series: Series, key: Value) -> Option<i64> {
    match (series, key.tag) {
        (Series::V54, NUMBER) | (Series::V53, INTEGER_53) => Some(key.word.cast_signed()),
        (Series::V51 | Series::V52, NUMBER) => {
            let number = f64::from_bits(key.word);
            #[allow(clippy::cast_possible_truncation)]
            (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
        }
        _ => None,
    }
}
