//! What ended a process that runs Go: panics that nobody recovered, or what the runtime gave up for.
//!
//! `runtime/panic.go`: before panics are printed, what a value says of itself (`Error`, `String`) takes its place.
//! `runtime/print.go`: what is printed before that stays in a buffer for those who look at cores.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{Go, bytes::Bytes};
use crate::{DyingStack, Ending, Fate, Host, HostModule};

/// Panics of one goroutine, at most.
const MAX_PANICS: usize = 64;
/// Bytes of a text, at most.
const MAX_TEXT: u64 = 16 << 10;
/// What the runtime runs when it ends the process.
const DYING: [&str; 4] =
    ["runtime.fatalpanic", "runtime.fatalthrow", "runtime.dieFromSignal", "runtime.crash"];

/// Fields of a type (`internal/abi/type.go`), and the kind of texts.
const TYPE_FLAGS: u64 = 20;
const TYPE_KIND: u64 = 23;
const TYPE_NAME: u64 = 40;
const KIND: u64 = 0x1f;
const TEXT: u64 = 24;
/// The name has a star too many.
const EXTRA_STAR: u64 = 2;
/// Longer names are cut.
const MAX_NAME: u32 = 1 << 10;

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
    /// What ended the process, if its runtime did.
    pub(super) fn ending(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        if !self.is_dying(host, dying) {
            return Vec::new();
        }
        let goroutine =
            dying.stack.thread.and_then(|thread| self.goroutines(host).on_thread(thread));
        let mut next = goroutine.and_then(|goroutine| goroutine.panic);
        let mut found = Vec::new();
        for _ in 0..MAX_PANICS {
            let Some(panic) = next else { break };
            found.extend(self.panic(host.space(), panic));
            let link = panic.checked_add(self.layout.panic.link);
            next = link.and_then(|link| host.space().read_addr(link).ok());
            next = next.filter(|next| next.get() != 0);
        }
        let fatal = || self.backlog.and_then(|backlog| backlog.fatal(host.space()));
        match found.is_empty() {
            true => fatal()
                .map(|message| Ending::Fatal { message, trace: vec![] })
                .into_iter()
                .collect(),
            false => found,
        }
    }

    fn is_dying(&self, host: &dyn Host, dying: &DyingStack<'_>) -> bool {
        dying.stack.frames.iter().any(|frame| {
            let place = self.place(host, frame.pc);
            let name = place.and_then(|place| place.function.name(&self.tables, host.space()));
            name.is_some_and(|name| DYING.contains(&&*name))
        })
    }

    /// A panic that nobody recovered. A call of `runtime.Goexit` has no value.
    fn panic(&self, space: &dyn AddressSpace, at: Addr) -> Option<Ending> {
        let layout = self.layout.panic;
        let recovered = space.read_uint(at.checked_add(layout.recovered)?, 1).ok()?;
        let value = at.checked_add(layout.value)?;
        let ty = space.read_addr(value).ok().filter(|ty| ty.get() != 0 && recovered == 0)?;
        let data = space.read_addr(value.checked_add(8)?).ok()?;
        let name = self.type_name(space, ty);
        let message = text_of(space, ty, data);
        let type_name = match name.as_deref() {
            None | Some("string") => "panic".into(),
            Some(name) => format!("panic: {name}").into(),
        };
        Some(Ending::Exception {
            fate: Fate::Uncaught,
            type_name,
            message,
            object: None,
            trace: Vec::new(),
        })
    }

    /// The name of a type, with its package.
    fn type_name(&self, space: &dyn AddressSpace, ty: Addr) -> Option<String> {
        let field = |offset: u64, size| space.read_uint(ty.checked_add(offset)?, size).ok();
        let at = self.tables.types.checked_add(field(TYPE_NAME, 4)?)?;
        // A byte of flags comes first.
        let mut bytes = Bytes::new(space, at.checked_add(1)?);
        let len = bytes.varint()?.min(MAX_NAME);
        let name: Option<Vec<u8>> = (0..len).map(|_| bytes.byte()).collect();
        let name = String::from_utf8_lossy(&name?).into_owned();
        let has_star = field(TYPE_FLAGS, 1)? & EXTRA_STAR != 0;
        let bare = name.strip_prefix('*').filter(|_| has_star);
        Some(bare.map_or_else(|| name.clone(), ToOwned::to_owned))
    }
}

/// The text that a value is, if its type is one of texts.
fn text_of(space: &dyn AddressSpace, ty: Addr, data: Addr) -> Option<Arc<str>> {
    let kind = space.read_uint(ty.checked_add(TYPE_KIND)?, 1).ok()?;
    (kind & KIND == TEXT).then_some(())?;
    let (start, len) = (space.read_addr(data).ok()?, space.read_word(data.checked_add(8)?).ok()?);
    let bytes = space.read_held(start, len.min(MAX_TEXT));
    (bytes.len() as u64 == len.min(MAX_TEXT)).then(|| String::from_utf8_lossy(&bytes).into())
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

    #[test]
    fn only_types_of_texts_are_texts() {
        let mut host = MadeHost::new(&[0x1000]);
        host.put(0x1000 + TYPE_KIND, &[0x20 | 24]);
        host.words(0x1100, &[0x1200, 4]);
        host.put(0x1200, b"told");
        let text = |host: &MadeHost| text_of(host.space(), Addr::new(0x1000), Addr::new(0x1100));
        assert_eq!(text(&host).as_deref(), Some("told"));
        host.words(0x1108, &[1 << 40]);
        assert_eq!(text(&host), None, "memory does not hold all of it");
        host.put(0x1000 + TYPE_KIND, &[2]);
        assert_eq!(text(&host), None);
    }
}
