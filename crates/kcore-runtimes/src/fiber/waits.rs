//! What a fiber waits for: the queue that it is in.

use std::fmt;

use kcore_mem::{Addr, AddressSpace};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    context::Context,
    layout::{Layout, Waits, context, waker},
};

/// Bytes above the stack pointer with which a fiber was left in which what it waits with is looked for: the
/// functions that switch are on them as well.
const NEAR: usize = 8 << 10;
/// Steps along queues, of all fibers together.
const MAX_STEPS: usize = 1 << 22;

/// A queue that a fiber waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Its head: the `wait_queue_` of a mutex, a condition or a channel.
    pub queue: Addr,
    /// The fiber whose end is waited for, if it is that one's.
    pub joins: Option<Addr>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.joins {
            Some(fiber) => write!(f, "end of fiber {fiber:x}"),
            None => write!(f, "queue {:x}", self.queue),
        }
    }
}

/// Looks up queues.
pub struct Queues<'a> {
    space: &'a dyn AddressSpace,
    layout: &'static Layout,
    fibers: FxHashSet<Addr>,
    /// The heads of those that were walked, by what is in them.
    heads: FxHashMap<Addr, Option<Addr>>,
    left: usize,
}

impl<'a> Queues<'a> {
    /// Those in which `fibers` may be.
    pub fn new(
        space: &'a dyn AddressSpace,
        layout: &'static Layout,
        fibers: impl Iterator<Item = Addr>,
    ) -> Self {
        let heads = FxHashMap::default();
        Self { space, layout, fibers: fibers.collect(), heads, left: MAX_STEPS }
    }

    /// The queue that a fiber is in.
    pub fn of(&mut self, fiber: &Context) -> Option<Wait> {
        let node = match self.layout.waits {
            Waits::ByHook => {
                let hook = fiber.at.checked_add(context::WAIT_HOOK)?;
                (self.space.read_word(hook).ok()? != 0).then_some(hook)?
            }
            Waits::ByWaker => self.waker(fiber)?,
        };
        let queue = self.head(node)?;
        let of = queue.get().checked_sub(context::WAIT_QUEUE).map(Addr::new);
        Some(Wait { queue, joins: of.filter(|of| self.fibers.contains(of)) })
    }

    /// The hook of what a fiber waits with, on its stack: it names the fiber and the epoch that is waited in,
    /// and is in a ring.
    fn waker(&mut self, fiber: &Context) -> Option<Addr> {
        let saved = fiber.saved?;
        let epoch = self.epoch(fiber.at)?;
        let mut bytes = [0; NEAR];
        let (held, _) = self.space.read_partial(saved, &mut bytes);
        let words: Vec<u64> = bytes.get(..held)?.chunks_exact(8).map(word).collect();
        let named = words.windows(3).enumerate().filter(|(_, it)| {
            matches!(it, [of, at, next] if (*of, *at) == (fiber.at.get(), epoch) && *next != 0)
        });
        let at = |index: usize| saved.checked_add((index as u64).checked_mul(8)?);
        let hooks: Vec<Addr> =
            named.filter_map(|(index, _)| at(index)?.checked_add(waker::HOOK)).collect();
        hooks.into_iter().find(|hook| self.head(*hook).is_some())
    }

    fn epoch(&self, fiber: Addr) -> Option<u64> {
        self.space.read_word(fiber.checked_add(context::WAKER_EPOCH)?).ok()
    }

    /// Whether what is in a ring is what a fiber waits with.
    fn is_of_fiber(&self, node: Addr) -> bool {
        let before = |bytes: u64| node.get().checked_sub(bytes).map(Addr::new);
        match self.layout.waits {
            Waits::ByHook => before(context::WAIT_HOOK).is_some_and(|at| self.fibers.contains(&at)),
            Waits::ByWaker => {
                let at = before(waker::HOOK);
                let fiber = at.and_then(|at| self.space.read_addr(at).ok());
                let epoch = at.and_then(|at| at.checked_add(waker::EPOCH));
                let epoch = epoch.and_then(|at| self.space.read_word(at).ok());
                fiber
                    .is_some_and(|fiber| self.fibers.contains(&fiber) && self.epoch(fiber) == epoch)
            }
        }
    }

    /// The head of the ring that a node is in: the only part of it that is no fiber's.
    fn head(&mut self, node: Addr) -> Option<Addr> {
        if let Some(known) = self.heads.get(&node) {
            return *known;
        }
        let ring = self.ring(node).unwrap_or_else(|| vec![node]);
        let mut others = ring.iter().filter(|node| !self.is_of_fiber(**node)).copied();
        let head = others.next().filter(|_| others.next().is_none());
        for node in &ring {
            self.heads.insert(*node, head);
        }
        head
    }

    /// All of a ring, if it closes: there is no more in it than all fibers and its head.
    fn ring(&mut self, first: Addr) -> Option<Vec<Addr>> {
        let (mut ring, mut node) = (vec![first], first);
        while ring.len() <= self.fibers.len().saturating_add(1) {
            self.left = self.left.checked_sub(1)?;
            node = self.space.read_addr(node).ok()?;
            if node == first {
                return Some(ring);
            }
            ring.push(node);
        }
        None
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map(u64::from_le_bytes).unwrap_or_default()
}
