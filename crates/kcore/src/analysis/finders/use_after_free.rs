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
/// Calls of the one that went wrong that may have had the block as an argument or a variable.
const CALLERS: usize = 4;
/// Bytes at the start of a block that the allocator writes.
const ALLOCATOR_WORDS: u64 = 16;
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
    followed: Followed,
    word: AllocatorWord,
    allocator: &'static str,
    /// The block, where code or a register tells which one it is: blocks in the caches of all threads have the same mark,
    /// and those at the ends of lists may have the same link.
    block: Option<HoldingBlock>,
}

/// A pointer that was followed to no memory.
#[derive(Debug)]
struct Followed {
    value: u64,
    /// The operand that it is the base of; `None` of the target of a jump.
    operand: Option<MemoryOperand>,
    /// The word from which it was loaded, if the code tells it.
    source: Option<Addr>,
}

/// A freed block with a word that its allocator wrote there.
#[derive(Clone, Debug)]
struct HoldingBlock {
    holder: BlockHolder,
    at: Addr,
    owned: OwnedBlock,
    word: AllocatorWord,
}

/// What tells which block it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockHolder {
    /// The pointer was loaded from there.
    Code,
    /// A register points into that one alone. It may have been left there by a call.
    Register(&'static str),
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
    let words = freed.followed.operand.as_ref().map(|operand| crash.pointer_words(operand));
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
    let next = match freed.known_block() {
        Some(_) => "who kept a pointer to the block",
        None => "which object was used",
    };
    words.shown_in(finding, crash).then_ask(next, stack)
}

impl FreedUse {
    /// The block that was used, if that is certain.
    fn known_block(&self) -> Option<&HoldingBlock> {
        self.block.as_ref().filter(|holding| holding.holder == BlockHolder::Code)
    }
}

/// Which freed block it is.
fn in_block(holding: &HoldingBlock) -> String {
    let block = &holding.owned.block;
    match holding.holder {
        BlockHolder::Code => format!(
            "it was loaded at {}, in the freed block of {} bytes at {}",
            holding.at, block.usable, block.at
        ),
        BlockHolder::Register(register) => format!(
            "{register} points into a freed block of {} bytes at {} that holds it at {}, and need not be the one that was used",
            block.usable, block.at, holding.at
        ),
    }
}

fn sentence(crash: &Crash<'_>, freed: &FreedUse, pointer: &str) -> String {
    let does = match freed.followed.operand.as_ref().map(|operand| operand.access.kind) {
        Some(AccessKind::Read) => "read through",
        Some(AccessKind::Write | AccessKind::ReadWrite) => "wrote through",
        _ => "jumped by",
    };
    let what = match freed.word {
        AllocatorWord::Link => "its link to the next free block",
        AllocatorWord::Key => "its mark of a freed block",
    };
    let block = freed.known_block().map(|holding| &holding.owned.block);
    let block =
        block.map(|block| format!(" into the block of {} bytes at {}", block.usable, block.at));
    format!(
        "memory was used after it was freed: the process {does} {pointer} {:#x}, which {} wrote as {what}{}{}",
        freed.followed.value,
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
    // What an allocator writes is no small number, and of zeros memory is full.
    let followed = followed(crash).filter(|followed| followed.value >= PAGE)?;
    let loaded = loaded_block(crash, &followed);
    let (allocator, word) = match &loaded {
        Some(holding) => (holding.owned.allocator, holding.word),
        None => holders(crash, followed.value)
            .find_map(|at| written_by_allocator(crash, at, followed.value))
            .map(|(owned, word)| (owned.allocator, word))?,
    };
    let block = loaded.or_else(|| pointed_block(crash, followed.value, word));
    Some(FreedUse { followed, word, allocator, block })
}

/// The freed block from which a pointer was loaded, by the code, or by the debug information of what it is called.
fn loaded_block(crash: &Crash<'_>, followed: &Followed) -> Option<HoldingBlock> {
    let named = || crash.pointer_words(followed.operand.as_ref()?).at;
    let at = followed.source.or_else(named)?;
    (crash.core().space().read_word(at) == Ok(followed.value)).then_some(())?;
    let (owned, word) = written_by_allocator(crash, at, followed.value)?;
    Some(HoldingBlock { holder: BlockHolder::Code, at, owned, word })
}

/// The one freed block that registers point into and that holds a value as a word of its allocator; `None` of several.
fn pointed_block(crash: &Crash<'_>, value: u64, word: AllocatorWord) -> Option<HoldingBlock> {
    let core = crash.core();
    let pointed = crash.registers().iter().filter_map(|register| {
        let owned = core.heaps().block_at(Addr::new(register.value))?;
        let words = [owned.block.at, owned.block.at.checked_add(WORD)?];
        words.into_iter().find_map(|at| {
            (core.space().read_word(at) == Ok(value)).then_some(())?;
            let (owned, word) = written_by_allocator(crash, at, value)?;
            let holder = BlockHolder::Register(register.name);
            Some(HoldingBlock { holder, at, owned, word })
        })
    });
    let mut all: Vec<HoldingBlock> = pointed.filter(|holding| holding.word == word).collect();
    all.sort_unstable_by_key(|holding| holding.owned.block.at);
    all.dedup_by_key(|holding| holding.owned.block.at);
    all.pop().filter(|_| all.is_empty())
}

/// The pointer by which the process went to an address that has no memory.
fn followed(crash: &Crash<'_>) -> Option<Followed> {
    if crash.is_jump() {
        return Some(Followed { value: crash.pc()?.get(), operand: None, source: None });
    }
    if let Some(operand) = bad_operand(crash) {
        let base = operand.base.as_ref()?;
        let (value, source) = (base.value, crash.source_of(&base.name));
        return Some(Followed { value, operand: Some(operand), source });
    }
    let (value, source) = match crash.jump_source().filter(|_| crash.has_no_address())? {
        JumpSource::Register(register) => (register.value, crash.source_of(&register.name)),
        JumpSource::Memory(operand) => {
            let at = operand.access.addr;
            (crash.core().space().read_word(at).ok()?, Some(at))
        }
    };
    Some(Followed { value, operand: None, source })
}

/// The words that hold a value: those behind what registers point to, those of the page that a link without a next block
/// tells, and the first ones of what callers point to.
fn holders<'a>(crash: &'a Crash<'_>, value: u64) -> impl Iterator<Item = Addr> + 'a {
    let core = crash.core();
    let pointers = crash.registers().iter().map(|register| register.value & !(WORD - 1));
    let behind = pointers.filter(move |pointer| *pointer != value).map(|start| (start, REACH));
    let page = value.checked_mul(PAGE).map(|start| (start, PAGE));
    let of_callers = crash.pointers_of_callers(CALLERS).into_iter();
    let of_callers = of_callers.filter(|pointer| pointer.is_multiple_of(WORD));
    let of_callers = of_callers.map(|start| (start, ALLOCATOR_WORDS));
    let pieces = behind.chain(page).chain(of_callers).filter(move |(start, _)| {
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
