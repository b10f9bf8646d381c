//! Values of Perl as trees: `sv.h`, `av.h` and `hv.h`.
//!
//! A reference stands for what it refers to, as a program would write it: an array between brackets, a hash between braces.
//! The entries of hashes are sorted by their keys, where all of them are told.

use std::cell::Cell;

use kcore_mem::Addr;

use super::memory::{ARRAY, CODE, FORMAT, GLOB, HASH, Memory, pointer, text_of};
use crate::{
    ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest, VariableLimits,
};

/// `SVt_REGEXP`, `SVt_PVLV`, `SVt_PVIO` and, since 5.38, `SVt_PVOBJ`.
const PATTERN: u8 = 8;
const PLACE: u8 = 10;
const FILE: u8 = 15;
const OBJECT: u8 = 16;
/// `SVTYPEMASK`: no value has the head any longer.
const FREED: u8 = 0xff;
/// `SVf_IOK` and its like, also where only Perl itself takes the value for one: `SVp_IOK`.
const INTEGER: u64 = 0x1100;
const NUMBER: u64 = 0x2200;
const TEXT: u64 = 0x4400;
const REFERENCE: u64 = 0x800;
/// `SVf_IVisUV`, `SVf_UTF8`, `SVs_GMG`.
const IS_UNSIGNED: u64 = 0x8000_0000;
const IS_UTF8: u64 = 0x2000_0000;
const HAS_MAGIC: u64 = 0x0020_0000;
/// `xpv_cur`, `xiv_iv` and `xnv_nv` of bodies.
const LENGTH: u64 = 16;
const WHOLE: u64 = 32;
const FLOAT: u64 = 40;
/// Bytes of an entry of a hash; its key, and its value.
const ENTRY_KEY: u64 = 8;
const ENTRY_VALUE: u64 = 16;
/// `hek_len` of a key that is a value: `HEf_SVKEY`.
const VALUE_KEY: i32 = -2;
/// Places of a hash without an entry, one after another, before it is given up.
const MAX_EMPTY: u64 = 1 << 16;
/// Entries that begin at one place, at most.
const MAX_CHAIN: usize = 1 << 12;

/// What tells values.
pub struct Teller<'a> {
    memory: &'a Memory<'a>,
    limits: VariableLimits,
    /// The type of operations that are statements.
    statement: Option<u64>,
    has_globs: bool,
    /// Nodes that may still be told: depth and length alone would allow too many.
    left: Cell<u64>,
}

impl<'a> Teller<'a> {
    /// One with limits.
    pub fn new(memory: &'a Memory<'a>, limits: VariableLimits) -> Self {
        let left = Cell::new(limits.entries.saturating_mul(64));
        Self { memory, limits, statement: None, has_globs: false, left }
    }

    /// One that tells where code begins: by the type of operations that are statements, and how files are found.
    pub fn with_statements(self, statement: Option<u64>, has_globs: bool) -> Self {
        Self { statement, has_globs, ..self }
    }

    /// What a variable has: a scalar, or the elements of an array or a hash, in parentheses.
    pub fn variable(&self, value: Addr) -> ScriptNode {
        let node = match self.memory.kind(value) {
            Some(ARRAY) => variable_of("list", self.array(value, self.limits.depth)),
            Some(HASH) => variable_of("pairs", self.hash(value, self.limits.depth)),
            _ => return self.scalar(value, self.limits.depth),
        };
        ScriptNode { at: Some(value), ..node }
    }

    /// What a scalar has.
    pub fn value(&self, value: Addr) -> ScriptNode {
        self.scalar(value, self.limits.depth)
    }

    /// What a value is that nothing is known of but where it lies: of an array or a hash, what a reference to it shows.
    pub fn whole(&self, value: Addr) -> ScriptNode {
        match self.memory.kind(value) {
            Some(ARRAY | HASH) => self.referent(value, self.limits.depth),
            _ => ScriptNode { class: self.class(value), ..self.value(value) },
        }
    }

    fn scalar(&self, value: Addr, depth: u32) -> ScriptNode {
        self.left.set(self.left.get().saturating_sub(1));
        let Some((kind, flags)) = self.memory.kind(value).zip(self.memory.flags(value)) else {
            return note("unreadable", "no value");
        };
        let node = match kind {
            GLOB => self.glob(value),
            CODE | FORMAT => self.code(value),
            PATTERN => self.text("pattern", value, flags),
            ARRAY | HASH => note("unreadable", "no scalar"),
            OBJECT => ScriptNode { class: self.class(value), ..note("object", "object") },
            FILE => note("file", "file"),
            FREED => note("freed", "freed"),
            _ => match self.magical(value, kind, flags) {
                Some(magical) => magical,
                None if flags & REFERENCE != 0 => self.reference(value, depth),
                None => self.plain(value, flags),
            },
        };
        ScriptNode { at: Some(value), ..node }
    }

    /// What a scalar is that holds at most what was last got from it, such as `substr(...)` and a tied variable.
    fn magical(&self, value: Addr, kind: u8, flags: u64) -> Option<ScriptNode> {
        if let Some(kept) = self.memory.kept_elsewhere(value) {
            return Some(note("magic", kept));
        }
        let is_empty = flags & (INTEGER | NUMBER | TEXT | REFERENCE) == 0;
        let is_magical = flags & HAS_MAGIC != 0 && (is_empty || kind == PLACE);
        let what = match kind == PLACE && self.memory.is_lazy_element(value) {
            true => "an element that may not exist",
            false => "what a function gives",
        };
        is_magical.then(|| note("magic", what))
    }

    fn plain(&self, value: Addr, flags: u64) -> ScriptNode {
        // Text that was used as a number is still text, and a number that was printed still a number.
        let is_public = |bits: u64| flags & bits & 0xf00 != 0;
        let has = |bits: u64| flags & bits != 0;
        if is_public(TEXT) || has(TEXT) && !has(INTEGER | NUMBER) {
            return self.text("string", value, flags);
        }
        if is_public(INTEGER) || has(INTEGER) && !has(NUMBER) {
            return self.integer(value, flags).unwrap_or_else(|| note("unreadable", "unreadable"));
        }
        match self.memory.body(value).and_then(|body| self.memory.word(body, FLOAT)) {
            Some(bits) if has(NUMBER) => {
                let number = ScriptScalar::Number(f64::from_bits(bits));
                ScriptNode::scalar("number", number)
            }
            None if has(NUMBER) => note("unreadable", "unreadable"),
            _ => ScriptNode::scalar("undef", ScriptScalar::Word("undef")),
        }
    }

    fn integer(&self, value: Addr, flags: u64) -> Option<ScriptNode> {
        // A small value has no body: where its body would begin is told by where it lies itself.
        let at = self.memory.word(value, 0).map(Addr::new)?;
        let word = self.memory.word(at, WHOLE)?;
        let digits = match flags & IS_UNSIGNED != 0 {
            true => word.to_string(),
            false => word.cast_signed().to_string(),
        };
        Some(ScriptNode::scalar("integer", ScriptScalar::Integer(digits.into())))
    }

    fn text(&self, kind: &'static str, value: Addr, flags: u64) -> ScriptNode {
        let body = self.memory.body(value);
        let length = body.and_then(|body| self.memory.word(body, LENGTH));
        let Some((length, at)) = length.zip(self.memory.held(value)) else {
            return note(kind, "unreadable");
        };
        let wanted = length.min(self.limits.characters);
        let held = self.memory.space.read_held(at, wanted);
        let rest = match (held.len() as u64 == wanted, wanted == length) {
            (false, _) => TextRest::Unreadable,
            (true, false) => TextRest::Cut,
            (true, true) => TextRest::None,
        };
        let text = text_of(&held, flags & IS_UTF8 != 0).into();
        let class = (kind == "pattern").then(|| self.class(value)).flatten();
        let scalar = ScriptScalar::Text { text, rest };
        ScriptNode { length: Some(length), class, ..ScriptNode::scalar(kind, scalar) }
    }

    fn reference(&self, value: Addr, depth: u32) -> ScriptNode {
        let Some(to) = self.memory.held(value).and_then(|to| pointer(to.get())) else {
            return note("reference", "unreadable");
        };
        self.referent(to, depth)
    }

    /// What a reference to a value stands for.
    fn referent(&self, to: Addr, depth: u32) -> ScriptNode {
        let class = self.class(to);
        match self.memory.kind(to) {
            Some(ARRAY) => ScriptNode { at: Some(to), class, ..self.array(to, depth) },
            Some(HASH) => ScriptNode { at: Some(to), class, ..self.hash(to, depth) },
            Some(CODE) => ScriptNode { at: Some(to), class, ..self.code(to) },
            Some(PATTERN | OBJECT) => self.scalar(to, depth),
            None => note("reference", "unreadable"),
            Some(_) => {
                let Some(depth) = self.deeper(depth) else {
                    return ScriptNode {
                        class,
                        ..ScriptNode::scalar("reference", ScriptScalar::Elided)
                    };
                };
                let part = ScriptPart::new(ScriptLabel::Item, self.scalar(to, depth));
                let parts = Some(ScriptParts { is_list: false, parts: vec![part], is_cut: false });
                ScriptNode { kind: "reference", class, parts, ..ScriptNode::default() }
            }
        }
    }

    fn class(&self, value: Addr) -> Option<std::sync::Arc<str>> {
        self.memory.class(value).map(Into::into)
    }

    fn deeper(&self, depth: u32) -> Option<u32> {
        depth.checked_sub(1).filter(|_| self.left.get() > 0)
    }

    fn array(&self, array: Addr, depth: u32) -> ScriptNode {
        if let Some(kept) = self.memory.kept_elsewhere(array) {
            return note("magic", kept);
        }
        let Some((first, count)) = self.memory.elements(array) else {
            return note("array", "unreadable");
        };
        let Some(depth) = self.deeper(depth) else {
            return ScriptNode::scalar("array", ScriptScalar::Elided);
        };
        let element = |index: u64| {
            let at = first.checked_add(index.checked_mul(8)?)?;
            Some(match self.memory.word(at, 0)? {
                0 => ScriptNode::scalar("undef", ScriptScalar::Word("undef")),
                word => self.scalar(Addr::new(word), depth),
            })
        };
        let part = |index| {
            let value = element(index).unwrap_or_else(|| note("unreadable", "unreadable"));
            ScriptPart::new(ScriptLabel::Item, value)
        };
        let most = self.limits.entries;
        let parts = (0..count.min(most)).map(part).collect();
        let parts = Some(ScriptParts { is_list: false, parts, is_cut: count > most });
        ScriptNode { kind: "array", parts, length: Some(count), ..ScriptNode::default() }
    }

    fn hash(&self, hash: Addr, depth: u32) -> ScriptNode {
        if let Some(kept) = self.memory.kept_elsewhere(hash) {
            return note("magic", kept);
        }
        let Some(entries) = Entries::of(self.memory, hash) else {
            return note("hash", "unreadable");
        };
        let Some(depth) = self.deeper(depth) else {
            return ScriptNode::scalar("hash", ScriptScalar::Elided);
        };
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let mut all: Vec<(String, Addr)> = entries.take(most.saturating_add(1)).collect();
        let is_cut = all.len() > most;
        all.truncate(most);
        all.sort();
        let part = |(key, value): (String, Addr)| {
            ScriptPart::new(ScriptLabel::Name(key.into()), self.scalar(value, depth))
        };
        let parts = Some(ScriptParts {
            is_list: false,
            parts: all.into_iter().map(part).collect(),
            is_cut,
        });
        ScriptNode { kind: "hash", parts, ..ScriptNode::default() }
    }

    fn glob(&self, glob: Addr) -> ScriptNode {
        match self.memory.glob_name(glob) {
            Some((Some(package), name)) => note_of("glob", format!("*{package}::{name}")),
            Some((None, name)) => note_of("glob", format!("*{name}")),
            None => note("glob", "a glob that cannot be read"),
        }
    }

    fn code(&self, code: Addr) -> ScriptNode {
        let Some(name) = self.memory.code_name(code) else {
            return note("code", "code that cannot be read");
        };
        let begin = self.statement.and_then(|kind| self.memory.first_statement(code, kind));
        let place = begin.map(|at| self.memory.position(at, None, self.has_globs));
        let (file, line) = place.map_or((None, None), |place| (place.file, place.line));
        let word = if self.memory.is_c_code(code) == Some(true) { "XS sub" } else { "sub" };
        let function = ScriptScalar::Function { word, name: Some(name.into()), file, line };
        ScriptNode::scalar("code", function)
    }
}

/// The entries of a hash: their keys and values.
pub struct Entries<'a> {
    memory: &'a Memory<'a>,
    places: Addr,
    count: u64,
    place: u64,
    empty: u64,
    entry: Option<Addr>,
    chain: usize,
}

impl<'a> Entries<'a> {
    /// Those of a hash; `None` where it is none.
    pub fn of(memory: &'a Memory<'a>, hash: Addr) -> Option<Self> {
        let (places, count) = memory.places(hash)?;
        Some(Self { memory, places, count, place: 0, empty: 0, entry: None, chain: 0 })
    }

    /// The value of a key.
    pub fn named(&mut self, wanted: &str) -> Option<Addr> {
        self.find(|(key, _)| key == wanted).map(|(_, value)| value)
    }

    fn entry(&self, at: Addr) -> Option<(String, Addr)> {
        let key = self.memory.pointer(at, ENTRY_KEY)?;
        let is_value = self.memory.int(key, 4)? == VALUE_KEY;
        let key = match is_value {
            true => "<a value>".to_owned(),
            false => self.memory.key(key).unwrap_or_else(|| "<unreadable>".to_owned()),
        };
        Some((key, self.memory.pointer(at, ENTRY_VALUE)?))
    }
}

impl Iterator for Entries<'_> {
    type Item = (String, Addr);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(at) = self.entry.take().filter(|_| self.chain < MAX_CHAIN) {
                self.chain = self.chain.checked_add(1)?;
                self.entry = self.memory.pointer(at, 0);
                match self.entry(at) {
                    Some(entry) => return Some(entry),
                    None => continue,
                }
            }
            (self.place < self.count && self.empty < MAX_EMPTY).then_some(())?;
            self.entry = self.memory.pointer(self.places, self.place.checked_mul(8)?);
            self.place = self.place.checked_add(1)?;
            self.chain = 0;
            self.empty = if self.entry.is_some() { 0 } else { self.empty.checked_add(1)? };
        }
    }
}

/// What a variable has whose kind is not that of a reference; what a function keeps is no such.
fn variable_of(kind: &'static str, node: ScriptNode) -> ScriptNode {
    match node.kind {
        "magic" => node,
        _ => ScriptNode { kind, ..node },
    }
}

fn note(kind: &'static str, text: &'static str) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Note(text.into()))
}

fn note_of(kind: &'static str, text: String) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Note(text.into()))
}
