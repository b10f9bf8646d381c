//! Reads values, as deep and as much of them as is wanted.

use std::sync::Arc;

use kcore_mem::{Addr, Cut, Resource};

use super::{
    super::{
        Python,
        fields::ARGUMENTS,
        heap::{BYTES, DICT, EXCEPTION, HEAP_TYPE, Heap, INT, LIST, Object, STR, TUPLE, TYPE},
        text::Text,
    },
    Items, Limits, Value, ValueKind,
    number::{MAX_DIGITS, decimal},
};
use crate::Host;

/// Arguments of an exception that are compared with its fields, at most.
const MAX_ARGUMENTS: u64 = 16;
/// What is said of the arguments of an exception that are nowhere.
const NOT_READ: &str = "its arguments cannot be read";
/// Values in one answer where the host has no budget: objects may refer to the same ones over and over.
const MAX_VALUES: u64 = 1 << 20;
/// Values read between two checks for ctrl-C and the time limit.
const BETWEEN_LOOKS: u64 = 1 << 10;

/// Reads values of one process.
pub struct Reader<'a> {
    pub(super) python: &'a Python,
    pub(super) host: &'a dyn Host,
    pub(super) heap: Heap<'a>,
    pub(super) limits: Limits,
    /// The objects that the one which is read lies in.
    around: Vec<Addr>,
    /// How many values may be told yet.
    pub(super) left: u64,
}

impl<'a> Reader<'a> {
    /// A reader.
    pub fn new(python: &'a Python, host: &'a dyn Host, limits: Limits) -> Self {
        let left = host.budget().map_or(MAX_VALUES, |budget| budget.allowance().values_at_once);
        Self { python, host, heap: python.heap(host), limits, around: Vec::new(), left }
    }

    /// Charges one value. When none are left, values that contain others are elided.
    fn take_value(&mut self) {
        let was_left = self.left;
        self.left = self.left.saturating_sub(1);
        let Some(budget) = self.host.budget() else { return };
        if was_left == 1 {
            let limit = budget.allowance().values_at_once;
            budget.cut(Cut::Spent { resource: Resource::Values, limit });
        }
        let is_time_to_look = self.left.is_multiple_of(BETWEEN_LOOKS);
        if is_time_to_look && budget.halt().is_some() || !budget.spend(Resource::Values, 1) {
            self.left = 0;
        }
    }

    /// A value.
    pub fn value(&mut self, object: Object) -> Value {
        self.take_value();
        Value {
            at: Some(object.at),
            class: self.python.class_name(self.host, object.class),
            kind: self.kind(object).unwrap_or(ValueKind::Unreadable("its memory is damaged")),
        }
    }

    /// The value that an address refers to.
    pub(super) fn at(&mut self, at: Addr) -> Value {
        match self.heap.object(at) {
            Some(object) => self.value(object),
            None => {
                let why = self.heap.why_no_object(at);
                Value { at: Some(at), class: None, kind: ValueKind::Unreadable(why) }
            }
        }
    }

    fn kind(&mut self, object: Object) -> Option<ValueKind> {
        let bare = self.bare(object)?;
        Some(self.with_attributes(object, bare))
    }

    /// The value of an object without the attributes that it may have beside it.
    fn bare(&mut self, object: Object) -> Option<ValueKind> {
        match () {
            () if object.is(STR) => {
                self.heap.text(object, self.limits.characters).map(ValueKind::Str)
            }
            () if object.is(INT) => self.int(object),
            () if object.is(BYTES) => {
                let length = self.heap.size(object)?;
                let bytes = self.heap.bytes(object, self.limits.characters)?;
                Some(ValueKind::Bytes { bytes, length })
            }
            () if object.is(TYPE) => {
                let name = self.python.class_name(self.host, object.at);
                Some(ValueKind::Type(name.unwrap_or_else(|| "<unknown>".into())))
            }
            () => self.other(object),
        }
    }

    fn int(&self, object: Object) -> Option<ValueKind> {
        let is_bool = || {
            let name = self.python.class_name(self.host, object.class);
            name.is_some_and(|name| &*name == "bool")
        };
        let word = self.heap.word(object.at, 16)?;
        let (count, is_negative) = match self.heap.layout.minor {
            ..=11 => (word.cast_signed().unsigned_abs(), word.cast_signed() < 0),
            _ => (word >> 3, word & 3 == 2),
        };
        if count > MAX_DIGITS {
            return Some(ValueKind::Unreadable("it has too many digits"));
        }
        let bytes = self.heap.space.read_held(object.at.checked_add(24)?, count.checked_mul(4)?);
        let digits: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|digit| u32::from_le_bytes(*digit)).collect();
        (digits.len() as u64 == count).then_some(())?;
        let digits = decimal(&digits, is_negative);
        Some(match (digits.as_str(), is_bool()) {
            ("0", true) => ValueKind::Word("False"),
            ("1", true) => ValueKind::Word("True"),
            _ => ValueKind::Int(digits.into()),
        })
    }

    /// What holds other values, or is known by its type's name alone.
    fn other(&mut self, object: Object) -> Option<ValueKind> {
        let builtin = self.python.builtin_name(self.host, object.class);
        let leaf = match builtin.as_deref() {
            Some("NoneType") => Some(ValueKind::Word("None")),
            Some("ellipsis") => Some(ValueKind::Word("Ellipsis")),
            Some("NotImplementedType") => Some(ValueKind::Word("NotImplemented")),
            Some("float") => Some(ValueKind::Float(self.float(object, 16)?)),
            Some("complex") => {
                Some(ValueKind::Complex(self.float(object, 16)?, self.float(object, 24)?))
            }
            Some("bytearray") => self.byte_array(object),
            Some("function") => self.function(object),
            Some("method") => self.function(self.heap.field(object.at, 16)?),
            Some("builtin_function_or_method") => self.builtin(object),
            Some("code") => self.code(object),
            Some("module") => Some(self.module(object)),
            _ => None,
        };
        if leaf.is_some() {
            return leaf;
        }
        if self.around.contains(&object.at) {
            return Some(ValueKind::Circular);
        }
        if self.left == 0 || self.around.len() as u64 >= u64::from(self.limits.depth) {
            return Some(ValueKind::Elided);
        }
        self.around.push(object.at);
        let kind = self.holder(object, builtin.as_deref());
        self.around.pop();
        kind
    }

    fn holder(&mut self, object: Object, builtin: Option<&str>) -> Option<ValueKind> {
        match (builtin, ()) {
            (_, ()) if object.is(LIST) => self.items(object, Items::List),
            (_, ()) if object.is(TUPLE) => {
                self.named_tuple(object).or_else(|| self.items(object, Items::Tuple))
            }
            (_, ()) if object.is(DICT) => self.dict(object).or_else(|| Some(self.object(object))),
            (Some("set"), ()) => self.set(object, Items::Set),
            (Some("frozenset"), ()) => self.set(object, Items::FrozenSet),
            _ => self.of_native(object).or_else(|| Some(self.object(object))),
        }
    }

    /// What objects of types hold that C code made, and whose layout is known.
    fn of_native(&mut self, object: Object) -> Option<ValueKind> {
        let native = self.native(object)?;
        match &*native {
            "collections.deque" => self.deque(object),
            "array.array" => self.array(object),
            "functools.partial" => self.partial(object),
            "types.GenericAlias" => self.generic_alias(object),
            "types.UnionType" | "typing.Union" => self.union(object),
            "itertools.count" => self.count(object),
            "memoryview" => self.memory_view(object),
            "decimal.Decimal" => self.decimal(object),
            "_thread.lock" => self.lock(object),
            "_thread.RLock" => self.recursive_lock(object),
            "_io.BytesIO" => self.bytes_io(object),
            "re.Pattern" => self.pattern(object),
            "ContextVar" | "_contextvars.ContextVar" => self.context_variable(object),
            name => {
                if let Some(name) = name.strip_prefix("datetime.") {
                    return self.moment(object, name);
                }
                let of = name.strip_prefix("odict_").or_else(|| name.strip_prefix("dict_"))?;
                matches!(of, "keys" | "values" | "items").then(|| self.view(object, of))?
            }
        }
    }

    fn float(&self, object: Object, offset: u64) -> Option<f64> {
        self.heap.word(object.at, offset).map(f64::from_bits)
    }

    /// An object of a class, by its attributes: nothing else is in it, or it is told that there may be.
    fn object(&mut self, object: Object) -> ValueKind {
        let mut told = Vec::new();
        let arguments = match object.is(EXCEPTION).then(|| self.arguments(object)).flatten() {
            Some(arguments) if matches!(arguments.kind, ValueKind::Unreadable(_)) => {
                told.push(("args".into(), arguments));
                None
            }
            arguments => arguments.map(Box::new),
        };
        if let Some(frame) = self.python.own_frame(self.host, &self.heap, object) {
            told.extend(frame.told());
        }
        told.extend(self.python.place_told(self.host, &self.heap, object));
        let own = self.python.attributes(&self.heap, object).into_iter();
        let own: Vec<(Arc<str>, Addr)> = own.chain(self.fields(object)).collect();
        let (attributes, has_more) = self.attributes(told, own);
        match self.python.opaque(self.host, object) {
            None => ValueKind::Object { arguments, attributes, has_more },
            Some(type_name) => ValueKind::Opaque { type_name, attributes, has_more },
        }
    }

    /// The arguments of an exception; `None` of one that has none yet.
    fn arguments(&mut self, exception: Object) -> Option<Value> {
        let at = match self.heap.word(exception.at, ARGUMENTS) {
            None => return Some(Value::of_kind(ValueKind::Unreadable(NOT_READ))),
            Some(0) => return None,
            Some(word) => Addr::new(word),
        };
        let tuple = self.heap.object(at).filter(|object| object.is(TUPLE));
        let kind = tuple.and_then(|tuple| self.items(tuple, Items::Tuple));
        Some(match kind {
            Some(kind) => Value { at: Some(at), class: None, kind },
            None => match self.at(at) {
                missing @ Value { kind: ValueKind::Unreadable(_), .. } => missing,
                _ => Value::of_kind(ValueKind::Unreadable(NOT_READ)),
            },
        })
    }

    /// Attributes behind those that are told already, and whether there are more.
    fn attributes(
        &mut self,
        mut told: Vec<(Arc<str>, Value)>,
        own: Vec<(Arc<str>, Addr)>,
    ) -> (Vec<(Arc<str>, Value)>, bool) {
        for (name, at) in own {
            if told.len() as u64 >= self.limits.entries {
                return (told, true);
            }
            told.push((name, self.at(at)));
        }
        (told, false)
    }

    /// The fields of an object of a builtin type that say what it is. Of an exception that is what it was raised
    /// from, or else in whose handling.
    fn fields(&self, object: Object) -> Vec<(Arc<str>, Addr)> {
        let mut fields = self.python.fields(self.host, &self.heap, object);
        if object.is(EXCEPTION) {
            let has_cause = fields.iter().any(|(name, _)| &**name == "__cause__");
            let is_whole = !has_cause && !self.heap.suppresses_context(object);
            let told = self.told_by_arguments(object);
            fields.retain(|(name, at)| match &**name {
                "__cause__" => true,
                "__context__" => is_whole,
                "args" | "__traceback__" => false,
                // A tuple of what the second argument of a group has.
                "exceptions" if told.len() > 1 => false,
                _ => !told.contains(at) && !self.is_none(*at),
            });
            // Where it comes from stands behind what it is.
            fields.sort_by_key(|(name, _)| name.starts_with("__"));
        }
        fields
    }

    /// The arguments of an exception, which it keeps in fields too.
    fn told_by_arguments(&self, exception: Object) -> Vec<Addr> {
        let arguments = self.heap.field_of(exception.at, ARGUMENTS, TUPLE);
        let item = |index| Some(self.heap.item(arguments?, index)?.at);
        (0..MAX_ARGUMENTS).map_while(item).collect()
    }

    fn is_none(&self, at: Addr) -> bool {
        let native = self.heap.object(at).and_then(|object| self.native(object));
        native.as_deref() == Some("NoneType")
    }

    /// The value of a call of the type of an object, with the attributes of that behind its arguments.
    pub(super) fn call(
        &mut self,
        object: Object,
        arguments: Vec<Value>,
        named: Vec<(Arc<str>, Value)>,
    ) -> ValueKind {
        let length = arguments.len() as u64;
        let arguments = ValueKind::Items { of: Items::Tuple, items: arguments, length };
        let own = self.python.attributes(&self.heap, object);
        let (attributes, has_more) = self.attributes(named, own);
        let arguments = Some(Box::new(Value::of_kind(arguments)));
        ValueKind::Object { arguments, attributes, has_more }
    }

    /// A value with the attributes that its object has beside it.
    fn with_attributes(&mut self, object: Object, bare: ValueKind) -> ValueKind {
        let is_told = matches!(
            bare,
            ValueKind::Word(_)
                | ValueKind::Type(_)
                | ValueKind::Module(_)
                | ValueKind::Object { .. }
                | ValueKind::Opaque { .. }
                | ValueKind::Elided
                | ValueKind::Circular
                | ValueKind::Unreadable(_)
        );
        let own = if is_told { Vec::new() } else { self.beside(object) };
        if own.is_empty() {
            return bare;
        }
        let value = Box::new(Value::of_kind(bare));
        let is_deep = self.left == 0 || self.around.len() as u64 >= u64::from(self.limits.depth);
        if is_deep || self.around.contains(&object.at) {
            return ValueKind::With { value, attributes: Vec::new(), has_more: true };
        }
        self.around.push(object.at);
        let (attributes, has_more) = self.attributes(Vec::new(), own);
        self.around.pop();
        ValueKind::With { value, attributes, has_more }
    }

    /// What an object has beside its value: its attributes, whose method it is, what a `defaultdict` makes values with.
    fn beside(&self, object: Object) -> Vec<(Arc<str>, Addr)> {
        let has_none = INT | STR | BYTES | LIST | TUPLE;
        if object.is(has_none) && !object.is(HEAP_TYPE) {
            return Vec::new();
        }
        let mut own = self.python.attributes(&self.heap, object);
        let field = match self.native(object).as_deref() {
            Some("method" | "builtin_function_or_method") => "__self__",
            Some("collections.defaultdict") => "default_factory",
            _ => return own,
        };
        let fields = self.python.fields(self.host, &self.heap, object).into_iter();
        let is_module = |at: Addr| self.heap.object(at).is_some_and(|it| self.is_module(it));
        own.extend(fields.filter(|(name, at)| **name == *field && !is_module(*at)));
        own
    }

    fn is_module(&self, object: Object) -> bool {
        self.native(object).as_deref() == Some("module")
    }

    /// The name of the type made by C code that an object is of, or whose class is derived from it.
    pub(super) fn native(&self, object: Object) -> Option<Arc<str>> {
        self.python.native(self.host, object.class).map(|native| native.name)
    }

    /// The value that an address refers to, unless enough are told.
    pub(super) fn next_at(&mut self, at: Addr) -> Option<Value> {
        (self.left > 0).then(|| self.at(at))
    }
}

impl Value {
    /// What is not there.
    pub const fn unreadable(why: &'static str) -> Self {
        Self { at: None, class: None, kind: ValueKind::Unreadable(why) }
    }
}

impl Text {
    /// Whether it is told as a whole.
    pub fn is_complete(&self) -> bool {
        self.is_whole && self.text.chars().count() as u64 == self.length
    }
}
