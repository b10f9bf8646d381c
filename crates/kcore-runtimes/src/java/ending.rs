//! What ended a process that runs Java: an exception that was on its way in the thread that died, or what the virtual
//! machine gave up for (`src/hotspot/share/utilities/{exceptions.hpp,vmError.cpp}`, JDK 11 to 25).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{Java, classes::Objects, throwable::THROWABLE};
use crate::{
    DyingStack, Ending, Fate, FrameKind, FrameOfLanguage, Host, HostModule, VariableLimits,
};

/// What runs when the virtual machine ends the process by itself.
const REPORTS: [&str; 2] = ["VMError::report_and_die", "VMError::report"];
/// Variables in which it keeps why, of libraries with symbols: a pointer to a text, and a text.
const MESSAGE: &str = "_ZN7VMError8_messageE";
const DETAIL: &str = "_ZN7VMError11_detail_msgE";
/// The message of most of them.
const FATAL: &str = "fatal error";
/// Bytes of a text, at most.
const MAX_TEXT: usize = 1 << 10;
/// The field of an exception with its message.
const DETAIL_MESSAGE: &str = "detailMessage";
/// What a thread calls whose exception nobody caught, with that as the last argument.
const UNCAUGHT: &str = "java.lang.Thread.dispatchUncaughtException";
/// What is told of variables: no more than where objects lie.
const NOTHING_INSIDE: VariableLimits =
    VariableLimits { locals: false, depth: 0, entries: 0, characters: 0 };

/// Where the virtual machine keeps why it gave up.
#[derive(Clone, Copy, Debug, Default)]
pub struct FatalError {
    message: Option<Addr>,
    detail: Option<Addr>,
}

impl FatalError {
    /// That of a library; nothing of one without symbols.
    pub fn of(module: &dyn HostModule) -> Self {
        let table = module.symbols().table();
        let symbol = |name: &str| module.addr(table.lookup(name)?.value());
        Self { message: symbol(MESSAGE), detail: symbol(DETAIL) }
    }

    fn text(self, space: &dyn AddressSpace) -> Option<Arc<str>> {
        let text = |at: Addr| {
            let bytes = space.read_cstr(at, MAX_TEXT).ok().filter(|bytes| !bytes.is_empty())?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let message = self.message.and_then(|at| space.read_addr(at).ok()).and_then(text);
        match (message, self.detail.and_then(text)) {
            // Its words for a call that gives up say no more.
            (Some(message), Some(detail)) if message == FATAL => Some(detail.into()),
            (Some(message), Some(detail)) => Some(format!("{message}: {detail}").into()),
            (one, other) => one.or(other).map(Into::into),
        }
    }
}

impl Java {
    /// What ended the process, as far as the virtual machine has it.
    pub(super) fn ending(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        let thread = dying.stack.thread.and_then(|tid| self.threads(host).on_thread(tid).cloned());
        let pending = thread.and_then(|thread| thread.pending_exception);
        let objects = self.objects_in(host.space());
        let of = |fate: Fate, at: Addr| self.thrown(objects.as_ref()?, fate, at);
        let in_flight = pending.and_then(|at| of(Fate::InFlight, at));
        let uncaught = self.uncaught_in(host, dying).and_then(|at| of(Fate::Uncaught, at));
        let fatal = || {
            let names: Vec<&str> = dying.functions.iter().map(|name| &**name).collect();
            REPORTS.iter().any(|report| names.contains(report)).then_some(())?;
            let library = host.module_at(self.library)?;
            let message = FatalError::of(library).text(host.space())?;
            Some(Ending::Fatal { message, trace: Vec::new() })
        };
        uncaught.or(in_flight).into_iter().chain(fatal()).collect()
    }

    /// The exception that the thread gives to what handles those that nobody caught.
    fn uncaught_in(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Option<Addr> {
        let spans = self.spans(host, &dying.stack);
        let (frame, native) = spans.iter().find_map(|span| {
            let frame = span.language.last()?;
            let native = dying.stack.frames.get(span.frames.start)?;
            (frame.function.as_deref() == Some(UNCAUGHT)).then_some((frame, native))
        })?;
        let frame = FrameOfLanguage {
            kind: FrameKind::Java,
            object: frame.object,
            inline: false,
            depth: 0,
            native: Some(native),
            callee: None,
            registers: None,
        };
        let variables = self.variables_of(host, &frame, NOTHING_INSIDE)?;
        variables.variables.iter().rev().find(|it| it.is_argument)?.value.at
    }

    fn thrown(&self, objects: &Objects<'_>, fate: Fate, at: Addr) -> Option<Ending> {
        objects.is_a(at, THROWABLE).then_some(())?;
        let (_, class) = objects.class_of(at)?;
        Some(Ending::Exception {
            fate,
            type_name: class,
            message: objects.text(at, DETAIL_MESSAGE),
            signal: None,
            object: Some(at),
            trace: self.trace_of(objects, at).unwrap_or_default(),
        })
    }
}
