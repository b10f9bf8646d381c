//! Why Go's runtime gave up: what it printed behind `fatal error: `.
//!
//! `runtime/panic.go`: `throw` and `fatal` print on the stack of the system, by a function that has the text from the
//! frame that called it. `runtime/print.go`: what is printed stays in a buffer for those who look at cores.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{Go, printed_value::text};
use crate::{DyingStack, Host, HostModule};

/// Functions that give up for a reason, and what begins the name of the function that prints it.
const GIVING_UP: [(&str, &str); 2] =
    [("runtime.throw", "runtime.throw.func"), ("runtime.fatal", "runtime.fatal.func")];
/// Bytes of their frames, at most.
const MAX_FRAME: u64 = 512;
/// Bytes of a message, at most.
const MAX_MESSAGE: u64 = 1 << 10;

/// The buffer of what was printed, `runtime.printBacklog`, and where it goes on.
const BACKLOG: &str = "runtime.printBacklog";
const BACKLOG_INDEX: &str = "runtime.printBacklogIndex";
const BACKLOG_SIZE: u64 = 512;
const FATAL: &str = "fatal error: ";

/// The ring buffer in which a module's runtime keeps what it printed last.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    text: Addr,
    index: Addr,
}

impl Backlog {
    /// That of a module; `None` of one without symbols.
    pub fn of(module: &dyn HostModule) -> Option<Self> {
        let table = module.symbols().table();
        let symbol = |name: &str| module.addr(table.lookup(name)?.value());
        Some(Self { text: symbol(BACKLOG)?, index: symbol(BACKLOG_INDEX)? })
    }

    /// The last line of it that says why the runtime gave up.
    fn fatal(self, space: &dyn AddressSpace) -> Option<Arc<str>> {
        let bytes = space.read_held(self.text, BACKLOG_SIZE);
        let index = space.read_word(self.index).ok().filter(|index| *index < BACKLOG_SIZE)?;
        let (last, first) = bytes.split_at_checked(usize::try_from(index).ok()?)?;
        let text = String::from_utf8_lossy(&[first, last].concat()).into_owned();
        let (_, message) = text.rsplit_once(FATAL)?;
        let line = message.lines().next().map(str::trim).filter(|line| !line.is_empty())?;
        Some(line.into())
    }
}

impl Go {
    /// Why it gave up, if it did.
    pub(super) fn fatal(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Option<Arc<str>> {
        let giving_up = dying.stack.frames.iter().find_map(|frame| {
            let place = self.place(host, frame.pc)?;
            let name = place.function.name(&self.tables, host.space())?;
            let (_, prints) = GIVING_UP.iter().find(|(own, _)| **own == *name)?;
            Some(self.told_to(host, prints, (frame.sp?, frame.cfa?)))
        })?;
        giving_up.or_else(|| self.backlog.and_then(|backlog| backlog.fatal(host.space())))
    }

    /// The text that a frame hands to a function whose name begins so: it lies behind the address of that.
    fn told_to(&self, host: &dyn Host, prints: &str, frame: (Addr, Addr)) -> Option<Arc<str>> {
        let space = host.space();
        let (start, end) = (frame.0.get(), frame.1.get());
        (end.checked_sub(start)? <= MAX_FRAME).then_some(())?;
        (start..end).step_by(8).map(Addr::new).find_map(|at| {
            let code = space.read_addr(at).ok().filter(|code| self.tables.text.contains(*code))?;
            let place = self.place(host, kcore_mem::CodeAddr::Pc(code))?;
            let name = place.function.name(&self.tables, space)?;
            (place.function.code.start == code && name.starts_with(prints)).then_some(())?;
            // What it prints first of all may come before the text.
            [8, 16].into_iter().find_map(|behind| message(space, at.checked_add(behind)?))
        })
    }
}

/// A message whose head lies at an address: whatever is longer, or no text, is none.
fn message(space: &dyn AddressSpace, head: Addr) -> Option<Arc<str>> {
    let len = space.read_word(head.checked_add(8)?).ok()?;
    (1..=MAX_MESSAGE).contains(&len).then_some(())?;
    let told = text(space, head)?;
    let is_text =
        told.chars().all(|char| char != '\u{fffd}' && (char == '\n' || !char.is_control()));
    is_text.then(|| told.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anchor::made_host::MadeHost;

    #[test]
    fn the_last_fatal_error_is_read_from_where_the_buffer_goes_on() {
        let mut host = MadeHost::new(&[0x1000]);
        let backlog = Backlog { text: Addr::new(0x1000), index: Addr::new(0x1200) };
        assert_eq!(backlog.fatal(host.space()), None);
        host.put(0x1000, b"or: second\n\nrest");
        host.put(0x11f7, b"fatal err");
        host.words(0x1200, &[16]);
        assert_eq!(backlog.fatal(host.space()).as_deref(), Some("second"));
        host.words(0x1200, &[513]);
        assert_eq!(backlog.fatal(host.space()), None, "it goes on outside of the buffer");
    }
}
