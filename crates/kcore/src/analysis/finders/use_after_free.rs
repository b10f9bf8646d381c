//! A pointer that was read in a block after the block was freed: what the allocator keeps there.
//!
//! glibc keeps two words in a block of a thread's cache (glibc 2.36 `malloc/malloc.c`, `tcache_put`): the link to the next
//! one, which is mangled by its own address (`PROTECT_PTR`, since 2.32), and a random key (since 2.34). Blocks of fast bins
//! have such a link too.

use kcore_mem::{AccessKind, Addr, JumpSource, MemoryOperand};

use super::{bad_pointer::bad_operand, torn_heap::is_in_allocator};
use crate::{
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
    native_heap::OwnedBlock,
};

/// Bytes behind what a register points to that are looked through for the pointer.
const REACH: u64 = 1024;
const WORD: u64 = 8;
const PAGE: u64 = 4096;
/// Bits by which the address of a link is shifted before it is mixed into the link.
const SHIFT: u32 = 12;
/// What the addresses of links are multiples of.
const ALIGNMENT: u64 = 16;
/// The cache of a thread, as the heap names its lists.
const THREAD_CACHE: &str = "tcache";

pub const FINDER: Finder = Finder {
    name: "use-after-free",
    needs: "the registers at a memory fault, and the memory of the heap",
    scope: FinderScope::Crash(find),
};

/// A pointer that an allocator wrote into a freed block.
#[derive(Debug)]
pub struct FreedUse {
    value: u64,
    /// The operand that it is the base of; `None` of the target of a jump.
    operand: Option<MemoryOperand>,
    word: AllocatorWord,
    allocator: &'static str,
    /// The block, where registers point into one alone that holds the word: blocks in the caches of all threads have the
    /// same mark, and those at the ends of lists may have the same link.
    block: Option<HoldingBlock>,
}

/// A freed block that a register points into, and the word in it.
#[derive(Clone, Debug)]
struct HoldingBlock {
    register: &'static str,
    at: Addr,
    owned: OwnedBlock,
    word: AllocatorWord,
}

/// What an allocator keeps in a freed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AllocatorWord {
    Link,
    Key,
}

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    Ok(crash.freed_use().map(|freed| finding(crash, freed)))
}

fn finding(crash: &Crash<'_>, freed: &FreedUse) -> Finding {
    let words = freed.operand.as_ref().map(|operand| crash.pointer_words(operand));
    let words = words.unwrap_or_default();
    let sentence = sentence(crash, freed, words.name.as_deref().unwrap_or("the pointer"));
    let finding = match freed.word {
        AllocatorWord::Key => Finding::certain(sentence),
        // A block that is in use again but was not written to still holds an old link.
        AllocatorWord::Link => Finding::likely(sentence),
    };
    let finding = match &freed.block {
        Some(block) => finding.with(in_block(block), EvidenceSource::Content(block.at)),
        None => finding,
    };
    let stack = EvidenceSource::Stack(crash.tid());
    let next = match &freed.block {
        Some(_) => "who kept a pointer to the block",
        None => "which object was used",
    };
    words.shown_in(finding, crash).then_ask(next, stack)
}

/// Which freed block it is.
fn in_block(holding: &HoldingBlock) -> String {
    let block = &holding.owned.block;
    format!(
        "{} points into the freed block of {} bytes at {}, which holds it at {}",
        holding.register, block.usable, block.at, holding.at
    )
}

fn sentence(crash: &Crash<'_>, freed: &FreedUse, pointer: &str) -> String {
    let does = match freed.operand.as_ref().map(|operand| operand.access.kind) {
        Some(AccessKind::Read) => "read through",
        Some(AccessKind::Write | AccessKind::ReadWrite) => "wrote through",
        _ => "jumped by",
    };
    let what = match freed.word {
        AllocatorWord::Link => "its link to the next free block",
        AllocatorWord::Key => "its mark of a freed block",
    };
    let block = freed.block.as_ref().map(|holding| &holding.owned.block);
    let block =
        block.map(|block| format!(" into the block of {} bytes at {}", block.usable, block.at));
    format!(
        "memory was used after it was freed: the process {does} {pointer} {:#x}, which {} wrote as {what}{}{}",
        freed.value,
        freed.allocator,
        block.unwrap_or_default(),
        crash.in_or_called_from()
    )
}

/// The pointer by which the process went wrong, if it was read in a freed block.
pub fn freed_use(crash: &Crash<'_>) -> Option<FreedUse> {
    if !crash.is_signal("SIGSEGV") || is_in_allocator(crash) {
        return None;
    }
    let (value, operand) = followed(crash)?;
    let (owned, word) =
        holders(crash, value).find_map(|at| written_by_allocator(crash, at, value))?;
    let allocator = owned.allocator;
    Some(FreedUse { value, operand, word, allocator, block: the_block(crash, value, word) })
}

/// The one freed block that registers point into and that holds a value as a word of its allocator; `None` of several.
fn the_block(crash: &Crash<'_>, value: u64, word: AllocatorWord) -> Option<HoldingBlock> {
    let core = crash.core();
    let pointed = crash.registers().iter().filter_map(|register| {
        let owned = core.heaps().block_at(Addr::new(register.value))?;
        let words = [owned.block.at, owned.block.at.checked_add(WORD)?];
        words.into_iter().find_map(|at| {
            (core.space().read_word(at) == Ok(value)).then_some(())?;
            let (owned, word) = written_by_allocator(crash, at, value)?;
            Some(HoldingBlock { register: register.name, at, owned, word })
        })
    });
    let mut all: Vec<HoldingBlock> = pointed.filter(|holding| holding.word == word).collect();
    all.sort_unstable_by_key(|holding| holding.owned.block.at);
    all.dedup_by_key(|holding| holding.owned.block.at);
    all.pop().filter(|_| all.is_empty())
}

/// The pointer that was followed to no memory, and the operand that it is the base of.
fn followed(crash: &Crash<'_>) -> Option<(u64, Option<MemoryOperand>)> {
    if crash.is_jump() {
        return Some((crash.pc()?.get(), None));
    }
    if let Some(operand) = bad_operand(crash) {
        return Some((operand.base.as_ref()?.value, Some(operand)));
    }
    match crash.jump_source().filter(|_| crash.has_no_address())? {
        JumpSource::Register(register) => Some((register.value, None)),
        JumpSource::Memory(operand) => {
            Some((crash.core().space().read_word(operand.access.addr).ok()?, None))
        }
    }
}

/// The words that hold a value: those behind what registers point to, and those of the page that a link without a next
/// block tells.
fn holders<'a>(crash: &'a Crash<'_>, value: u64) -> impl Iterator<Item = Addr> + 'a {
    let core = crash.core();
    let pointers = crash.registers().iter().map(|register| register.value & !(WORD - 1));
    let behind = pointers.filter(move |pointer| *pointer != value).map(|start| (start, REACH));
    let page = value.checked_mul(PAGE).map(|start| (start, PAGE));
    let pieces = behind.chain(page).filter(move |(start, _)| {
        core.modules().at(Addr::new(*start)).is_none()
            && core.mapping_at(Addr::new(*start)).is_some()
    });
    let words = pieces.flat_map(|(start, len)| {
        (0..len / WORD).map(move |index| Addr::new(start.wrapping_add(index.wrapping_mul(WORD))))
    });
    words.filter(move |at| core.space().read_word(*at) == Ok(value))
}

/// The freed block of a word that its allocator wrote, and as what.
fn written_by_allocator(
    crash: &Crash<'_>,
    at: Addr,
    value: u64,
) -> Option<(OwnedBlock, AllocatorWord)> {
    let owned = crash.core().heaps().block_at(at).filter(OwnedBlock::is_given_back)?;
    let list = owned.list.as_ref()?;
    let word = match at.offset_from(owned.block.at)? {
        0 if is_link(crash, at, value) => AllocatorWord::Link,
        WORD if list.name.starts_with(THREAD_CACHE) => AllocatorWord::Key,
        _ => return None,
    };
    Some((owned, word))
}

/// Whether a word is a mangled link: with its own address mixed out, it is nothing or leads to memory.
fn is_link(crash: &Crash<'_>, at: Addr, value: u64) -> bool {
    let next = value ^ (at.get() >> SHIFT);
    let is_mangled = next != value && next.is_multiple_of(ALIGNMENT);
    is_mangled && (next == 0 || crash.core().mapping_at(Addr::new(next)).is_some())
}
