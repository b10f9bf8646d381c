//! Contexts, which carry deadlines, ends and values along calls (`context/context.go`, `os/signal/signal.go`).
//!
//! Where their fields lie is read from the types that the compiler describes, so it is that of any version.

mod deadline;
mod find;
mod shape;
mod tree;

use std::sync::Arc;

use kcore_mem::Addr;

use self::shape::{ContextShape, Shapes};
use super::{Form, Go, GoValueLimits, Typed};
use crate::Host;

/// The interface that all contexts are, which the table of methods in each value of it names.
const INTERFACE: &str = "context.Context";
/// How much is printed of keys, values and errors.
const LIMITS: GoValueLimits = GoValueLimits { depth: 1, elements: 8, text: 128 };
/// What says that a deadline passed: a type without a text.
const PASSED: &str = "context.deadlineExceededError";
/// The type of errors that are a text.
const TEXT: &str = "*errors.errorString";

/// A kind of context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// `context.WithCancel`: it ends when a function is called.
    Cancel,
    /// `context.WithDeadline` and `context.WithTimeout`.
    Deadline,
    /// `context.WithValue`.
    Value,
    /// `context.WithoutCancel`: it does not end with its parent.
    WithoutCancel,
    /// `context.AfterFunc`: it calls a function when its parent ends.
    AfterFunc,
    /// What stands between a context and a parent that programs made.
    Stop,
    /// `signal.NotifyContext`: it ends with a signal.
    Signal,
    /// A structure of a program that has its parent embedded, and is a context by that.
    Own,
}

impl ContextKind {
    /// A word for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Deadline => "deadline",
            Self::Value => "value",
            Self::WithoutCancel => "without_cancel",
            Self::AfterFunc => "after_func",
            Self::Stop => "stop",
            Self::Signal => "signal",
            Self::Own => "own",
        }
    }
}

/// A context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoContext {
    /// Where it lies.
    pub at: Addr,
    /// Its kind.
    pub kind: ContextKind,
    /// Its type, of one that programs made.
    pub ty: Option<Arc<str>>,
    /// How many contexts of the list are above it.
    pub depth: usize,
    /// Where its parent lies; `None` of one that cannot be read, or has no place of its own.
    pub parent: Option<Addr>,
    /// The type of its parent, if it can be read: `context.backgroundCtx` has none above it.
    pub parent_type: Option<Arc<str>>,
    /// When it ends at the latest, in nanoseconds since 1970.
    pub deadline: Option<i64>,
    /// Why it ended, if it did.
    pub ended: Option<String>,
    /// What its program gave as the cause of that, if that is something else.
    pub cause: Option<String>,
    /// The key of its value, as Go writes it with its type.
    pub key: Option<String>,
    /// The value.
    pub value: Option<String>,
    /// How many contexts and functions end with it, of a kind that knows.
    pub children: Option<u64>,
    /// The channel that is closed when it ends, once somebody asked for it.
    pub done: Option<Addr>,
    /// The numbers of the goroutines that wait for that.
    pub waiting: Vec<u64>,
    /// The function that is called when its parent ends.
    pub function: Option<Arc<str>>,
}

impl Go {
    /// The contexts that lie in the heap, each below its parent. Found are those of which memory says what they are: in
    /// an interface, or along the fields of known types.
    ///
    /// # Errors
    /// In words, where the heap is not found or cannot be read.
    pub fn contexts(&self, host: &dyn Host) -> Result<Vec<GoContext>, String> {
        self.heap(host).map_err(ToOwned::to_owned)?;
        let shapes = Shapes::new(self, host);
        let found = find::all(self, host, &shapes);
        let all = found.iter().filter_map(|(at, shape)| self.context(host, *at, shape)).collect();
        Ok(tree::ordered(all))
    }

    fn context(&self, host: &dyn Host, at: Addr, shape: &ContextShape) -> Option<GoContext> {
        let space = host.space();
        let pointer = |offset: Option<u64>| {
            space.read_addr(at.checked_add(offset?)?).ok().filter(|at| at.get() != 0)
        };
        let parent = self.held_by_interface(host, at.checked_add(shape.parent)?);
        let done = shape.done.and_then(|offset| self.pointer_of(host, at.checked_add(offset)?));
        let waiting = done.and_then(|done| self.channel(host, done)).map(|it| it.receivers);
        let (ended, cause) = self.why_ended(host, at, shape);
        let shown = |part: Option<(u64, Addr)>| self.shown(host, at, part?);
        let children = pointer(shape.children).map_or(Some(0), |map| space.read_word(map).ok());
        Some(GoContext {
            at,
            kind: shape.kind,
            ty: (shape.kind == ContextKind::Own).then(|| shape.ty.name.clone()),
            depth: 0,
            parent: parent.and_then(|parent| self.place_of(host, parent)),
            parent_type: parent.and_then(|parent| self.type_name(host, parent.ty)),
            deadline: shape
                .deadline
                .and_then(|offset| deadline::read(space, at.checked_add(offset)?)),
            ended,
            cause,
            key: shown(shape.key),
            value: shown(shape.value),
            children: children.filter(|_| shape.children.is_some()),
            done,
            waiting: waiting.unwrap_or_default(),
            function: pointer(shape.function).and_then(|function| self.function_of(host, function)),
        })
    }

    pub(super) fn type_name(&self, host: &dyn Host, ty: Addr) -> Option<Arc<str>> {
        super::types::GoType::load(host.space(), &self.tables, ty).map(|ty| ty.name)
    }

    /// The pointer that the interface at an address holds.
    fn pointer_of(&self, host: &dyn Host, at: Addr) -> Option<Addr> {
        let held = self.held_by_interface(host, at)?;
        host.space().read_addr(held.at).ok().filter(|at| at.get() != 0)
    }

    /// Where what an interface holds lies: a pointer stands for what it points to.
    fn place_of(&self, host: &dyn Host, held: Typed) -> Option<Addr> {
        let is_pointer = self.type_name(host, held.ty)?.starts_with('*');
        match is_pointer {
            true => host.space().read_addr(held.at).ok(),
            false => Some(held.at),
        }
    }

    /// Why a context ended, and the cause that the program gave if that is something else.
    fn why_ended(
        &self,
        host: &dyn Host,
        at: Addr,
        shape: &ContextShape,
    ) -> (Option<String>, Option<String>) {
        let Some((offset, ty)) = shape.ended else { return (None, None) };
        let ended = self.error(host, at, (offset, ty));
        let data =
            |offset: u64| host.space().read_word(at.checked_add(offset)?.checked_add(8)?).ok();
        let cause =
            shape.cause.filter(|(cause, _)| ended.is_some() && data(*cause) != data(offset));
        (ended, cause.and_then(|cause| self.shown(host, at, cause)))
    }

    /// The text of an error that the interface at an offset holds, if there is one.
    fn error(&self, host: &dyn Host, at: Addr, part: (u64, Addr)) -> Option<String> {
        let held = self.held_by_interface(host, at.checked_add(part.0)?)?;
        let text =
            || super::printed_value::text(host.space(), host.space().read_addr(held.at).ok()?);
        match self.type_name(host, held.ty).as_deref() {
            Some(PASSED) => Some("context deadline exceeded".to_owned()),
            Some(TEXT) => text(),
            _ => None,
        }
        .or_else(|| self.shown(host, at, part))
    }

    /// What the interface at an offset holds, as Go writes it; `None` where it holds nothing.
    fn shown(&self, host: &dyn Host, at: Addr, (offset, ty): (u64, Addr)) -> Option<String> {
        let at = at.checked_add(offset)?;
        (host.space().read_word(at).ok()? != 0).then_some(())?;
        let typed = Typed { at, ty, form: Form::One };
        self.typed_value(host, typed, LIMITS).ok().map(|value| value.text)
    }
}
