//! Channels: what is in them, and who waits for them (`runtime/chan.go`, `runtime.hchan` and `runtime.waitq`;
//! `runtime/runtime2.go`, `runtime.sudog`).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{
    Go,
    printed_value::{SHORT, printed, text},
    types::{GoType, Kind},
};
use crate::Host;

/// Fields of a channel that lie alike in all versions.
const COUNT: u64 = 0;
const CAPACITY: u64 = 8;
const BUFFER: u64 = 16;
const ELEMENT_SIZE: u64 = 24;
const CLOSED: u64 = 28;
/// From the type of the elements on: where the next one is received from, and who waits to receive and to send.
const RECEIVE: u64 = 16;
const RECEIVERS: u64 = 24;
const SENDERS: u64 = 40;
/// Fields of a `runtime.sudog` that lie alike in all versions: its goroutine, and the next one that waits.
const GOROUTINE: u64 = 0;
const NEXT: u64 = 8;
/// A length beyond that of any real channel: a larger one is damage.
const MAX_CAPACITY: u64 = 1 << 40;
/// Values, and goroutines that wait on one side, at most.
const MAX_VALUES: u64 = 64;
const MAX_WAITING: usize = 1 << 20;
/// How often one goroutine may wait for a channel, on average.
const EACH: usize = 16;

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Where it lies.
    pub at: Addr,
    /// The type of what goes through it.
    pub element: Arc<str>,
    /// How many values are in it.
    pub count: u64,
    /// For how many it has room.
    pub capacity: u64,
    /// Whether nothing can be sent any more.
    pub closed: bool,
    /// The first of the values in it, in the order in which they would be received: where each lies, and what it is if it
    /// is plain.
    pub values: Vec<(Addr, Option<Arc<str>>)>,
    /// The numbers of the goroutines that wait to receive, the first one first.
    pub receivers: Vec<u64>,
    /// Those of the goroutines that wait to send.
    pub senders: Vec<u64>,
    /// Why the goroutines that wait are not all there, if so.
    pub doubt: Option<&'static str>,
}

impl Go {
    /// The channel at an address, if one lies there: the type of its elements proves it.
    pub fn channel(&self, host: &dyn Host, at: Addr) -> Option<Channel> {
        let space = host.space();
        let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let layout = self.layout.channel_type;
        let element_at = Addr::new(word(layout)?);
        let element = GoType::load(space, &self.tables, element_at)?;
        let (count, capacity) = (word(COUNT)?, word(CAPACITY)?);
        let size = space.read_uint(at.checked_add(ELEMENT_SIZE)?, 2).ok()?;
        let is_one = count <= capacity && capacity <= MAX_CAPACITY && size == element.size;
        is_one.then_some(())?;
        let first = word(layout.checked_add(RECEIVE)?)?;
        let buffer = Addr::new(word(BUFFER)?);
        let values = self.values(space, &element, buffer, (first, count, capacity));
        let side = |offset: u64| self.waiting(host, at.checked_add(layout.checked_add(offset)?)?);
        let ((receivers, no_end), (senders, none)) = (side(RECEIVERS)?, side(SENDERS)?);
        Some(Channel {
            at,
            element: element.name,
            count,
            capacity,
            closed: space.read_uint(at.checked_add(CLOSED)?, 4).ok()? != 0,
            values,
            receivers,
            senders,
            doubt: (no_end || none).then_some("the list of those that wait for it is damaged"),
        })
    }

    fn values(
        &self,
        space: &dyn AddressSpace,
        element: &GoType,
        buffer: Addr,
        (first, count, capacity): (u64, u64, u64),
    ) -> Vec<(Addr, Option<Arc<str>>)> {
        let value = |number: u64| {
            let index = first.checked_add(number)?.checked_rem(capacity)?;
            let at = buffer.checked_add(index.checked_mul(element.size)?)?;
            let plain = element.kind.is_plain().then(|| spelled(space, element, at));
            Some((at, plain.flatten()))
        };
        (0..count.min(MAX_VALUES)).filter_map(value).collect()
    }

    /// The goroutines of a queue, and whether it is damaged.
    fn waiting(&self, host: &dyn Host, queue: Addr) -> Option<(Vec<u64>, bool)> {
        let space = host.space();
        let mut next = space.read_addr(queue).ok()?;
        let mut found = Vec::new();
        // One that selects may wait for the same channel several times.
        let known = self.goroutines(host).len();
        let most = known.saturating_mul(EACH).saturating_add(EACH).min(MAX_WAITING);
        while next.get() != 0 {
            let field = |offset: u64| space.read_addr(next.checked_add(offset)?).ok();
            let goroutine = field(GOROUTINE).and_then(|at| self.goroutines(host).lying_at(at));
            let (Some(goroutine), Some(behind)) = (goroutine, field(NEXT)) else {
                return Some((found, true));
            };
            if found.len() >= most {
                return Some((found, true));
            }
            found.push(goroutine.id);
            next = behind;
        }
        Some((found, false))
    }
}

/// A number, or a text in quotes, as it would be written in Go's source.
fn spelled(space: &dyn AddressSpace, ty: &GoType, at: Addr) -> Option<Arc<str>> {
    if ty.kind != Kind::Text {
        return printed(space, SHORT, ty, at);
    }
    let quoted = format!("{:?}", text(space, at)?);
    let is_named = !ty.is_predeclared();
    Some(if is_named { format!("{}({quoted})", ty.name).into() } else { quoted.into() })
}
