//! What objects of the language's own kinds hold besides properties.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{ElementType, Value};

/// The contents of an object by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Properties only.
    Plain,
    /// An array.
    Array {
        /// Its `length`.
        length: u64,
    },
    /// The `arguments` of a function.
    Arguments,
    /// A function.
    Function {
        /// Its name as in stack traces.
        name: Option<Arc<str>>,
        /// Its script.
        file: Option<Arc<str>>,
        /// The line where it begins, from 1.
        line: Option<u32>,
        /// Whether it is a class.
        is_class: bool,
    },
    /// A bound function.
    Bound {
        /// The function.
        target: Value,
        /// `this`.
        this: Value,
        /// The first arguments.
        arguments: Vec<Value>,
    },
    /// A date, in milliseconds since 1970; not a number where it is invalid.
    Date(f64),
    /// A regular expression.
    RegExp {
        /// Its text.
        source: Arc<str>,
        /// Its flags, as behind the second slash.
        flags: Arc<str>,
    },
    /// An error.
    Error {
        /// Its stack as text, if it was ever asked for.
        stack: Option<Arc<str>>,
    },
    /// A `Map`.
    Map {
        /// How many entries it has.
        size: u64,
        /// Keys and values in the order of insertion.
        entries: Vec<(Value, Value)>,
    },
    /// A `Set`.
    Set {
        /// How many values it has.
        size: u64,
        /// They, in the order of insertion.
        values: Vec<Value>,
    },
    /// A `WeakMap` or `WeakSet`.
    Weak {
        /// Whether it has values beside its keys.
        is_map: bool,
        /// How many entries it has.
        size: u64,
        /// Keys and, of a map, values.
        entries: Vec<(Value, Value)>,
    },
    /// A `WeakRef`, and what it refers to.
    WeakRef(Value),
    /// A promise.
    Promise {
        /// How far it is.
        state: PromiseState,
        /// What it was fulfilled or rejected with.
        result: Option<Value>,
    },
    /// A proxy.
    Proxy {
        /// What it stands for; `null` once it is revoked.
        target: Value,
        /// Its handler.
        handler: Value,
    },
    /// A boxed primitive value.
    Boxed(Value),
    /// A generator, or an async function that waits.
    Generator {
        /// Its function.
        function: Value,
        /// `running`, `suspended` or `closed`.
        state: &'static str,
        /// Where it goes on if it is suspended: script, line and column.
        at: Option<Arc<str>>,
    },
    /// An `ArrayBuffer` or `SharedArrayBuffer`.
    Buffer {
        /// Its length in bytes.
        length: u64,
        /// Its bytes in the process.
        data: Addr,
    },
    /// A typed array, a `Buffer` among them. Its elements are those of the object.
    Typed {
        /// The type of its elements; `None` of a `DataView`.
        element: Option<ElementType>,
        /// Its length in bytes.
        length: u64,
        /// Its bytes in the process.
        data: Addr,
    },
}

/// How far a promise is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromiseState {
    /// It waits.
    Pending,
    /// It has a value.
    Fulfilled,
    /// It failed.
    Rejected,
}

impl PromiseState {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Fulfilled => "fulfilled",
            Self::Rejected => "rejected",
        }
    }
}
