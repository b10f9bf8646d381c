//! Exceptions: `error.c`, `eval_error.c`, `eval.c` (`errinfo_place`).

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Ruby,
    code::CodeKind,
    frame::ControlFrame,
    heap::{ARRAY, CLASS, Heap, OBJECT},
    vm::RubyThread,
};
use crate::{DyingStack, Ending, Fate, Host};

/// Exceptions that led to each other, at most.
const MAX_CAUSES: usize = 64;
/// Lines of a backtrace, at most.
const MAX_LINES: u64 = 10_000;
/// Classes above one, at most.
const MAX_SUPER: usize = 256;
/// Hidden variables of exceptions.
const MESSAGE: &str = "mesg";
const BACKTRACE: &str = "bt";
const CAUSE: &str = "cause";
/// The class of all exceptions.
const EXCEPTION: &str = "Exception";

/// An exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// It.
    pub at: Addr,
    /// Its class.
    pub class: Arc<str>,
    /// Its message, if that is a text.
    pub message: Option<Arc<str>>,
    /// The exception that was handled when it was raised.
    pub cause: Option<Addr>,
    /// Where it was raised, innermost first, if the program has asked for that.
    pub backtrace: Vec<Arc<str>>,
}

impl Exception {
    /// One line: its class and message.
    pub fn line(&self) -> String {
        match &self.message {
            Some(message) => format!("{}: {message}", self.class),
            None => self.class.to_string(),
        }
    }
}

impl Ruby {
    /// The exception at an address, if it is one.
    pub fn exception(&self, host: &dyn Host, at: Addr) -> Option<Exception> {
        self.heap(host).exception(at.get())
    }

    /// The exception that a thread raised and that nobody has caught, and those whose handlers run, innermost first.
    pub fn exceptions(
        &self,
        host: &dyn Host,
        thread: &RubyThread,
    ) -> (Option<Exception>, Vec<Exception>) {
        let heap = self.heap(host);
        let raised = heap.word(thread.context, heap.layout.context.error);
        let raised = raised.and_then(|value| heap.exception(value));
        let Some(context) = heap.context(thread.context) else { return (raised, Vec::new()) };
        let mut handled: Vec<Exception> = Vec::new();
        let chain = self.chain(&heap, &context);
        for frame in chain.frames() {
            let handles = |kind| matches!(kind, CodeKind::Rescue | CodeKind::Ensure);
            if !frame.code.as_ref().is_some_and(|code| handles(code.kind)) {
                continue;
            }
            // `VM_ENV_INDEX_LAST_LVAR`: the exception is the only variable.
            let control = ControlFrame::load(&heap, frame.at);
            let value = control
                .and_then(|it| heap.word(Addr::new(it.environment.get().wrapping_sub(24)), 0));
            handled.extend(value.and_then(|value| heap.exception(value)));
        }
        (raised, handled)
    }

    pub(super) fn endings(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        let thread = dying.stack.thread.and_then(|tid| self.threads(host).of(tid));
        let Some((raised, handled)) = thread.map(|thread| self.exceptions(host, thread)) else {
            return Vec::new();
        };
        let of = |fate, exception: Exception| self.ending(host, fate, exception);
        match (raised, handled.into_iter().next()) {
            (Some(raised), _) => vec![of(Fate::InFlight, raised)],
            (None, Some(handled)) => vec![of(Fate::Handled, handled)],
            (None, None) => Vec::new(),
        }
    }

    fn ending(&self, host: &dyn Host, fate: Fate, exception: Exception) -> Ending {
        let mut causes = String::new();
        let mut known = vec![exception.at];
        let mut next = exception.cause;
        while let Some(cause) = next.filter(|at| !known.contains(at) && known.len() < MAX_CAUSES) {
            known.push(cause);
            let Some(cause) = self.exception(host, cause) else { break };
            causes.push_str("; caused by ");
            causes.push_str(&cause.line());
            next = cause.cause;
        }
        let message = match (exception.message, causes.is_empty()) {
            (message, true) => message,
            (message, false) => {
                Some(format!("{}{causes}", message.as_deref().unwrap_or_default()).into())
            }
        };
        let (type_name, trace) = (exception.class, exception.backtrace);
        let (signal, object) = (None, Some(exception.at));
        Ending::Exception { fate, type_name, message, signal, object, trace }
    }
}

impl Heap<'_> {
    /// The exception that a value is.
    pub fn exception(&self, value: u64) -> Option<Exception> {
        let object = self.object(value).filter(|object| object.kind() == OBJECT)?;
        let class = self.real_class(self.class_of(object)?)?;
        self.is_exception_class(class)?;
        let variables = self.variables(object).unwrap_or_default();
        let variable = |wanted: &str| {
            variables.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| *value)
        };
        let cause = variable(CAUSE).and_then(|value| self.object(value)).map(|cause| cause.at);
        Some(Exception {
            at: object.at,
            class: self.class_name(class)?.into(),
            message: variable(MESSAGE).and_then(|value| self.text(value)).map(Arc::from),
            cause,
            backtrace: variable(BACKTRACE).map(|value| self.lines(value)).unwrap_or_default(),
        })
    }

    /// A backtrace that the program asked for: texts.
    fn lines(&self, value: u64) -> Vec<Arc<str>> {
        let array = self.object(value).filter(|object| object.kind() == ARRAY);
        let Some((first, count)) = array.and_then(|array| self.elements(array)) else {
            return Vec::new();
        };
        let line = |index: u64| self.text(self.word(first, index.checked_mul(8)?)?).map(Arc::from);
        (0..count.min(MAX_LINES)).map_while(line).collect()
    }

    fn is_exception_class(&self, class: Addr) -> Option<()> {
        let mut class = class;
        for _ in 0..MAX_SUPER {
            let object = self.class(class)?;
            if object.kind() == CLASS && self.class_name(class).as_deref() == Some(EXCEPTION) {
                return Some(());
            }
            class = self.pointer(class, 16)?;
        }
        None
    }
}
