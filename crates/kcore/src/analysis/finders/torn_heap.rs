//! A heap that was torn before the allocator, or who used its memory, noticed.

use crate::{
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
    last_words::LastWords,
    native_heap::{Block, BlockState, Torn, TornKind},
};

/// Functions of allocators, in which a torn heap is noticed, or kills.
const ALLOCATING: [&str; 16] = [
    "malloc_printerr",
    "_int_malloc",
    "_int_free",
    "_int_free_merge_chunk",
    "_int_realloc",
    "unlink_chunk",
    "malloc_consolidate",
    "sysmalloc",
    "munmap_chunk",
    "malloc",
    "calloc",
    "realloc",
    "free",
    "__libc_malloc",
    "__libc_calloc",
    "__libc_free",
];

pub const FINDER: Finder = Finder {
    name: "torn-heap",
    needs: "the memory of the heap, if the process died in its allocator",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if !is_in_allocator(crash) {
        return Ok(None);
    }
    let heaps = crash.core().heaps();
    let Some(torn) = heaps.first_torn() else { return Ok(None) };
    let sentence = format!("the heap is torn at {:x}: {}{}", torn.at, torn.why, writer(&torn));
    let finding = Finding::likely(sentence);
    let finding = match heaps.text_over(torn.at) {
        Some(text) => {
            let words = format!("text lies over the torn word: {}", text.text);
            finding.with(words, EvidenceSource::Memory(torn.at))
        }
        None => finding.with("the word is impossible", EvidenceSource::Memory(torn.at)),
    };
    let said =
        crash.core().crash().last_words().iter().any(|it| matches!(it, LastWords::AbortMessage(_)));
    let noticed =
        if said { "the allocator noticed it" } else { "the thread died in the allocator" };
    let finding = finding.with(noticed, EvidenceSource::Stack(crash.tid()));
    Ok(Some(finding.then_ask("what else is torn", EvidenceSource::Heap)))
}

/// Whether the thread died in a function of an allocator.
pub fn is_in_allocator(crash: &Crash<'_>) -> bool {
    crash.last_functions().iter().any(|function| ALLOCATING.contains(&&**function))
}

/// Whether a torn link lies within a block that the program gave back.
fn is_in_freed(torn: &Torn, block: &Block) -> bool {
    matches!(torn.kind, TornKind::Link | TornKind::UseAfterFree)
        && matches!(block.state, BlockState::Free | BlockState::Cached)
        && block.range().contains(torn.at)
}

/// Who may have written over a torn word.
fn writer(torn: &Torn) -> String {
    let at = |block: &Block| format!("block of {} bytes at {:x}", block.usable, block.at);
    match (&torn.before, &torn.block) {
        (None, Some(block)) if is_in_freed(torn, block) => {
            format!("; it lies in the free {}, which was written to after it was freed", at(block))
        }
        (Some(before), _) if before.state == BlockState::Used => {
            format!(
                "; before it lies the {}, beyond whose end something may have written",
                at(before)
            )
        }
        (_, Some(block)) => format!("; it is of the {}", at(block)),
        // Whether that is in use stands in the torn word itself.
        (Some(before), None) if torn.kind != TornKind::Link => {
            format!(
                "; before it lies the {}, in use or free, beyond whose end something may have written",
                at(before)
            )
        }
        (Some(before), None) => format!("; before it lies the free {}", at(before)),
        (None, None) => String::new(),
    }
}
