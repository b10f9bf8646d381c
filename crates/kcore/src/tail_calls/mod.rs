//! The functions between a caller and the frame above it that have left no frame: each ended by a jump to the
//! next, a tail call.
//!
//! A return address tells who called, and the call which function. Where that is not the function that runs, the
//! entries of calls in DWARF tell by which jumps the one can become the other: [`graph`] follows them and gives what
//! all the ways have in common, [`called`] finds out which function a call means. What may jump to where nobody
//! knows proves nothing beyond it (gdb: `call_site_find_chain`).

mod called;
mod graph;

use std::sync::{Arc, PoisonError, RwLock};

use kcore_mem::{Addr, CodeAddr};
use kcore_symbols::{CallTarget, DieId};
use kcore_unwind::{Frame, Trust};
use rustc_hash::FxHashMap;

use crate::{Core, Location, Module};
use graph::{Graph, Jump, Jumps};

/// Functions whose jumps, and pairs of addresses whose chains are remembered, at most.
const MAX_KNOWN: usize = 1 << 16;

/// A function that ended by a tail call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TailCaller {
    /// The jump.
    pub pc: CodeAddr,
    /// Its entry in the debug information of the module.
    pub call: DieId,
}

/// The functions between a caller and the frame that it led to.
#[derive(Debug, Default)]
pub(crate) struct TailChain {
    /// The one that jumped last is the first.
    pub callers: Vec<TailCaller>,
    /// Whether these were all, and the function that runs cannot have ended as itself in between.
    pub is_whole: bool,
    /// The one on whose inner or outer side some are unknown, and why.
    pub gap: Option<(usize, Arc<str>)>,
}

/// What was found before: append-only stores that readers share. What a command that had to end found may lack
/// something, and is not among it.
#[derive(Default)]
pub(crate) struct TailCallCache {
    jumps: RwLock<FxHashMap<Addr, Option<Arc<Jumps<DieId>>>>>,
    /// By the address that the caller is returned to, and where the frame above it runs.
    chains: RwLock<FxHashMap<(Addr, Addr), Arc<TailChain>>>,
}

impl Core {
    /// The functions that ended by tail calls between two frames that lie above one another.
    pub(crate) fn tail_chain(&self, callee: &Frame, caller: &Frame) -> Option<Arc<TailChain>> {
        let CodeAddr::Return(returns_to) = caller.pc else { return None };
        let is_certain = !callee.guess && !caller.guess;
        let is_called = !callee.signal_trampoline && !caller.signal_trampoline;
        if !is_certain || !is_called {
            return None;
        }
        let key = (returns_to, callee.pc.lookup());
        if let Some(known) = get(&self.tail_calls.chains, &key) {
            return Some(known);
        }
        let found = Arc::new(self.find_tail_chain(returns_to, callee.pc.lookup()));
        if !self.budget().is_halted() {
            put(&self.tail_calls.chains, key, found.clone());
        }
        Some(found)
    }

    fn find_tail_chain(&self, returns_to: Addr, at: Addr) -> TailChain {
        let called = self.called_before(returns_to);
        if called.is_some() && called == self.symbols().at(at).map(|symbol| symbol.start) {
            return TailChain::default();
        }
        let runs = self.function_start(at).unwrap_or(at);
        let Some(called) = called.or_else(|| self.called_by_name(returns_to)) else {
            return TailChain::default();
        };
        let found = self.chain_of_jumps(called, runs);
        match found.callers.is_empty() || self.may_call_directly(returns_to) {
            true => found,
            false => TailChain::default(),
        }
    }

    /// The functions by which the one at `called` can have become the one at `runs`.
    pub(crate) fn chain_of_jumps(&self, called: Addr, runs: Addr) -> TailChain {
        let common = Graph::explore(called, runs, |at| self.jumps_of(at)).common();
        let callers = common.last.iter().chain(&common.first);
        let callers: Vec<TailCaller> =
            callers.map(|jump| TailCaller { pc: jump.pc, call: jump.call }).collect();
        let bearer = common.last.len().saturating_sub(1);
        let gap = common.stopped_at.filter(|_| !callers.is_empty());
        let gap = gap.map(|at| (bearer, self.why_unknown(at)));
        TailChain { callers, is_whole: common.is_whole, gap }
    }

    fn why_unknown(&self, next: Option<Addr>) -> Arc<str> {
        let symbol = next.and_then(|at| self.symbols().at(at));
        match symbol {
            Some(symbol) => format!("{} was called next, how it led on is unknown", symbol.name),
            None => "what it jumped to is unknown".to_owned(),
        }
        .into()
    }

    /// The calls by which the function that begins at `at` may end; `None` where nothing tells of them.
    fn jumps_of(&self, at: Addr) -> Option<Arc<Jumps<DieId>>> {
        if let Some(known) = get(&self.tail_calls.jumps, &at) {
            return known;
        }
        let found = self.find_jumps(at).map(Arc::new);
        if !self.budget().is_halted() {
            put(&self.tail_calls.jumps, at, found.clone());
        }
        found
    }

    fn find_jumps(&self, at: Addr) -> Option<Jumps<DieId>> {
        let module = self.modules().at(at)?;
        let (svma, symbols) = (module.svma(at)?, module.symbols());
        symbols.entry_at(svma).filter(|entry| *entry == svma)?;
        let found = symbols.tail_calls_at(svma, self.budget()).ok()??;
        let is_placed = found.calls.iter().all(|call| call.place.is_some());
        let jumps = found.calls.iter().filter_map(|call| {
            let pc = called::place_of(module, call.place?)?;
            Some(Jump { pc, call: call.id, to: self.named_target(module, &call.target) })
        });
        Some(Jumps { all: jumps.collect(), is_complete: found.is_complete && is_placed })
    }

    /// The function that debug information says is called by the call that returns to `at`.
    fn called_by_name(&self, at: Addr) -> Option<Addr> {
        let (module, target) = self.target_before(at)?;
        self.named_target(module, &target)
    }

    /// Whether debug information does not say that the call before `at` gets its function from elsewhere: bytes
    /// before a call may look like another call.
    fn may_call_directly(&self, at: Addr) -> bool {
        self.target_before(at).is_none_or(|(_, target)| {
            matches!(target, CallTarget::Function(_) | CallTarget::Address(_))
        })
    }

    fn target_before(&self, at: Addr) -> Option<(&Module, CallTarget)> {
        let module = self.modules().at(CodeAddr::Return(at).lookup())?;
        let site = module.symbols().call_returning_to(module.svma(at)?, self.budget());
        Some((module, site.ok()??.target))
    }
}

impl TailChain {
    /// What runs at the jump of one of them, with what is not known beside it.
    pub(crate) fn with_gap(&self, number: usize, at: Arc<[Location]>) -> Arc<[Location]> {
        let Some((_, why)) = self.gap.as_ref().filter(|(bearer, _)| *bearer == number) else {
            return at;
        };
        let mut all = at.to_vec();
        if let Some(function) = all.last_mut() {
            function.doubt = Some(why.clone());
        }
        all.into()
    }
}

impl TailCaller {
    /// A frame for it: it had nothing on the stack any more when the one that it jumped to began, and nobody knows
    /// its registers.
    pub(crate) const fn frame(&self, callee: &Frame) -> Frame {
        Frame {
            pc: self.pc,
            sp: None,
            cfa: callee.cfa,
            frame_pointer: None,
            trust: Trust::TailCall,
            guess: false,
            signal_trampoline: false,
            on_other_stack: false,
            calls_elsewhere: false,
        }
    }
}

fn get<K: std::hash::Hash + Eq, V: Clone>(store: &RwLock<FxHashMap<K, V>>, key: &K) -> Option<V> {
    store.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
}

fn put<K: std::hash::Hash + Eq, V>(store: &RwLock<FxHashMap<K, V>>, key: K, found: V) {
    let mut known = store.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() < MAX_KNOWN {
        known.insert(key, found);
    }
}
