//! The heap in memory that is made here.

use kcore_mem::{Addr, AddrRange, Arch};

use super::{
    layout::{HeapLayout, Masks},
    pointers::PointerWords,
    span::{FoundSpan, Span},
    *,
};
use crate::anchor::made_host::MadeHost;

const SPAN: u64 = 0x1000;
const BITS: u64 = 0x2000_0000;
const PAGES: u64 = 0x10_0000;
/// Parts of a made process that hold a page of the heap.
const PARTS: [u64; 3] = [SPAN, BITS, PAGES];
const GENERATION: u32 = 8;

/// A span of Go 1.27 of one page, with slots of 48 bytes that hold pointers.
fn host(swept: u32, state: u8) -> MadeHost {
    let mut host = MadeHost::new(&PARTS);
    host.words(SPAN + 24, &[PAGES, 1]);
    host.put(SPAN + 48, &[2, 0]);
    host.put(SPAN + 50, &160_u16.to_le_bytes());
    host.words(SPAN + 64, &[BITS, BITS + 0x100]);
    host.put(SPAN + 88, &swept.to_le_bytes());
    host.put(SPAN + 98, &[5 << 1, state]);
    host.words(SPAN + 104, &[48]);
    host
}

fn load(host: &MadeHost) -> FoundSpan {
    Span::load(host.space(), &HeapLayout::of(27), GENERATION, Addr::new(SPAN))
}

fn span(host: &MadeHost) -> Span {
    match load(host) {
        FoundSpan::Objects(span) => span,
        _ => panic!("a span with objects"),
    }
}

fn heap(span: Span, masks: Masks) -> Heap {
    let layout = HeapLayout { masks, ..HeapLayout::of(27) };
    Heap {
        layout,
        abi: Abi::of(Arch::X86_64).expect("one that is known"),
        at: Addr::new(SPAN),
        generation: GENERATION,
        spans: vec![span],
        manual: Vec::new(),
        used: vec![u64::MAX; 3],
        damaged: 0,
    }
}

#[test]
fn free_pages_of_an_arena_are_no_stacks() {
    let mut heap = heap(span(&host(GENERATION, 1)), Masks::Span);
    heap.manual = vec![AddrRange::with_len(Addr::new(PAGES + 0x8000), 0x4000)];
    let has = |offset: u64| heap.has_beside_stacks(Addr::new(PAGES + offset));
    assert_eq!((has(0), has(0x7fff), has(0xc000)), (true, true, true));
    assert_eq!((has(0x8000), has(0xbfff), has(ARENA_SIZE)), (false, false, false));
}

#[test]
fn a_span_has_slots() {
    let span = span(&host(GENERATION, 1));
    assert_eq!((span.slot, span.count, span.class), (48, 160, 5));
    assert!(!span.is_plain && !span.is_unswept);
    assert_eq!(span.index_of(Addr::new(PAGES + 49)), Some(1));
    assert_eq!(span.index_of(Addr::new(PAGES + 8000)), None, "behind the last one");
    assert_eq!(span.slot_at(2), Addr::new(PAGES + 96));
}

#[test]
fn stacks_and_free_spans_have_no_objects() {
    let pages = AddrRange::with_len(Addr::new(PAGES), 8192);
    assert!(matches!(load(&host(GENERATION, 2)), FoundSpan::Manual(it) if it == pages));
    assert!(matches!(load(&host(GENERATION, 0)), FoundSpan::Free));
    assert!(matches!(load(&host(GENERATION, 3)), FoundSpan::Damaged));
}

#[test]
fn what_does_not_hold_together_is_damage() {
    let damaged = |at: u64, bytes: &[u8]| {
        let mut host = host(GENERATION, 1);
        host.put(at, bytes);
        matches!(load(&host), FoundSpan::Damaged)
    };
    assert!(damaged(SPAN + 24, &[1]), "no page");
    assert!(damaged(SPAN + 32, &[0xff; 8]), "too many pages");
    assert!(damaged(SPAN + 50, &[0xff, 0xff]), "more slots than fit");
    assert!(damaged(SPAN + 104, &[64]), "not the size of the class");
    assert!(!damaged(SPAN + 200, &[1]), "nothing is read behind it");
    let elsewhere = Span::load(
        host(GENERATION, 1).space(),
        &HeapLayout::of(27),
        GENERATION,
        Addr::new(u64::MAX - 7),
    );
    assert!(matches!(elsewhere, FoundSpan::Damaged), "not in memory");
}

#[test]
fn slots_before_the_next_free_one_are_used() {
    let mut host = host(GENERATION, 1);
    host.put(BITS, &[0b1000_0000]);
    let used = span(&host).used(host.space(), &HeapLayout::of(27)).unwrap();
    assert_eq!((used[0], used.len()), (0b1000_0011, 20));
}

#[test]
fn what_was_not_reached_is_no_object_before_it_is_swept() {
    let mut host = host(GENERATION - 2, 1);
    host.put(BITS, &[0b1111_1100]);
    host.put(BITS + 0x100, &[0b0000_0101]);
    host.put(PAGES + 8192 - 128 + 64, &[0b1000_0000]);
    let span = span(&host);
    assert!(span.is_unswept);
    let used = span.used(host.space(), &HeapLayout::of(27)).unwrap();
    assert_eq!(used[0], 0b1000_0101, "marks lie in two places since 1.26");
    let used = span.used(host.space(), &HeapLayout::of(25)).unwrap();
    assert_eq!(used[0], 0b0000_0101);
}

#[test]
fn masks_lie_at_the_end_of_spans() {
    let mut host = host(GENERATION, 1);
    let span = span(&host);
    // Slot 3 has words 18 to 23: two bits of one byte and four of the next.
    let bits = (0b10_0101_u64 << 18).to_le_bytes();
    host.put(PAGES + 8192 - 128, &bits);
    host.put(PAGES + 8192 - 128 - 128, &bits);
    for masks in [Masks::Span, Masks::SpanWithMarks] {
        let heap = heap(span, masks);
        let known = heap.known(host.space(), &span, 3);
        assert_eq!(known, PointerWords::Mask(0b10_0101));
        let at = span.slot_at(3);
        let words: Vec<u64> = (0..6).filter(|index| known.has(host.space(), at, *index)).collect();
        assert_eq!(words, [0, 2, 5]);
        assert_eq!(heap.known(host.space(), &span, 4), PointerWords::Mask(0));
    }
}

#[test]
fn masks_lie_in_tables_of_arenas() {
    let host = host(GENERATION, 1);
    let (space, at) = (host.space(), Addr::new(PAGES));
    let mut host = MadeHost::new(&PARTS);
    // Word 0x20000 of the arena: its pair is in byte 0x8000, which is not there; that of the first words is.
    host.put(BITS, &[0b0111_0101, 0b0000_0001]);
    let table = PointerWords::Pairs(Addr::new(BITS));
    let first = Addr::new(0x4000_0000);
    let words: Vec<u64> = (0..8).filter(|index| table.has(host.space(), first, *index)).collect();
    assert_eq!(words, [0, 2, 4], "by the lower half of each byte");
    let ends: Vec<bool> =
        (0..5).map(|index| table.ends_before(host.space(), first, index)).collect();
    assert_eq!(ends, [false, false, false, true, true], "by the upper half");
    assert!(!table.has(space, at, 0), "what is not there is no pointer");
}

#[test]
fn overlapping_spans_are_damage() {
    let span = span(&host(GENERATION, 1));
    let mut heap = heap(span, Masks::Span);
    let next = Span { pages: AddrRange::with_len(Addr::new(PAGES + 8192), 8192), ..span };
    heap.spans = vec![next, span, span];
    heap.order(1 << 20);
    assert_eq!((heap.spans.len(), heap.damaged), (2, 1));
    assert_eq!((heap.spans[1].first, heap.slot_count()), (160, 320));
    heap.order(8192);
    assert_eq!((heap.spans.len(), heap.damaged), (1, 2), "more than memory holds");
}
