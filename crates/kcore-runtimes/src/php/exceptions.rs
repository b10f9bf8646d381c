//! Exceptions on their way: `zend_exceptions.c`.

use kcore_mem::Addr;

use super::{
    Php,
    memory::{Memory, OBJECT, STRING},
};
use crate::{DyingStack, Ending, Fate, Host};

/// Exceptions that led to each other, at most.
const MAX_PREVIOUS: usize = 64;

impl Php {
    pub(super) fn endings(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        let memory = self.memory(host);
        let globals = dying.stack.thread.and_then(|thread| self.storage.of(host, thread));
        // Globals that all threads share say nothing of those that do not run PHP.
        let own = globals.filter(|_| {
            matches!(self.storage, super::Storage::PerThread { .. })
                || dying.stack.frames.iter().any(|frame| self.module.contains(frame.pc.lookup()))
        });
        let on_their_way = own.into_iter().flat_map(|globals| {
            [globals.exception(&memory), globals.kept_exception(&memory)].into_iter().flatten()
        });
        on_their_way.filter_map(|at| ending(&memory, at)).collect()
    }
}

fn ending(memory: &Memory<'_>, at: Addr) -> Option<Ending> {
    let (class, message) = line(memory, at)?;
    let mut causes = String::new();
    let mut known = vec![at];
    let previous = |at| memory.property(at, "previous").and_then(|value| value.object(OBJECT));
    let mut next = previous(at);
    while let Some(cause) = next.filter(|at| !known.contains(at) && known.len() < MAX_PREVIOUS) {
        known.push(cause);
        let Some((class, message)) = line(memory, cause) else { break };
        causes.push_str("; caused by ");
        causes.push_str(&class);
        causes.push_str(&message.map(|message| format!(": {message}")).unwrap_or_default());
        next = previous(cause);
    }
    let message = match causes.is_empty() {
        true => message,
        false => Some(format!("{}{causes}", message.unwrap_or_default())),
    };
    Some(Ending::Exception {
        fate: Fate::InFlight,
        type_name: class.into(),
        message: message.map(Into::into),
        signal: None,
        object: Some(at),
        trace: Vec::new(),
    })
}

/// The class and the message of an exception.
fn line(memory: &Memory<'_>, at: Addr) -> Option<(String, Option<String>)> {
    let class = memory.class_name(memory.class_of(at)?)?;
    let message = memory.property(at, "message").and_then(|value| value.object(STRING));
    Some((class, message.and_then(|text| memory.text(text)).filter(|text| !text.is_empty())))
}
