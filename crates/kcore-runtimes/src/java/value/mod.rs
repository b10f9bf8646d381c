//! Values of Java as trees: fields by their names, strings, numbers in boxes, arrays, and collections of `java.util` as what
//! they hold.

mod big;
mod collection;
mod inet;
mod layouts;
mod library;
pub(super) mod number;
mod text;
mod time;

use std::{borrow::Cow, sync::Arc};

use kcore_mem::Addr;

use super::{
    Java,
    classes::{Objects, Referred, Unread},
    element::{ElementType, source_name},
    klass::Shape,
    walk::{JavaObject, Walk},
};
use crate::{Host, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, VariableLimits};
use collection::{Contents, Entry};

/// Nodes of one tree, at most.
const MAX_NODES: u64 = 1 << 16;
/// What all enumerations extend.
const ENUM: &str = "java.lang.Enum";
const STRING: &str = "java.lang.String";
/// The field of an exception with the stack that it carries.
const BACKTRACE: &str = "backtrace";
/// What stands in the place of a value, and of the fields of an object.
pub(super) const UNREAD: &str = "it cannot be read";
const MOVED: &str = "no object is there: ZGC may have moved it and not yet updated this reference";
const NO_FIELDS: &str = "its fields cannot be read: what tells of its class is not there";

/// How much is told of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Objects inside of each other.
    pub depth: u32,
    /// Parts of one object.
    pub entries: u64,
    /// Characters of one text.
    pub characters: u64,
}

impl From<VariableLimits> for Limits {
    fn from(limits: VariableLimits) -> Self {
        let VariableLimits { depth, entries, characters, .. } = limits;
        Self { depth, entries, characters }
    }
}

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field, or the value of a key of a map that is a string.
    Name(String),
    /// An element.
    Index(u64),
}

impl Java {
    /// The value of the object that begins at an address of the heap; `None` where none does.
    pub fn value(&self, host: &dyn Host, at: Addr, limits: Limits) -> Option<ScriptNode> {
        let objects = self.objects_in(host.space())?;
        let mut reader = Reader::new(self, host, &objects, limits)?;
        self.is_object(host, at).then_some(())?;
        Some(reader.object(at, limits.depth))
    }

    /// What a reference says that is never narrow.
    pub(super) fn referred_value(&self, host: &dyn Host, word: u64, limits: Limits) -> ScriptNode {
        self.referred_by(host, limits, |objects| {
            objects.oops.referred_in_full(objects.memory, word)
        })
    }

    /// What a reference says as it stands in an object.
    pub(super) fn narrow_value(&self, host: &dyn Host, word: u64, limits: Limits) -> ScriptNode {
        self.referred_by(host, limits, |objects| objects.oops.referred(objects.memory, word))
    }

    fn referred_by(
        &self,
        host: &dyn Host,
        limits: Limits,
        to: impl FnOnce(&Objects<'_>) -> Option<Addr>,
    ) -> ScriptNode {
        let unreadable = || note("objects cannot be decoded");
        let Some(objects) = self.objects_in(host.space()) else { return unreadable() };
        let to = to(&objects);
        match Reader::new(self, host, &objects, limits) {
            Some(mut reader) => reader.reference(to, limits.depth),
            None => unreadable(),
        }
    }

    /// Whether an object begins at an address.
    pub fn is_object(&self, host: &dyn Host, at: Addr) -> bool {
        self.object_at(host, at).is_some_and(|found| found.at == at)
    }

    /// What steps lead to from an object; `None` where it has no such part, or that cannot be read.
    pub fn part(
        &self,
        host: &dyn Host,
        at: Addr,
        steps: &[Step],
        limits: Limits,
    ) -> Option<ScriptNode> {
        let objects = self.objects_in(host.space())?;
        let mut reader = Reader::new(self, host, &objects, limits)?;
        self.is_object(host, at).then_some(())?;
        let Some((last, before)) = steps.split_last() else {
            return Some(reader.object(at, limits.depth));
        };
        let mut at = at;
        for step in before {
            match reader.part(at, step)? {
                Part::Object(Some(to)) => at = to,
                _ => return None,
            }
        }
        Some(match reader.part(at, last)? {
            Part::Object(to) => reader.reference(to, limits.depth),
            Part::Number(node) => node,
        })
    }
}

/// A part of an object.
enum Part {
    /// An object, or null.
    Object(Option<Addr>),
    /// What is no object.
    Number(ScriptNode),
}

/// Reads values.
struct Reader<'a> {
    java: &'a Java,
    host: &'a dyn Host,
    objects: &'a Objects<'a>,
    walk: Walk<'a>,
    limits: Limits,
    /// Nodes that may follow.
    left: u64,
    /// Objects that the one that is read is in.
    above: Vec<Addr>,
}

impl<'a> Reader<'a> {
    fn new(
        java: &'a Java,
        host: &'a dyn Host,
        objects: &'a Objects<'a>,
        limits: Limits,
    ) -> Option<Self> {
        let walk = java.walk(host, objects)?;
        Some(Self { java, host, objects, walk, limits, left: MAX_NODES, above: Vec::new() })
    }

    /// What a reference says.
    fn reference(&mut self, to: Option<Addr>, depth: u32) -> ScriptNode {
        match to {
            Some(to) => self.object(to, depth),
            None => ScriptNode::scalar("null", ScriptScalar::Word("null")),
        }
    }

    fn object(&mut self, at: Addr, depth: u32) -> ScriptNode {
        self.left = self.left.saturating_sub(1);
        let Some(found) = self.walk.at(at) else {
            return ScriptNode { at: Some(at), ..note(self.why_none()) };
        };
        let class = Some(source_name(&found.class.name).into());
        let node = self.scalar(&found).unwrap_or_else(|| self.with_parts(&found, depth));
        ScriptNode {
            at: Some(at),
            class: node.class.or(class),
            ..ScriptNode { class: None, ..node }
        }
    }

    /// What stands in the place of an object that is not where a reference says.
    const fn why_none(&self) -> &'static str {
        match self.objects.oops.may_lose_moved() {
            true => MOVED,
            false => "no object is there, or it cannot be read",
        }
    }

    /// A value that says all by itself.
    fn scalar(&mut self, found: &JavaObject) -> Option<ScriptNode> {
        let name = &*found.class.name;
        if name == STRING {
            return Some(text::of_string(self.objects, found.at, self.limits.characters));
        }
        let characters = self.limits.characters;
        let own = number::of_box(self.objects, found)
            .or_else(|| library::of_object(self.objects, found, characters));
        if own.is_some() {
            return own;
        }
        self.objects.class_is_a(found.class.at, ENUM).then_some(())?;
        let name = self.objects.text(found.at, "name")?;
        Some(ScriptNode::scalar("enum", ScriptScalar::Symbol(Some(name))))
    }

    fn with_parts(&mut self, found: &JavaObject, depth: u32) -> ScriptNode {
        let is_within = self.above.contains(&found.at);
        if is_within || depth == 0 || self.left == 0 {
            let scalar = match (is_within, self.class_scalar(found)) {
                (true, _) => ScriptScalar::Note(Cow::Borrowed("circular")),
                (_, Some(class)) => class,
                _ => ScriptScalar::Elided,
            };
            return ScriptNode::scalar(kind(found), scalar);
        }
        self.above.push(found.at);
        let node = match found.class.shape {
            Shape::Array { header, element } => self.array(found, header, element, depth),
            Shape::Mirror(_) => self.class(found, depth),
            _ => self.instance(found, depth),
        };
        self.above.pop();
        node
    }

    /// An array.
    fn array(
        &mut self,
        found: &JavaObject,
        header: u64,
        element: ElementType,
        depth: u32,
    ) -> ScriptNode {
        let Some(length) = self.objects.oops.length(self.objects.memory, found.at) else {
            return note("its length cannot be read");
        };
        let mut parts = Vec::new();
        for index in 0..length.min(self.limits.entries) {
            if self.left == 0 {
                break;
            }
            let value = match self.element(found.at, header, element, index) {
                Some(Part::Object(to)) => self.reference(to, depth.saturating_sub(1)),
                Some(Part::Number(node)) => node,
                None => note(UNREAD),
            };
            self.left = self.left.saturating_sub(1);
            parts.push(ScriptPart::new(ScriptLabel::Index(index), value));
        }
        let is_cut = length > parts.len() as u64;
        let parts = Some(ScriptParts { is_list: true, parts, is_cut });
        ScriptNode { kind: "array", parts, length: Some(length), ..ScriptNode::default() }
    }

    fn element(&self, array: Addr, header: u64, element: ElementType, index: u64) -> Option<Part> {
        let by = index.checked_mul(element.size(self.objects.oops.reference_size()))?;
        self.at(array, header.checked_add(by)?, element)
    }

    /// What of a type lies so far into an object.
    fn at(&self, object: Addr, offset: u64, element: ElementType) -> Option<Part> {
        let memory = self.objects.memory;
        if element == ElementType::Reference {
            let size = usize::try_from(self.objects.oops.reference_size()).ok()?;
            let word = memory.uint(object, offset, size)?;
            return Some(Part::Object(self.objects.oops.referred(memory, word)));
        }
        number::at(memory, object, offset, element).map(Part::Number)
    }

    /// An object with fields, or what it holds where it is a collection.
    fn instance(&mut self, found: &JavaObject, depth: u32) -> ScriptNode {
        match collection::contents(self.objects, found, self.limits.entries) {
            Some(contents) => self.collection(contents, depth),
            None => {
                let fields = self.objects.fields_of(found.class.at);
                let own = fields.iter().filter(|field| !field.is_static && !field.name.is_empty());
                let mut parts = self.fields(found.at, own, depth);
                if !self.objects.has_all_fields(found.class.at) {
                    if parts.parts.is_empty() {
                        return note(NO_FIELDS);
                    }
                    add_unread(&mut parts, "which other fields it has cannot be read");
                }
                ScriptNode { kind: "object", parts: Some(parts), ..ScriptNode::default() }
            }
        }
    }

    fn fields<'f>(
        &mut self,
        object: Addr,
        fields: impl Iterator<Item = &'f super::fields::Field>,
        depth: u32,
    ) -> ScriptParts {
        let mut parts = ScriptParts::default();
        for field in fields {
            if &*field.name == BACKTRACE
                && let Some(trace) = self.java.trace_of(self.objects, object)
            {
                let label = ScriptLabel::Name(field.name.clone());
                parts.parts.push(ScriptPart::new(label, self.trace(trace)));
                continue;
            }
            if parts.parts.len() as u64 >= self.limits.entries || self.left == 0 {
                parts.is_cut = true;
                break;
            }
            let element = ElementType::of_signature(&field.signature);
            let part = element.and_then(|element| self.at(object, field.offset, element));
            let value = match part {
                Some(Part::Object(to)) => self.reference(to, depth.saturating_sub(1)),
                Some(Part::Number(node)) => node,
                None => note(UNREAD),
            };
            parts.parts.push(ScriptPart::new(ScriptLabel::Name(field.name.clone()), value));
        }
        parts
    }

    /// Where an exception was thrown, in place of what only the virtual machine can read.
    fn trace(&self, trace: Vec<Arc<str>>) -> ScriptNode {
        let most = self.limits.entries.min(self.left);
        let (length, shown) =
            (trace.len() as u64, (0_u64..).zip(trace).take_while(|it| it.0 < most));
        let line = |(index, line)| {
            let value = ScriptNode::scalar("frame", ScriptScalar::Symbol(Some(line)));
            ScriptPart::new(ScriptLabel::Index(index), value)
        };
        let parts: Vec<ScriptPart> = shown.map(line).collect();
        let is_cut = (parts.len() as u64) < length;
        let parts = Some(ScriptParts { is_list: true, parts, is_cut });
        ScriptNode { kind: "trace", parts, length: Some(length), ..ScriptNode::default() }
    }

    /// A `java.lang.Class`, with the static fields of its class.
    fn class(&mut self, found: &JavaObject, depth: u32) -> ScriptNode {
        let layout = self.java.layout.klasses.as_ref();
        let of = layout.and_then(|layout| layout.of_mirror(self.objects.memory, found.at));
        let is_of_array = |of: &Addr| {
            let name = self.objects.methods.class(self.objects.memory, *of);
            name.is_some_and(|name| name.starts_with('['))
        };
        // Classes of primitive types and of arrays have no fields.
        let declared = of.filter(|of| !is_of_array(of)).map(|of| self.objects.declared_by(of));
        let is_unread = declared.as_ref().is_some_and(|declared| !declared.is_whole);
        let declared = declared.unwrap_or_default().fields;
        let mut parts =
            self.fields(found.at, declared.iter().filter(|field| field.is_static), depth);
        if is_unread {
            add_unread(&mut parts, "which other static fields it has cannot be read");
        }
        let scalar = self.class_scalar(found);
        ScriptNode { kind: "class", scalar, parts: Some(parts), ..ScriptNode::default() }
    }

    /// What a `java.lang.Class` says; of that of a primitive type its name is not known.
    fn class_scalar(&self, found: &JavaObject) -> Option<ScriptScalar> {
        matches!(found.class.shape, Shape::Mirror(_)).then_some(())?;
        let memory = self.objects.memory;
        let of = self.java.layout.klasses.as_ref()?.of_mirror(memory, found.at);
        let name = of.and_then(|of| self.objects.methods.class(memory, of));
        let name = name.map(|name| source_name(&name).into());
        let name = name.or_else(|| self.objects.text(found.at, "name"));
        Some(ScriptScalar::Function { word: "class", name, file: None, line: None })
    }

    fn collection(&mut self, contents: Contents, depth: u32) -> ScriptNode {
        let Contents { kind, entries, length, is_cut, is_unread } = contents;
        // Where it says that it holds nothing, nothing is missing.
        let is_unread = is_unread && length != Some(0);
        if is_unread && entries.is_empty() {
            return ScriptNode { length, ..note("what it holds cannot be read") };
        }
        let below = depth.saturating_sub(1);
        let mut parts = Vec::new();
        for (index, entry) in (0_u64..).zip(entries) {
            if self.left == 0 {
                break;
            }
            let (label, value) = match entry {
                Entry::Item(value) if kind == "list" => {
                    (ScriptLabel::Index(index), self.referred(value, below))
                }
                Entry::Item(value) => (ScriptLabel::Item, self.referred(value, below)),
                Entry::Number(value) => (ScriptLabel::Item, number::int(value)),
                Entry::Pair(key, value) => {
                    let key = ScriptLabel::Entry(Box::new(self.referred(key, below)));
                    (key, self.referred(value, below))
                }
            };
            parts.push(ScriptPart::new(label, value));
        }
        let length = length.or_else(|| (!is_cut && !is_unread).then_some(parts.len() as u64));
        let is_cut = is_cut || length.is_some_and(|length| length > parts.len() as u64);
        let mut parts = ScriptParts { is_list: kind == "list", parts, is_cut };
        if is_unread {
            add_unread(&mut parts, "what else it holds cannot be read");
        }
        ScriptNode { kind, parts: Some(parts), length, ..ScriptNode::default() }
    }

    /// What a reference says that may not be readable itself.
    fn referred(&mut self, to: Referred, depth: u32) -> ScriptNode {
        match to {
            Ok(to) => self.reference(to, depth),
            Err(Unread) => note(UNREAD),
        }
    }

    /// One step from an object.
    fn part(&mut self, at: Addr, step: &Step) -> Option<Part> {
        let found = self.walk.at(at)?;
        if let (Shape::Array { header, element }, Step::Index(index)) = (found.class.shape, step) {
            let length = self.objects.oops.length(self.objects.memory, at)?;
            (*index < length).then_some(())?;
            return self.element(at, header, element, *index);
        }
        if let Step::Name(name) = step {
            let own = self.field(&found, name);
            if own.is_some() {
                return own;
            }
        }
        let _ = self.host;
        let contents = collection::contents(self.objects, &found, u64::MAX)?;
        let entries = contents.entries.into_iter();
        match step {
            Step::Index(index) => {
                { entries }.nth(usize::try_from(*index).ok()?).and_then(|entry| match entry {
                    Entry::Item(value) => Some(part_of(value)),
                    Entry::Number(value) => Some(Part::Number(number::int(value))),
                    Entry::Pair(..) => None,
                })
            }
            Step::Name(name) => { entries }.find_map(|entry| match entry {
                Entry::Pair(Ok(Some(key)), value) => {
                    let is_it = self.walk.at(key).is_some_and(|it| &*it.class.name == STRING)
                        && self.objects.string(key).as_deref() == Some(name);
                    is_it.then_some(part_of(value))
                }
                _ => None,
            }),
        }
    }

    /// A field by its name, of a class a static one.
    fn field(&self, found: &JavaObject, name: &str) -> Option<Part> {
        let read = |field: &super::fields::Field| {
            self.at(found.at, field.offset, ElementType::of_signature(&field.signature)?)
        };
        if name == BACKTRACE
            && let Some(trace) = self.java.trace_of(self.objects, found.at)
        {
            return Some(Part::Number(self.trace(trace)));
        }
        if let Some(field) = self.objects.field(found.class.at, name) {
            return read(&field);
        }
        matches!(found.class.shape, Shape::Mirror(_)).then_some(())?;
        let of = self.java.layout.klasses.as_ref()?.of_mirror(self.objects.memory, found.at)?;
        let declared = self.objects.declared(of);
        declared.iter().find(|field| field.is_static && &*field.name == name).and_then(read)
    }
}

fn kind(found: &JavaObject) -> &'static str {
    match found.class.shape {
        Shape::Array { .. } => "array",
        Shape::Mirror(_) => "class",
        _ => "object",
    }
}

/// What a reference of a collection says as a part of it.
fn part_of(to: Referred) -> Part {
    match to {
        Ok(to) => Part::Object(to),
        Err(Unread) => Part::Number(note(UNREAD)),
    }
}

/// Adds words in the place of parts that nobody knows.
fn add_unread(parts: &mut ScriptParts, words: &'static str) {
    parts.is_cut = true;
    parts.parts.push(ScriptPart::new(ScriptLabel::Item, note(words)));
}

/// Words in the place of a value.
pub(super) fn note(text: &'static str) -> ScriptNode {
    ScriptNode::scalar("unreadable", ScriptScalar::Note(Cow::Borrowed(text)))
}
