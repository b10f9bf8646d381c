//! HotSpot's anchor on a made process: a code cache that holds a few methods, and tables that describe it in the format
//! of `libjvm.so`.

use kcore_mem::CodeAddr;

use super::*;
use crate::{
    anchor::made_host::{MODULE, MadeHost, told},
    java::vm_structs::FieldPlace,
};

const LIBRARY: u64 = MODULE.start.get();
const TABLES: u64 = 0x60_0000;
const NAMES: u64 = TABLES + 0x2000;
const OBJECTS: u64 = 0x70_0000;
const CACHE: u64 = 0x100_0000;
const MAP: u64 = 0x200_0000;
const STACK: u64 = 0x300_0000;

/// Pieces of code, by segments of 128 bytes: where each begins, its name and the words of its frame.
const PIECES: [(u64, &str, u64); 4] = [
    (0, "StubRoutines (1)", 0),
    (4, "Interpreter", 0),
    (8, "nmethod", 6),
    (16, "RuntimeStub - x", 4),
];
const SEGMENT: u64 = 128;
const HEADER_LEN: u64 = 16;
/// Where instructions begin in a piece.
const CODE: u64 = 0x80;
const FRAME_COMPLETE: u64 = 12;

const CALL_STUB_RETURN: u64 = CACHE + CODE + 0x20;
const IN_INTERPRETER: u64 = CACHE + 4 * SEGMENT + CODE + 0x10;
const METHOD_CODE: u64 = CACHE + 8 * SEGMENT + CODE;
const IN_METHOD: u64 = METHOD_CODE + 0x40;
const IN_STUB: u64 = CACHE + 16 * SEGMENT + CODE + 8;
/// In the library, behind a call.
const CALLER: u64 = LIBRARY + 0x800;

/// Puts names of tables into memory, one after the other.
struct Names(u64);

impl Names {
    fn put(&mut self, process: &mut MadeHost, name: &str) -> u64 {
        let at = self.0;
        process.put(at, &[name.as_bytes(), &[0]].concat());
        self.0 += name.len() as u64 + 1;
        at
    }
}

/// What the tables say: fields with their offsets, and where variables lie.
fn fields() -> Vec<(&'static str, FieldPlace)> {
    let offsets = [
        ("GrowableArrayBase._len", 0),
        ("GrowableArray<int>._data", 8),
        ("CodeHeap._memory", 0),
        ("CodeHeap._segmap", 16),
        ("CodeHeap._log2_segment_size", 32),
        ("VirtualSpace._low", 0),
        ("VirtualSpace._high", 8),
        ("CodeBlob._name", 0),
        ("CodeBlob._size", 8),
        ("CodeBlob._frame_size", 12),
        ("CodeBlob._frame_complete_offset", 16),
        ("CodeBlob._code_begin", 24),
        ("Method._constMethod", 8),
        ("ConstMethod._code_size", 4),
    ];
    let variables = [("CodeCache._heaps", OBJECTS), (CALL_STUB, OBJECTS + 8)];
    let variables = variables.map(|(name, at)| (name, FieldPlace::Static(Addr::new(at))));
    let offsets = offsets.map(|(name, offset)| (name, FieldPlace::Offset(offset)));
    offsets.into_iter().chain(variables).collect()
}

fn describe(process: &mut MadeHost) {
    let mut names = Names(NAMES);
    let exported = [
        ("gHotSpotVMStructs", TABLES + 0x200),
        ("gHotSpotVMStructEntryArrayStride", 48),
        ("gHotSpotVMStructEntryTypeNameOffset", 0),
        ("gHotSpotVMStructEntryFieldNameOffset", 8),
        ("gHotSpotVMStructEntryIsStaticOffset", 24),
        ("gHotSpotVMStructEntryOffsetOffset", 32),
        ("gHotSpotVMStructEntryAddressOffset", 40),
        ("gHotSpotVMTypes", TABLES + 0x1000),
        ("gHotSpotVMTypeEntryArrayStride", 16),
        ("gHotSpotVMTypeEntryTypeNameOffset", 0),
        ("gHotSpotVMTypeEntrySizeOffset", 8),
    ];
    for (index, (name, value)) in exported.into_iter().enumerate() {
        let at = TABLES + 8 * index as u64;
        process.export(name, at);
        process.words(at, &[value]);
    }
    for (index, (name, field)) in fields().into_iter().enumerate() {
        let (kind, name) = name.split_once('.').unwrap();
        let names = [names.put(process, kind), names.put(process, name)];
        let [is_static, offset, address] = match field {
            FieldPlace::Offset(offset) => [0, offset, 0],
            FieldPlace::Static(at) => [1, 0, at.get()],
        };
        let entry = TABLES + 0x200 + 48 * index as u64;
        process.words(entry, &[names[0], names[1], 0, is_static, offset, address]);
    }
    for (index, (name, size)) in [("HeapBlock", HEADER_LEN), ("ConstMethod", 64)].iter().enumerate()
    {
        let name = names.put(process, name);
        process.words(TABLES + 0x1000 + 16 * index as u64, &[name, *size]);
    }
}

fn fill_cache(process: &mut MadeHost) {
    let mut names = Names(OBJECTS + 0x400);
    // The array of heaps and the one heap.
    process.words(OBJECTS, &[OBJECTS + 0x100, CALL_STUB_RETURN]);
    process.words(OBJECTS + 0x100, &[1, OBJECTS + 0x120]);
    process.words(OBJECTS + 0x120, &[OBJECTS + 0x200]);
    process.words(OBJECTS + 0x200, &[CACHE, CACHE + 0x2000, MAP, MAP + 64, 7]);
    process.put(MAP, &[FREE_SEGMENT; 64]);
    for (index, (segment, name, words)) in PIECES.into_iter().enumerate() {
        let end = PIECES.get(index + 1).map_or(20, |next| next.0);
        let back: Vec<u8> = (0..end - segment).map(|back| back.min(3) as u8).collect();
        process.put(MAP + segment, &back);
        let blob = CACHE + segment * SEGMENT + HEADER_LEN;
        let name = names.put(process, name);
        let size = (end - segment) * SEGMENT - HEADER_LEN;
        let code = CACHE + segment * SEGMENT + CODE;
        process.words(blob, &[name, size | words << 32, FRAME_COMPLETE, code]);
    }
}

const FREE_SEGMENT: u8 = 0xff;

fn process() -> MadeHost {
    let parts = [LIBRARY, TABLES, NAMES, OBJECTS, CACHE, MAP, STACK];
    let mut process = MadeHost::new(&parts);
    describe(&mut process);
    fill_cache(&mut process);
    process
}

/// The pc, CFA and frame pointer of the caller.
fn step(
    process: &MadeHost,
    phase: Phase,
    pc: CodeAddr,
    registers: &[(u16, u64)],
) -> Option<(u64, u64, Option<u64>)> {
    let hotspot = find(process).expect("a Java virtual machine");
    told(process.step(&*hotspot, phase, pc, registers), 6)
}

fn behind(process: &MadeHost, pc: u64, sp: u64, fp: u64) -> Option<(u64, u64, Option<u64>)> {
    let pc = CodeAddr::Return(Addr::new(pc));
    step(process, Phase::AfterCfi, pc, &[(7, sp), (6, fp)])
}

#[test]
fn a_frame_of_compiled_code_has_the_size_of_its_method() {
    let mut process = process();
    process.words(STACK + 0x20, &[0xf00d, IN_INTERPRETER]);
    let found = Some((IN_INTERPRETER, STACK + 0x30, Some(0xf00d)));
    assert_eq!(behind(&process, IN_METHOD, STACK, 0x1234), found);
    process.words(STACK + 0x10, &[0xf00d, IN_METHOD]);
    let found = Some((IN_METHOD, STACK + 0x20, Some(0xf00d)));
    assert_eq!(behind(&process, IN_STUB, STACK, 0x1234), found);
    process.words(STACK + 0x20, &[0xf00d, CALLER]);
    assert_eq!(behind(&process, IN_METHOD, STACK, 0), None, "nothing else calls a method");
    assert_eq!(behind(&process, CACHE + 30 * SEGMENT, STACK, 0), None, "no code");
}

#[test]
fn the_interpreter_keeps_its_callers_stack_pointer() {
    let mut process = process();
    let fp = STACK + 0x100;
    process.words(fp - 8, &[fp + 0x40, 0xf00d, IN_METHOD]);
    let found = Some((IN_METHOD, fp + 0x40, Some(0xf00d)));
    assert_eq!(behind(&process, IN_INTERPRETER, STACK, fp), found);
    assert_eq!(behind(&process, IN_INTERPRETER, fp + 8, fp), None, "below the stack pointer");
    process.words(fp - 8, &[fp + 8]);
    let found = Some((IN_METHOD, fp + 8, Some(0xf00d)));
    assert_eq!(behind(&process, IN_INTERPRETER, STACK, fp), found, "called by a linker");
    process.words(fp - 8, &[fp]);
    assert_eq!(behind(&process, IN_INTERPRETER, STACK, fp), None, "its caller is no frame");
}

#[test]
fn the_stub_saved_what_the_virtual_machine_wants_back() {
    let mut process = process();
    let fp = STACK + 0x100;
    process.words(fp - 88, &[15, 14, 13, 12, 3, fp + 0x50]);
    process.words(fp, &[0xf00d, CALLER]);
    let found = Some((CALLER, fp + 16, Some(0xf00d)));
    assert_eq!(behind(&process, CALL_STUB_RETURN, STACK, fp), found);
    let hotspot = find(&process).unwrap();
    let pc = CodeAddr::Return(Addr::new(CALL_STUB_RETURN));
    let step = process.step(&*hotspot, Phase::AfterCfi, pc, &[(7, STACK), (6, fp)]);
    let saved = [3, 12, 13, 14, 15].map(|number| step.unwrap().1.get(RegisterId(number)));
    assert_eq!(saved, [3, 12, 13, 14, 15].map(Some));
    process.words(fp - 48, &[STACK]);
    assert_eq!(behind(&process, CALL_STUB_RETURN, STACK, fp), None, "no variable of a caller");
}

/// Where a thread was stopped, with words on top of its stack.
fn stopped(pc: u64, code: &[u8], words: &[u64]) -> Option<(u64, u64, Option<u64>)> {
    let mut process = process();
    process.put(pc, code);
    process.words(STACK, words);
    let pc = CodeAddr::Pc(Addr::new(pc));
    step(&process, Phase::AfterCode, pc, &[(7, STACK), (6, 0xbeef)])
}

#[test]
fn a_method_that_is_stopped_has_as_much_of_its_frame_as_its_code_tells() {
    let to = IN_INTERPRETER;
    let whole = [0, 0, 0, 0, 0xf00d, to];
    assert_eq!(stopped(IN_METHOD, &[0x90], &whole), Some((to, STACK + 48, Some(0xf00d))));
    let pushed = Some((to, STACK + 16, Some(0xf00d)));
    assert_eq!(stopped(IN_METHOD, &[0x5d], &[0xf00d, to]), pushed);
    assert_eq!(stopped(METHOD_CODE + 8, &[0x48, 0x83, 0xec], &[0xf00d, to]), pushed);
    let none = Some((to, STACK + 8, Some(0xbeef)));
    assert_eq!(stopped(METHOD_CODE, &[0x55], &[to]), none);
    for leaving in [&[0xc3][..], &[0x49, 0x3b, 0xa7], &[0x0f, 0x87, 0]] {
        assert_eq!(stopped(IN_METHOD, leaving, &[to]), none);
    }
    assert_eq!(stopped(IN_METHOD, &[0x90], &[to]), None);
    let deoptimized = [IN_METHOD, 0, 0, 0, 0, 0xf00d, to];
    let left = Some((to, STACK + 56, Some(0xf00d)));
    assert_eq!(stopped(IN_METHOD, &[0x48, 0x83, 0x2c, 0x24, 5], &deoptimized), left);
    assert_eq!(stopped(IN_METHOD + 5, &[0xe9], &deoptimized), left);
}

/// Stopped in the interpreter, at `code`, with `words` on top of the stack.
fn in_interpreter(
    code: &[u8],
    words: &[u64],
    registers: &[(u16, u64)],
) -> Option<(u64, u64, Option<u64>)> {
    let mut process = process();
    process.put(IN_INTERPRETER, code);
    process.words(STACK, words);
    let registers = [&[(7, STACK)], registers].concat();
    step(&process, Phase::AfterCode, CodeAddr::Pc(Addr::new(IN_INTERPRETER)), &registers)
}

/// `pop r13`, `mov rsp, rbx`, `jmp r13`.
const LEAVING: [u8; 8] = [0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5];

#[test]
fn the_interpreter_leaves_a_frame_by_a_jump() {
    let (fp, sender) = (STACK + 0x200, STACK + 0x40);
    let left = Some((IN_METHOD, sender, Some(fp)));
    let popped = [(6, fp), (3, sender), (13, IN_METHOD)];
    assert_eq!(in_interpreter(&LEAVING, &[IN_METHOD], &[(6, fp), (3, sender)]), left);
    assert_eq!(in_interpreter(&LEAVING[2..], &[], &popped), left);
    let moved = Some((IN_METHOD, STACK, Some(fp)));
    assert_eq!(in_interpreter(&LEAVING[5..], &[], &popped), moved);
    // `pop rdi; mov rsp, r11; jmp rdi`.
    let other = [0x5f, 0x49, 0x8b, 0xe3, 0xff, 0xe7];
    let registers = [(6, fp), (5, IN_METHOD), (11, sender)];
    assert_eq!(in_interpreter(&other, &[IN_METHOD], &registers), left);
    assert_eq!(in_interpreter(&other[1..], &[], &registers), left);
    assert_eq!(in_interpreter(&LEAVING[5..], &[], &[(6, fp), (13, CALLER)]), None, "not Java");
    // `mov byte ptr [r15 + 0x3be], 0` comes before, `cmp [r15 + 0x620], rsp` in between.
    let flagged = [&[0x41, 0xc6, 0x87, 0xbe, 3, 0, 0, 0][..], &LEAVING].concat();
    assert_eq!(in_interpreter(&flagged, &[IN_METHOD], &[(6, fp), (3, sender)]), left);
    let compared = [0x48, 0x8b, 0xe3, 0x49, 0x3b, 0xa7, 0x20, 6, 0, 0];
    assert_eq!(in_interpreter(&compared, &[], &popped), left);
    assert_eq!(in_interpreter(&compared[3..], &[], &popped), moved);
}

#[test]
fn below_the_frame_of_a_native_method_lies_nothing_of_its_callers() {
    let (fp, method, constant) = (STACK + 0x100, OBJECTS + 0x800, OBJECTS + 0x900);
    let native = |place| {
        let mut process = process();
        process.words(fp - 24, &[method, 0, fp + 0x40, 0xf00d, IN_METHOD]);
        process.words(fp - 64, &[place]);
        process.words(method, &[0, constant]);
        // What is left of an earlier call.
        process.words(STACK, &[IN_INTERPRETER + 0x40]);
        let pc = CodeAddr::Pc(Addr::new(IN_INTERPRETER));
        step(&process, Phase::AfterCode, pc, &[(7, STACK), (6, fp), (13, constant)])
    };
    assert_eq!(native(0), Some((IN_METHOD, fp + 0x40, Some(0xf00d))));
    assert_eq!(native(1), Some((IN_INTERPRETER + 0x40, STACK + 8, Some(fp))), "it is none");
}

#[test]
fn the_interpreter_makes_a_frame_step_by_step() {
    let (fp, sender, place) = (STACK + 0x200, STACK + 0x40, OBJECTS + 0x900);
    let (below, called) = (STACK + 8, Some((IN_METHOD, sender, Some(fp))));
    let pushed = |r13| in_interpreter(&[0x90], &[IN_METHOD], &[(6, fp), (13, r13)]);
    assert_eq!(pushed(place), Some((IN_METHOD, below, Some(fp))), "still at the bytecode");
    assert_eq!(pushed(sender), called, "the caller's arguments were moved");
    let taken = [(0, IN_METHOD), (6, fp), (13, sender)];
    assert_eq!(in_interpreter(&[0x90], &[0; 4], &taken), called, "it is in rax");
    let linked = in_interpreter(&[0x48, 0x8b, 0xec], &[fp, IN_METHOD], &[(6, fp), (13, sender)]);
    assert_eq!(linked, called);
    let own = in_interpreter(&[0x41, 0x55], &[fp, IN_METHOD], &[(6, STACK), (13, sender)]);
    assert_eq!(own, called);
    assert_eq!(in_interpreter(&[0x90], &[0; 4], &[(6, fp), (13, sender)]), None);
}

#[test]
fn the_frame_pointer_of_the_interpreter_is_that_of_the_method_whose_bytecodes_run() {
    let mut process = process();
    let (fp, method, constant) = (STACK + 0x100, OBJECTS + 0x800, OBJECTS + 0x900);
    process.words(fp - 24, &[method, 0, fp + 0x40, 0xf00d, IN_METHOD]);
    process.words(method, &[0, constant]);
    process.words(constant, &[20 << 32]);
    let at = |process: &MadeHost, place| {
        let pc = CodeAddr::Pc(Addr::new(IN_INTERPRETER));
        step(process, Phase::AfterCode, pc, &[(7, STACK), (6, fp), (13, place)])
    };
    let found = Some((IN_METHOD, fp + 0x40, Some(0xf00d)));
    assert_eq!(at(&process, constant + 64 + 10), found);
    assert_eq!(at(&process, constant + 64 + 21), None, "beyond the bytecodes");
    process.words(fp - 64, &[constant + 64 + 20]);
    assert_eq!(at(&process, constant + 64 + 21), found, "what it called came back just now");
}

#[test]
fn what_a_callee_left_is_no_call_of_the_interpreter() {
    let (fp, method, constant) = (STACK + 0x100, OBJECTS + 0x800, OBJECTS + 0x900);
    let behind = |code: &[u8], left: u64| {
        let mut process = process();
        process.put(IN_INTERPRETER, code);
        process.words(fp - 24, &[method, 0, fp + 0x40, 0xf00d, IN_METHOD]);
        process.words(fp - 64, &[constant + 64 + 10]);
        process.words(method, &[0, constant]);
        process.words(constant, &[20 << 32]);
        // An i2c adapter left the address of the return on the stack and in rax, and r13 is that of the call.
        process.words(STACK, &[left]);
        let pc = CodeAddr::Pc(Addr::new(IN_INTERPRETER));
        let registers = [(0, left), (7, STACK), (6, fp), (13, STACK + 8)];
        step(&process, Phase::AfterCode, pc, &registers)
    };
    let at = |code: &[u8]| behind(code, IN_METHOD);
    let found = Some((IN_METHOD, fp + 0x40, Some(0xf00d)));
    // JDK 17: `mov rsp, [rbp - 16]; mov qword [rbp - 16], 0; mov r13, [rbp - 64]`.
    let old = [0x48, 0x8b, 0x65, 0xf0, 0x48, 0xc7, 0x45, 0xf0, 0, 0, 0, 0, 0x4c, 0x8b, 0x6d, 0xc0];
    for from in [0, 4, 12] {
        assert_eq!(at(&old[from..]), found, "{from}");
    }
    // JDK 25: `mov rcx, [rbp - 16]; lea rsp, [rbp + 8 * rcx]`.
    let new = [0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd, 0];
    assert_eq!(at(&new), found);
    assert_eq!(at(&new[4..]), found);
    // The code that the call came back to began a few bytes before.
    assert_eq!(behind(&[0x90], IN_INTERPRETER - 0x19), found);
    // Anywhere else a method is entered: its arguments begin at r13.
    assert_eq!(at(&[0x90]), Some((IN_METHOD, STACK + 8, Some(fp))));
}

#[test]
fn damaged_tables_are_no_anchor() {
    assert!(find(&MadeHost::new(&[LIBRARY])).is_none());
    let mut process = process();
    process.words(OBJECTS + 0x100, &[0]);
    assert!(find(&process).is_none(), "no heap");
    let mut process = self::process();
    process.words(OBJECTS + 0x200 + 32, &[70]);
    assert!(find(&process).is_none(), "segments larger than all memory");
    let mut process = self::process();
    process.words(TABLES + 8, &[0]);
    assert!(find(&process).is_none(), "entries of no size");
}

#[test]
fn a_map_that_leads_before_its_heap_finds_nothing() {
    let mut process = process();
    process.put(MAP, &[5; 24]);
    assert_eq!(behind(&process, IN_METHOD, STACK, 0), None);
}
