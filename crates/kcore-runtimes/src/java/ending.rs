//! What ended a process that runs Java: an exception that was on its way in the thread that died, or what the virtual
//! machine gave up for (`src/hotspot/share/utilities/{exceptions.hpp,vmError.cpp}`, JDK 11 to 25).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{Java, classes::Objects};
use crate::{DyingStack, Ending, Fate, Host, HostModule};

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
/// The class of what can be thrown.
const THROWABLE: &str = "java.lang.Throwable";

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
        let exception = pending.zip(objects).and_then(|(at, objects)| in_flight(&objects, at));
        let fatal = || {
            let names: Vec<&str> = dying.functions.iter().map(|name| &**name).collect();
            REPORTS.iter().any(|report| names.contains(report)).then_some(())?;
            let library = host.module_at(self.library)?;
            let message = FatalError::of(library).text(host.space())?;
            Some(Ending::Fatal { message, trace: Vec::new() })
        };
        exception.into_iter().chain(fatal()).collect()
    }
}

/// An exception that was thrown, and has not come to a handler yet.
fn in_flight(objects: &Objects<'_>, at: Addr) -> Option<Ending> {
    objects.is_a(at, THROWABLE).then_some(())?;
    let (_, class) = objects.class_of(at)?;
    Some(Ending::Exception {
        fate: Fate::InFlight,
        type_name: class,
        message: objects.text(at, DETAIL_MESSAGE),
        signal: None,
        object: Some(at),
        trace: Vec::new(),
    })
}
