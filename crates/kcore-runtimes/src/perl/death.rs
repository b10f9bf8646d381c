//! What is thrown by `die` and on its way: `die_unwind` of `pp_ctl.c`, `invoke_exception_hook` of `util.c`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Perl,
    context::{Callee, Chain},
    interpreter::Interpreter,
    memory::{HASH, Memory},
    value::{Entries, Teller},
};
use crate::{DyingStack, Ending, Fate, Host, ScriptScalar, VariableLimits};

/// What leaves calls until an eval is met. Before it does, `$@` has what was thrown.
const UNWINDS: &[&str] = &["Perl_die_unwind"];
/// The name of `$@` among those of the package `main`.
const ERROR: &str = "@";
/// The entry of an object in which exceptions keep their text.
const MESSAGE: &str = "message";
/// Entries of an object that are looked at, at most.
const MAX_ENTRIES: usize = 256;
/// How much is told of what was thrown.
const LIMITS: VariableLimits =
    VariableLimits { locals: false, depth: 1, entries: 16, characters: 1024 };

impl Perl {
    /// What was thrown and is on its way.
    pub(super) fn endings(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Option<Ending> {
        let thread = dying.stack.thread?;
        let own = |frame: &kcore_unwind::Frame| self.is_own_code(frame.pc.lookup());
        dying.stack.frames.iter().any(own).then_some(())?;
        let interpreter = self.interpreter(host, thread, dying.stack.frames)?;
        let memory = self.memory(host);
        let unwound =
            || dying.frame_of(UNWINDS).and_then(|_| error_variable(&memory, &interpreter));
        let thrown = handled(&memory, &interpreter).or_else(unwound)?;
        ending(&memory, thrown)
    }
}

/// What a handler of `die` was called with.
fn handled(memory: &Memory<'_>, interpreter: &Interpreter) -> Option<Addr> {
    let chain = Chain::of(memory, interpreter);
    let call = chain.calls().find(|call| call.handles_death)?;
    let Callee::Sub { code, depth, .. } = call.callee else { return None };
    memory.first_passed(memory.arguments(code, depth.checked_add(1)?)?)
}

/// `$@`.
fn error_variable(memory: &Memory<'_>, interpreter: &Interpreter) -> Option<Addr> {
    let symbols = memory.pointer(interpreter.symbols?, 0)?;
    let glob = Entries::of(memory, symbols)?.named(ERROR)?;
    memory.glob_scalar(glob)
}

fn ending(memory: &Memory<'_>, thrown: Addr) -> Option<Ending> {
    let teller = Teller::new(memory, LIMITS);
    let node = teller.value(thrown);
    let text = |scalar: Option<ScriptScalar>| match scalar {
        Some(ScriptScalar::Text { text, .. }) => Some(text),
        Some(ScriptScalar::Integer(digits)) => Some(digits),
        _ => None,
    };
    let object = node.at;
    let member = || text(teller.value(message(memory, object?)?).scalar);
    let message = text(node.scalar).or_else(member);
    let type_name = node.class.unwrap_or_else(|| node.kind.into());
    let message: Option<Arc<str>> = message.map(|message| message.trim_end().into());
    // `$@` is empty where nothing was thrown.
    let is_thrown = match &*type_name {
        "undef" | "unreadable" => false,
        "string" => message.as_deref().is_some_and(|message| !message.is_empty()),
        _ => true,
    };
    is_thrown.then_some(Ending::Exception {
        fate: Fate::InFlight,
        type_name,
        message,
        signal: None,
        object,
        trace: Vec::new(),
    })
}

fn message(memory: &Memory<'_>, object: Addr) -> Option<Addr> {
    memory.of_kind(object, HASH)?;
    let mut entries = Entries::of(memory, object)?.take(MAX_ENTRIES);
    entries.find(|(key, _)| key == MESSAGE).map(|(_, value)| value)
}
