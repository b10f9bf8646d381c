//! What a stack trace calls a frame: `new Account`, `Array.map`, `Object.method [as alias]`.
//!
//! `SerializeJSStackFrame` in `src/objects/call-site-info.cc`, `JSReceiver::GetConstructorName` in
//! `src/objects/js-objects.cc`.

use kcore_mem::Addr;

use super::{Function, Heap, Tagged, function::Shared, heap::Object, property::Property};

/// Prototypes are followed so far.
const MAX_PROTOTYPES: usize = 64;
/// Properties of an object in which the name of a method is searched.
const MAX_PROPERTIES: u64 = 1 << 12;
/// Names are read to this many units.
const MAX_NAME: u64 = 4096;
/// In `Map::bit_field2`: whether `new` was called on the function that made the object.
const NEW_TARGET_IS_BASE: u64 = 1;
const BIT_FIELD2: u64 = 15;

/// A frame of JavaScript, as far as its name depends on it.
#[derive(Clone, Copy, Debug)]
pub struct CallSite<'h, 'a> {
    /// The heap.
    pub heap: &'h Heap<'a>,
    /// What the function shares with others of its source.
    pub shared: Shared,
    /// The function; `None` where it was never made.
    pub function: Option<Function>,
    /// `this`; `None` where it is not known.
    pub receiver: Option<Receiver>,
    /// Whether it was called by `new`.
    pub is_construct: bool,
}

/// What a function was called on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receiver {
    /// A value in memory.
    Value(Tagged),
    /// A value that optimized code does not hold as one, by the type that it would be of.
    Primitive(&'static str),
    /// An object that optimized code never made: it is nowhere, but its map is known.
    Unmade(Object),
}

impl Receiver {
    /// The object that would be of a map.
    pub fn of_map(heap: &Heap<'_>, map: Self) -> Option<Self> {
        let Self::Value(map) = map else { return None };
        let kind = heap.kind_by_map(map)?;
        Some(Self::Unmade(Object { at: Addr::new(0), map: map.object()?, kind }))
    }

    fn object(self, heap: &Heap<'_>) -> Option<Object> {
        match self {
            Self::Value(value) => heap.object(value),
            Self::Unmade(object) => Some(object),
            Self::Primitive(_) => None,
        }
    }
}

impl std::fmt::Debug for Heap<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Heap").finish_non_exhaustive()
    }
}

impl<'h, 'a> CallSite<'h, 'a> {
    /// The call of a function on a value.
    pub fn new(heap: &'h Heap<'a>, function: Function, receiver: Option<Tagged>) -> Self {
        let receiver = receiver.map(Receiver::Value);
        Self {
            heap,
            shared: function.shared,
            function: Some(function),
            receiver,
            is_construct: false,
        }
    }

    /// What a stack trace calls it; `<anonymous>` where it writes the place only.
    pub fn shown(&self) -> String {
        let name = self.function_name();
        if self.is_construct {
            return format!("new {}", name.as_deref().unwrap_or(ANONYMOUS));
        }
        match self.type_name() {
            Some(type_name) => self.method_call(name, &type_name),
            None => name.unwrap_or_else(|| ANONYMOUS.to_owned()),
        }
    }

    /// The name of the function: that of code which `eval` runs is `eval`.
    pub fn function_name(&self) -> Option<String> {
        let heap = self.heap;
        let name = match self.function {
            Some(function) => function.name(heap),
            None => self.shared.debug_name(heap),
        };
        name.or_else(|| is_eval(heap, self.shared).then(|| "eval".to_owned()))
    }

    /// The type of the receiver of a method; `None` when it was called as a function.
    pub fn type_name(&self) -> Option<String> {
        let heap = self.heap;
        let receiver = match self.receiver? {
            Receiver::Value(Tagged::Smi(_)) => return Some("Number".to_owned()),
            Receiver::Primitive(name) => return Some(name.to_owned()),
            receiver => receiver.object(heap)?,
        };
        (receiver.kind != heap.layout.types.global_proxy).then_some(())?;
        if !heap.is_receiver(receiver) {
            return heap.primitive_type(receiver).map(str::to_owned);
        }
        Some(self.class_of(receiver).unwrap_or_else(|| heap.constructor_name(receiver)))
    }

    /// The name of the class that a receiver is: a static method was called. Since V8 13 any
    /// function counts as a class.
    fn class_of(&self, receiver: Object) -> Option<String> {
        let column = self.heap.layout.column;
        column.is_since(10, 2).then_some(())?;
        let class = Function::load(self.heap, Tagged::Strong(receiver.at))?;
        let counts = column.is_since(13, 6) || class.shared.is_class_constructor(self.heap);
        counts.then(|| class.name(self.heap))?
    }

    fn method_call(&self, name: Option<String>, type_name: &str) -> String {
        if let Some(name) = self.shared.initializer(self.heap) {
            return name.to_owned();
        }
        let method = self.method_name();
        let Some(name) = name else {
            return format!("{type_name}.{}", method.as_deref().unwrap_or(ANONYMOUS));
        };
        let alias = method.filter(|method| !self.ends_with_method(&name, method));
        let prefix = if self.names_type(&name, type_name) { "" } else { type_name };
        let dot = if prefix.is_empty() { "" } else { "." };
        let alias = alias.map(|method| format!(" [as {method}]")).unwrap_or_default();
        format!("{prefix}{dot}{name}{alias}")
    }

    /// Whether the name of a function stands without that of the type: since V8 10 when it is more
    /// than an identifier, before when it begins with the type.
    fn names_type(&self, name: &str, type_name: &str) -> bool {
        if self.heap.layout.column.is_since(10, 2) {
            return !is_identifier(name);
        }
        name.starts_with(type_name)
    }

    /// Whether the name of a function ends with that of the method.
    fn ends_with_method(&self, name: &str, method: &str) -> bool {
        let Some(before) = name.strip_suffix(method) else { return false };
        let since_12 = self.heap.layout.column.is_since(12, 4);
        before.is_empty() || before.ends_with('.') || since_12 && before.ends_with(' ')
    }

    /// The name of the property of the receiver that is the function, or whose getter or setter is.
    pub fn method_name(&self) -> Option<String> {
        let receiver = self.receiver?.object(self.heap)?;
        self.heap.is_receiver(receiver).then_some(())?;
        self.method_by_name(receiver).or_else(|| self.method_by_search(receiver))
    }

    fn method_by_name(&self, receiver: Object) -> Option<String> {
        let name = self.shared.name(self.heap)?;
        let stripped = name.strip_prefix("get ").or_else(|| name.strip_prefix("set "));
        let name = stripped.unwrap_or(&name).to_owned();
        let mut chain = self.chain(receiver);
        let found = chain.find_map(|object| self.heap.property(object, &name))?;
        self.is_function_of(&found).then_some(name)
    }

    fn method_by_search(&self, receiver: Object) -> Option<String> {
        let properties =
            self.chain(receiver).flat_map(|object| self.heap.properties(object, MAX_PROPERTIES));
        let mut found = properties
            .filter(|property| self.heap.is_string(property.key) && self.is_function_of(property));
        let property = found.next()?;
        // Two names are none.
        found.next().is_none().then(|| self.heap.text(property.key, MAX_NAME))?
    }

    fn is_function_of(&self, property: &Property) -> bool {
        let Some(function) = self.function else { return false };
        let at = function.object.at;
        if property.is_accessor {
            let [getter, setter] = self.heap.accessors(property);
            return [getter, setter].into_iter().flatten().any(|part| part.at == at);
        }
        property.value == Tagged::Strong(at)
    }

    fn chain(&self, receiver: Object) -> impl Iterator<Item = Object> + '_ {
        self.heap.prototype_chain(receiver)
    }
}

/// What has no name.
pub const ANONYMOUS: &str = "<anonymous>";

impl<'a> Heap<'a> {
    /// An object, its prototype, and so on.
    pub fn prototype_chain(&self, object: Object) -> impl Iterator<Item = Object> + use<'_, 'a> {
        std::iter::successors(Some(object), |object| self.prototype(*object)).take(MAX_PROTOTYPES)
    }

    /// What `typeof`'s object would be called of a primitive value; `None` for `undefined` and `null`.
    fn primitive_type(&self, value: Object) -> Option<&'static str> {
        let types = &self.layout.types;
        if self.is_string(value) {
            return Some("String");
        }
        match value.kind {
            kind if kind == types.heap_number => Some("Number"),
            kind if kind == types.symbol => Some("Symbol"),
            kind if kind == types.bigint() => Some("BigInt"),
            kind if kind == types.oddball => match self.oddball(value)?.as_str() {
                "true" | "false" => Some("Boolean"),
                _ => None,
            },
            _ => None,
        }
    }

    /// What an oddball is called: `undefined`, `null`, `true`, `false`, or a name of V8's own.
    pub fn oddball(&self, value: Object) -> Option<String> {
        (value.kind == self.layout.types.oddball).then_some(())?;
        self.text(self.field(value.at, 16)?, MAX_NAME)
    }

    /// What made an object, by name: its constructor, its tag, or the constructor that its prototypes
    /// name.
    pub fn constructor_name(&self, object: Object) -> String {
        if object.kind == self.layout.types.proxy {
            return "Proxy".to_owned();
        }
        let by_map = || self.constructor_by_map(object);
        let by_chain = || {
            let mut chain = self.prototype_chain(object);
            chain.find_map(|holder| self.constructor_by_property(object, holder))
        };
        by_map().or_else(by_chain).unwrap_or_else(|| self.class_name(object).to_owned())
    }

    fn constructor_by_map(&self, object: Object) -> Option<String> {
        let is_base = self.uint(object.map, BIT_FIELD2, 1)? & NEW_TARGET_IS_BASE != 0;
        (is_base && !self.is_prototype(object)).then_some(())?;
        self.constructor_label(self.constructor(object)?)
    }

    fn constructor_by_property(&self, object: Object, holder: Object) -> Option<String> {
        let tag = self.properties(holder, MAX_PROPERTIES).into_iter().find(|property| {
            !property.is_accessor && self.is_symbol(property.key, "Symbol.toStringTag")
        });
        if let Some(tag) = tag.and_then(|tag| self.object(tag.value))
            && self.is_string(tag)
        {
            return self.text(tag, MAX_NAME);
        }
        (holder != object).then_some(())?;
        let property = self.property(holder, "constructor")?;
        self.constructor_label(self.object(property.value)?)
    }

    /// The name of a constructor, which is worth telling if it is not that of all objects.
    fn constructor_label(&self, constructor: Object) -> Option<String> {
        let function = Function::load(self, Tagged::Strong(constructor.at))?;
        function.shared.debug_name(self).filter(|name| name != "Object")
    }

    /// Whether a key is a symbol with this description.
    pub fn is_symbol(&self, key: Object, description: &str) -> bool {
        key.kind == self.layout.types.symbol
            && self.field(key.at, 16).is_some_and(|text| self.is_named(text, description))
    }

    fn class_name(&self, object: Object) -> &'static str {
        let types = &self.layout.types;
        match object.kind {
            _ if self.is_function(object) => "Function",
            kind if kind == types.bound_function => "Function",
            kind if kind == types.arguments => "Arguments",
            kind if kind == types.array => "Array",
            kind if kind == types.error => "Error",
            _ => "Object",
        }
    }
}

/// Whether code was made by `eval`, or `new Function`: only such a script says where that was.
fn is_eval(heap: &Heap<'_>, shared: Shared) -> bool {
    shared.script(heap).is_some_and(|script| script.is_eval(heap))
}

/// Whether it is an identifier of the language, as far as its letters go.
fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    let is_start = |letter: char| letter.is_alphabetic() || matches!(letter, '_' | '$');
    let is_part = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '_' | '$' | '\u{200c}' | '\u{200d}')
    };
    letters.next().is_some_and(is_start) && letters.all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_no_spaces_dots_or_signs() {
        assert!(is_identifier("größe") && is_identifier("$a1") && is_identifier("_"));
        for name in ["", "1a", "get x", "Module._load", "#p", "[my.symbol]"] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
