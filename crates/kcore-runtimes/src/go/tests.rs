//! A module of two functions, made in bytes, and a goroutine.

use kcore_mem::{Addr, Arch, CodeAddr};
use kcore_unwind::{Phase, RegisterId, Regs, RuleFrame, RuleStep, Tid};

use super::{Go, State};
use crate::{Runtime, TaskStart, anchor::made_host::MadeHost};

const TEXT: u64 = 0x40_0000;
const HEADER: u64 = 0x10_0000;
const NAMES: u64 = HEADER + 0x100;
const UNITS: u64 = HEADER + 0x200;
const FILES: u64 = HEADER + 0x300;
const VALUES: u64 = HEADER + 0x400;
const FUNCTIONS: u64 = HEADER + 0x500;
const CALLS: u64 = HEADER + 0x600;
const MODULE: u64 = 0x20_0000;
const SLICE: u64 = MODULE + 0x400;
const LIST: u64 = MODULE + 0x500;
const G: u64 = 0x30_0000;
const STACK: u64 = 0x50_0000;

/// `main.outer` from `TEXT` on, 0x40 bytes, and `main.leaf`, 0x20 bytes. From 0x10 to 0x20 `main.inlined[...]` is inlined
/// into the first one, by a call at 0x8.
fn module() -> MadeHost {
    let mut host = MadeHost::new(&[HEADER, MODULE, G, STACK, TEXT]);
    host.put(HEADER, &0xffff_fff1_u32.to_le_bytes());
    host.put(HEADER + 6, &[1, 8]);
    host.words(HEADER + 8, &[2]);
    host.put(NAMES, b"\0main.outer\0main.leaf\0main.inlined[go.shape.int]\0");
    host.put(UNITS, &[0, 0, 0, 0, 5, 0, 0, 0]);
    host.put(FILES, b"a.go\0b.go\0");
    // No stack for 4 bytes, then 16; line 10, 20 from 0x10 to 0x20, then 11; file 0; the inlined call; lines of the leaf.
    host.put(VALUES + 1, &[2, 4, 32, 0x3c, 0]);
    host.put(VALUES + 8, &[22, 0x10, 20, 0x10, 17, 0x20, 0]);
    host.put(VALUES + 16, &[2, 0x40, 0]);
    host.put(VALUES + 20, &[0, 0x10, 2, 0x10, 1, 0x20, 0]);
    host.put(VALUES + 28, &[62, 0x20, 0]);
    host.put(FUNCTIONS, &numbers(&[0, 0x28, 0x40, 0x70, 0x60, 0]));
    function(&mut host, FUNCTIONS + 0x28, &[0, 1, 0, 0, 1, 16, 8, 3, 0, 9], &[0, 0, 20], 0);
    // Its name is that behind the first one's.
    function(&mut host, FUNCTIONS + 0x70, &[0x40, 12, 0, 0, 0, 16, 28, 0, 1, 29], &[], 1);
    host.put(CALLS, &numbers(&[0, 22, 8, 19]));
    let slice = |len: u64, at: u64| [at, len, len];
    host.words(MODULE, &[HEADER]);
    for (index, (len, at)) in
        [(0x100, NAMES), (2, UNITS), (0x100, FILES), (0x100, VALUES), (0x100, FUNCTIONS)]
            .into_iter()
            .enumerate()
    {
        host.words(MODULE + 8 + 24 * index as u64, &slice(len, at));
    }
    host.words(MODULE + 128, &slice(3, FUNCTIONS));
    host.words(MODULE + 176, &[TEXT, TEXT + 0x60]);
    host.words(MODULE + 344, &[CALLS]);
    host
}

fn numbers(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Its ten numbers, its `pcdata`, and whether it begins a stack; of four kinds of `funcdata` the last one is there.
fn function(host: &mut MadeHost, at: u64, head: &[u32], pcdata: &[u32], flags: u8) {
    host.put(at, &numbers(head));
    host.put(at + 40, &[0, flags, 0, 4]);
    host.put(at + 44, &numbers(pcdata));
    let funcdata = at + 44 + 4 * pcdata.len() as u64;
    // In the second function it would lie behind the table.
    host.put(funcdata, &numbers(&[u32::MAX, u32::MAX, u32::MAX, 0]));
}

fn go(host: &MadeHost) -> Go {
    Go::with_roots(host, 27, Addr::new(MODULE), Some(Addr::new(SLICE))).expect("a module")
}

/// What runs at an offset: functions, files and lines, inlined ones marked.
fn at(offset: u64) -> Vec<String> {
    let host = module();
    let found = go(&host).locate(&host, CodeAddr::Pc(Addr::new(TEXT + offset)));
    let shown = |frame: crate::LanguageFrame| {
        let mark = if frame.inline { " inlined" } else { "" };
        let line = frame.line.map(|line| line.to_string()).unwrap_or_default();
        let (function, file) = (frame.function.unwrap_or_default(), frame.file.unwrap_or_default());
        format!("{function} {file}:{line}{mark}")
    };
    found.into_iter().flat_map(|(_, frames)| frames).map(shown).collect()
}

#[test]
fn functions_have_names_and_lines() {
    assert_eq!(at(0), ["main.outer a.go:10"]);
    assert_eq!(at(0x20), ["main.outer a.go:11"]);
    assert_eq!(at(0x40), ["main.leaf b.go:30"]);
    assert!(at(0x60).is_empty(), "behind the code");
}

#[test]
fn inlined_calls_come_first() {
    assert_eq!(at(0x10), ["main.inlined[...] a.go:20 inlined", "main.outer a.go:10"]);
}

fn step(go: &Go, host: &MadeHost, pc: u64, sp: u64) -> Option<RuleStep> {
    let mut regs = Regs::new(Addr::new(pc));
    regs.set(RegisterId(7), Some(sp));
    let frame =
        RuleFrame { thread: Some(Tid::new(1)), pc: CodeAddr::Return(Addr::new(pc)), regs: &regs };
    let mut caller = regs;
    let step = go.step(host, Phase::BeforeCfi, &frame, &mut caller);
    let called = matches!(step, Some(RuleStep::Caller { .. }));
    assert!(!called || caller.pc() == Addr::new(TEXT + 0x44), "{caller:?}");
    step
}

#[test]
fn a_function_is_left_by_its_table() {
    let mut host = module();
    host.words(STACK + 0x110, &[TEXT + 0x44]);
    let go = go(&host);
    let left = step(&go, &host, TEXT + 0x21, STACK + 0x100);
    let cfa = Addr::new(STACK + 0x118);
    assert!(matches!(left, Some(RuleStep::Caller { cfa: at, interrupted: false }) if at == cfa));
    assert!(matches!(step(&go, &host, TEXT + 0x45, STACK), Some(RuleStep::Outermost { .. })));
    assert!(step(&go, &host, TEXT + 0x80, STACK).is_none(), "not its code");
}

#[test]
fn on_a_machine_with_a_link_register_the_frame_begins_with_the_return_address() {
    let mut host = module();
    host.words(STACK + 0xf8, &[STACK + 0x200, TEXT + 0x44]);
    let go = go(&host).with_machine(Arch::Aarch64);
    let step = |pc: CodeAddr| {
        let mut regs = Regs::new(pc.addr());
        for (register, value) in [(31, STACK + 0x100), (30, TEXT + 0x30), (29, STACK + 0xf8)] {
            regs.set(RegisterId(register), Some(value));
        }
        let frame = RuleFrame { thread: Some(Tid::new(1)), pc, regs: &regs };
        let mut caller = regs;
        go.step(&host, Phase::BeforeCfi, &frame, &mut caller);
        let of = |register| caller.get(RegisterId(register));
        (caller.pc().get(), of(31), of(29), of(30))
    };
    let returned = step(CodeAddr::Return(Addr::new(TEXT + 0x21)));
    assert_eq!(returned, (TEXT + 0x44, Some(STACK + 0x110), Some(STACK + 0x200), None));
    // Before it has a frame, the registers say all.
    let begun = step(CodeAddr::Pc(Addr::new(TEXT)));
    assert_eq!(begun, (TEXT + 0x30, Some(STACK + 0x100), Some(STACK + 0xf8), None));
}

/// Hurts the module; gives why it is refused.
fn refused(hurt: impl FnOnce(&mut MadeHost)) -> String {
    let mut host = module();
    hurt(&mut host);
    let go = Go::with_roots(&host, 27, Addr::new(MODULE), None);
    go.err().expect("it is refused")
}

#[test]
fn what_does_not_hold_together_is_refused_in_words() {
    let magic = refused(|host| host.put(HEADER, &[0xfa]));
    assert_eq!(magic, "tables of functions that begin with 0xfffffffa are not known");
    let count = refused(|host| host.words(HEADER + 8, &[3]));
    assert_eq!(count, "its index does not fit its code");
    let pointers = refused(|host| host.put(HEADER + 7, &[4]));
    assert_eq!(pointers, "its tables are for pointers of 4 bytes, in steps of 1");
    let large = refused(|host| host.words(MODULE + 16, &[u64::MAX]));
    assert_eq!(large, format!("a table of it has {} entries", u64::MAX));
    let version = Go::with_roots(&module(), 28, Addr::new(MODULE), None);
    assert_eq!(version.err().as_deref(), Some("the layouts of Go 1.28 are not known"));
}

/// A list of a goroutine that waits, one that has ended, and an address where none is.
fn with_goroutines() -> MadeHost {
    let mut host = module();
    host.words(SLICE, &[LIST, 3, 4]);
    host.words(LIST, &[G, G + 0x400, G + 0x800]);
    host.words(G, &[STACK, STACK + 0x1000]);
    host.words(G + 56, &[STACK + 0x100, TEXT + 0x21, G]);
    // `chan receive`, since 1.26.
    host.words(G + 144, &[4, 17, 0, 0, 19]);
    host.words(G + 280, &[1, TEXT + 0x30, 0, TEXT + 0x40]);
    host.words(G + 0x400 + 72, &[G + 0x400]);
    host.words(G + 0x400 + 144, &[6]);
    host
}

#[test]
fn goroutines_are_those_that_have_not_ended() {
    let host = with_goroutines();
    let go = go(&host);
    let known = go.goroutines(&host);
    assert_eq!((known.len(), known.damaged()), (1, 1));
    let goroutine = known.iter().next().expect("a goroutine");
    assert_eq!((goroutine.id, goroutine.state), (17, State::Waiting));
    assert_eq!((goroutine.reason, goroutine.parent), (Some("chan receive"), Some(1)));
    let tasks = go.tasks(&host);
    assert!(matches!(
        &tasks[0].start,
        TaskStart::Suspended { pc: CodeAddr::Return(pc), .. } if *pc == Addr::new(TEXT + 0x21)
    ));
    assert_eq!(tasks[0].waits_on.as_deref(), Some("chan receive"));
}

#[test]
fn a_list_that_is_cut_says_so() {
    let mut host = with_goroutines();
    host.words(SLICE, &[LIST + 0x1000 - 8, 0x400, 0x400]);
    let cut = go(&host);
    let known = cut.goroutines(&host);
    assert!(known.damaged() > 0 && known.why().is_some());
    host.words(SLICE, &[LIST, u64::MAX, u64::MAX]);
    let endless = go(&host);
    let why = endless.goroutines(&host).why();
    assert_eq!(why, Some("runtime.allgs has 18446744073709551615 goroutines"));
}

const TYPES: u64 = MODULE + 0x600;
const CHANNEL: u64 = G + 0x900;
const RECORD: u64 = CHANNEL + 0x100;
const BUFFER: u64 = CHANNEL + 0x200;

/// The goroutine waits to send on a channel of `int`, which has room for two.
fn with_channel() -> MadeHost {
    let mut host = with_goroutines();
    host.words(MODULE + 296, &[TYPES, 0, TYPES + 0x100]);
    host.words(TYPES + 0x10, &[8]);
    host.put(TYPES + 0x10 + 23, &[2]);
    host.put(TYPES + 0x10 + 40, &[0x80]);
    host.put(TYPES + 0x80, b"\0\x03int");
    host.words(CHANNEL, &[2, 2, BUFFER, 8]);
    host.words(CHANNEL + 40, &[TYPES + 0x10, 0, 1, 0, 0, RECORD, RECORD]);
    host.words(BUFFER, &[7, 9]);
    host.words(RECORD, &[G]);
    host.words(RECORD + 88, &[CHANNEL]);
    host.words(G + 320, &[RECORD]);
    host
}

#[test]
fn a_channel_has_its_values_in_order_and_who_waits() {
    let host = with_channel();
    let channel = go(&host).channel(&host, Addr::new(CHANNEL)).expect("a channel");
    let values: Vec<_> = channel.values.iter().filter_map(|(_, value)| value.as_deref()).collect();
    assert_eq!((&*channel.element, values), ("int", vec!["9", "7"]));
    assert_eq!((channel.senders, channel.receivers), (vec![17], vec![]));
    assert_eq!((channel.closed, channel.doubt), (false, None));
}

#[test]
fn a_queue_that_bites_its_tail_ends_and_is_doubted() {
    let mut host = with_channel();
    host.words(RECORD + 8, &[RECORD]);
    let channel = go(&host).channel(&host, Addr::new(CHANNEL)).expect("a channel");
    assert!(channel.doubt.is_some() && channel.senders.len() < 100, "{channel:?}");
    host.words(RECORD, &[0x1234]);
    let channel = go(&host).channel(&host, Addr::new(CHANNEL)).expect("a channel");
    assert!(channel.doubt.is_some() && channel.senders.is_empty(), "{channel:?}");
}

#[test]
fn what_does_not_hold_together_is_no_channel() {
    let refused = |hurt: &dyn Fn(&mut MadeHost)| {
        let mut host = with_channel();
        hurt(&mut host);
        go(&host).channel(&host, Addr::new(CHANNEL)).is_none()
    };
    assert!(refused(&|host| host.words(CHANNEL, &[3])), "more than it has room for");
    assert!(refused(&|host| host.words(CHANNEL + 8, &[1 << 50])), "too much room");
    assert!(refused(&|host| host.words(CHANNEL + 24, &[4])), "elements of another size");
    assert!(refused(&|host| host.words(CHANNEL + 40, &[TYPES + 0x200])), "no type");
}

#[test]
fn a_semaphore_is_found_by_the_record_on_the_stack() {
    let mut host = with_channel();
    // `sync.Mutex.Lock`, since 1.26.
    host.words(G + 144, &[4, 17, 0, 0, 22]);
    host.words(STACK + 0x180, &[RECORD]);
    host.words(RECORD + 24, &[0x7004]);
    host.words(RECORD + 88, &[0]);
    let go_of = |host: &MadeHost| {
        let go = go(host);
        let goroutine = go.goroutines(host).iter().next().expect("a goroutine");
        go.semaphore(host, &goroutine)
    };
    let found = go_of(&host).expect("a semaphore");
    assert_eq!((found.kind, found.at), ("sync.Mutex", Addr::new(0x7000)));
    host.words(RECORD, &[G + 8]);
    assert_eq!(go_of(&host), None, "a record of another goroutine");
}
