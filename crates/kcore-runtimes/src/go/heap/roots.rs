//! What keeps objects from outside of the heap: variables of the program and finalizers for certain; words of the stacks
//! of goroutines and registers perhaps.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{Heap, special::SpecialKind};
use crate::{
    Host,
    go::Go,
    graph::{Nodes, Root, RootKind, native_words},
    objects::{Stopped, Watch},
};

/// A variable of the program, by the masks of the collector.
pub const VARIABLE: RootKind = RootKind::certain("variable", "the variable");
/// The function of a finalizer.
pub const FINALIZER: RootKind = RootKind::certain("finalizer", "a finalizer");
/// The function of a cleanup.
pub const CLEANUP: RootKind = RootKind::certain("cleanup", "a cleanup");
/// A word of the stack of a goroutine: it may have been left there.
pub const STACK: RootKind = RootKind::guessed("goroutine", "the stack of goroutine");
/// A register of a thread.
pub const REGISTER: RootKind = RootKind::guessed("register", "a register");
/// Fields of `runtime.moduledata`, which lie alike in all versions: data, and zeroed data, with pointers.
const DATA: u64 = 208;
const ZEROED: u64 = 224;
/// From one mask to the next, and to its bytes.
const MASK: u64 = 16;
const MASK_BYTES: u64 = 8;
/// Modules, at most: the program and its plugins.
const MAX_MODULES: usize = 256;
/// Bytes of the data of one module that are looked at, and words of stacks that are told, at most.
const MAX_DATA: u64 = 1 << 32;
const MAX_WORDS: usize = 1 << 24;

/// Data of a module, with the mask of its pointers.
#[derive(Clone, Debug)]
pub struct MaskedData {
    range: AddrRange,
    /// A bit for each word.
    mask: Vec<u8>,
}

impl MaskedData {
    /// Whether the collector takes the word at an address for a pointer.
    pub fn has(&self, at: Addr) -> bool {
        let word = at.offset_from(self.range.start).map(|offset| offset / 8);
        let byte = word.and_then(|word| self.mask.get(usize::try_from(word / 8).ok()?));
        byte.zip(word).is_some_and(|(byte, word)| byte >> (word % 8) & 1 != 0)
    }

    /// Tells each word that the collector takes for a pointer, and what it holds.
    pub fn each_word(&self, space: &dyn AddressSpace, tell: &mut dyn FnMut(Addr, Addr)) {
        for (byte, bits) in (0_u64..).zip(&self.mask).filter(|(_, bits)| **bits != 0) {
            for bit in (0..8_u64).filter(|bit| bits >> bit & 1 != 0) {
                let offset = byte.saturating_mul(64).saturating_add(bit.saturating_mul(8));
                let at = self.range.start.saturating_add(offset);
                if !self.range.contains(at) {
                    return;
                }
                if let Ok(word) = space.read_addr(at)
                    && word.get() != 0
                {
                    tell(at, word);
                }
            }
        }
    }
}

impl Go {
    /// The data of all modules of the runtime.
    pub(super) fn masked_data(&self, host: &dyn Host) -> Vec<MaskedData> {
        let space = host.space();
        let Ok(heap) = self.heap(host) else { return Vec::new() };
        let first_mask = heap.layout.data_mask;
        let (mut found, mut next, mut modules) = (Vec::new(), Some(self.module), 0_usize);
        while let Some(module) = next.filter(|at| at.get() != 0 && modules < MAX_MODULES) {
            let pairs = [(DATA, first_mask), (ZEROED, first_mask.saturating_add(MASK))];
            found.extend(
                pairs.into_iter().filter_map(|(data, mask)| masked(space, module, data, mask)),
            );
            next = module
                .checked_add(self.layout.next_module)
                .and_then(|at| space.read_addr(at).ok())
                .filter(|next| *next != module);
            modules = modules.saturating_add(1);
        }
        found
    }

    /// Tells what keeps the objects that `nodes` has.
    pub(super) fn each_root(
        &self,
        host: &dyn Host,
        heap: &Heap,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        let space = host.space();
        let object = |word: Addr| {
            let (span, index) = heap.object_at(word)?;
            Some(span.slot_at(index)).filter(|at| nodes.number(*at).is_some())
        };
        for data in self.masked_data(host) {
            data.each_word(space, &mut |at, word| {
                if let Some(to) = object(word) {
                    let name = variable_name(host, at);
                    tell(Root { name, at: Some(at), ..Root::new(&VARIABLE, to) });
                }
            });
        }
        for span in &heap.spans {
            for special in heap.specials(space, self.layout.minor, span) {
                if let Some(to) = object(special.function) {
                    let kind = match special.kind {
                        SpecialKind::Finalizer => &FINALIZER,
                        SpecialKind::Cleanup => &CLEANUP,
                    };
                    tell(Root { at: Some(special.at), ..Root::new(kind, to) });
                }
            }
        }
        if watch(0, 0).is_break() {
            return Err(Stopped);
        }
        self.stack_words(host, &object, watch, tell)?;
        let is_object = |word: u64| object(Addr::new(word));
        native_words::registers(host, &is_object, &REGISTER).into_iter().for_each(tell);
        Ok(())
    }

    /// The words of the used parts of the stacks of goroutines that refer to objects.
    fn stack_words(
        &self,
        host: &dyn Host,
        object: &dyn Fn(Addr) -> Option<Addr>,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        let mut told = 0_usize;
        for goroutine in self.goroutines(host).iter() {
            let name: Arc<str> = goroutine.id.to_string().into();
            let running = goroutine.thread.and_then(|thread| host.stack_pointer(thread));
            let saved = [goroutine.system_call.and_then(|call| call.sp), goroutine.saved.sp];
            let within = |sp: &Addr| goroutine.stack.contains(*sp);
            let known = running.into_iter().chain(saved.into_iter().flatten()).find(within);
            let start = known.unwrap_or(goroutine.stack.start).get() & !7;
            let end = goroutine.stack.end.get().min(start.saturating_add(MAX_STACK));
            for at in (start..end).step_by(8).map(Addr::new) {
                let Ok(word) = host.space().read_addr(at) else { break };
                let Some(to) = object(word) else { continue };
                told = told.saturating_add(1);
                if told > MAX_WORDS {
                    return Ok(());
                }
                tell(Root { name: Some(name.clone()), at: Some(at), ..Root::new(&STACK, to) });
            }
            if watch(0, 0).is_break() {
                return Err(Stopped);
            }
        }
        Ok(())
    }
}

/// Bytes of the largest stack (`runtime.maxstacksize`).
const MAX_STACK: u64 = 1 << 30;

fn masked(space: &dyn AddressSpace, module: Addr, data: u64, mask: u64) -> Option<MaskedData> {
    let word = |offset: u64| space.read_addr(module.checked_add(offset)?).ok();
    let range = AddrRange::new(word(data)?, word(data.checked_add(8)?)?);
    let count = word(mask)?.get() & u64::from(u32::MAX);
    let bytes = word(mask.checked_add(MASK_BYTES)?)?;
    (count <= MAX_DATA / 8 && !range.is_empty()).then_some(())?;
    let mask = space.read_held(bytes, count.div_ceil(8));
    Some(MaskedData { range, mask })
}

fn variable_name(host: &dyn Host, at: Addr) -> Option<Arc<str>> {
    let module = host.module_at(at)?;
    let table = module.symbols().table();
    let symbol = table.find(module.svma(at)?)?;
    Some(String::from_utf8_lossy(symbol.name()).into())
}
