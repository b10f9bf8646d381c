//! A made process with a method that is interpreted and compiled, whole and damaged.

use kcore_mem::CodeAddr;
use kcore_unwind::{End, Frame, Trust};

use super::*;
use crate::LanguageFrame;
use crate::anchor::made_host::MadeHost;

const VARIABLES: u64 = 0x70_0000;
const OBJECTS: u64 = 0x71_0000;
const CACHE: u64 = 0x72_0000;
const MAP: u64 = 0x74_0000;
const STACK: u64 = 0x75_0000;
const METHOD: u64 = 0x76_0000;
const NAMES: u64 = 0x77_0000;
/// Where the instructions of a piece begin, and the compiled method's piece.
const CODE: u64 = 0x180;
const COMPILED: u64 = CACHE + 0x800;
const CONSTANT: u64 = METHOD + 0x40;
const BYTECODES: u64 = CONSTANT + 56;
const POOL: u64 = METHOD + 0x100;

const IN_INTERPRETER: u64 = CACHE + CODE + 0x10;
const IN_METHOD: u64 = COMPILED + CODE + 0x20;

const OFFSETS: &[(&str, u64)] = &[
    ("GrowableArrayBase._len", 0),
    ("GrowableArray<int>._data", 8),
    ("CodeHeap._memory", 0),
    ("CodeHeap._segmap", 16),
    ("CodeHeap._log2_segment_size", 32),
    ("VirtualSpace._low", 0),
    ("VirtualSpace._high", 8),
    ("CodeBlob._name", 64),
    ("CodeBlob._size", 72),
    ("CodeBlob._frame_size", 88),
    ("CodeBlob._frame_complete_offset", 80),
    ("CodeBlob._code_begin", 16),
    ("Method._constMethod", 8),
    ("ConstMethod._constants", 8),
    ("ConstMethod._code_size", 34),
    ("ConstMethod._name_index", 36),
    ("ConstMethod._signature_index", 38),
    ("ConstMethod._flags", 28),
    ("ConstantPool._length", 60),
    ("ConstantPool._pool_holder", 24),
    ("ConstantPool._source_file_name_index", 54),
    ("Klass._name", 24),
    ("Symbol._length", 4),
    ("Symbol._body", 6),
    ("nmethod._comp_level", 328),
    ("nmethod._orig_pc_offset", 304),
    ("nmethod._scopes_pcs_offset", 276),
    ("nmethod._dependencies_offset", 280),
    ("nmethod._metadata_offset", 268),
    ("CompiledMethod._method", 112),
    ("CompiledMethod._scopes_data_begin", 120),
    ("CompiledMethod._deopt_handler_begin", 128),
    ("PcDesc._pc_offset", 0),
    ("PcDesc._scope_decode_offset", 4),
];

fn entries() -> Vec<(&'static str, TableEntry)> {
    let offsets = OFFSETS.iter().map(|(name, by)| (*name, TableEntry::Offset(*by)));
    let sizes = [("HeapBlock", 16), ("ConstMethod", 56), ("ConstantPool", 72), ("PcDesc", 16)];
    let sizes = sizes.map(|(name, size)| (name, TableEntry::Size(size)));
    let others = [
        ("CodeCache._heaps", TableEntry::Variable(Addr::new(VARIABLES))),
        (CALL_STUB, TableEntry::Variable(Addr::new(VARIABLES + 8))),
        ("ConstMethod::_has_linenumber_table", TableEntry::Constant(1)),
    ];
    offsets.chain(sizes).chain(others).collect()
}

fn piece(host: &mut MadeHost, at: u64, name: u64, frame: u32) {
    host.words(at + 16, &[at - 16 + CODE]);
    host.words(at + 64, &[name]);
    host.put(at + 72, &0x380_u32.to_le_bytes());
    host.put(at + 88, &frame.to_le_bytes());
    host.words(at + 112, &[METHOD, at - 16 + 0x300, at - 16 + CODE + 0x100]);
    for (field, offset) in [(268, 0x340_u32), (276, 0x2c0), (280, 0x2f0), (304, 8)] {
        host.put(at + field, &offset.to_le_bytes());
    }
    host.put(at + 328, &[4]);
}

fn process() -> MadeHost {
    let mut host = MadeHost::new(&[VARIABLES, OBJECTS, CACHE, MAP, STACK, METHOD, NAMES]);
    host.words(VARIABLES, &[OBJECTS]);
    host.words(OBJECTS, &[1, OBJECTS + 0x20, 0, 0, OBJECTS + 0x40]);
    host.words(OBJECTS + 0x40, &[CACHE, CACHE + 0x1000, MAP, MAP + 32, 7]);
    let map: Vec<u8> = (0..16).chain(0..16).collect();
    host.put(MAP, &map);
    piece(&mut host, CACHE + 16, NAMES, 0);
    piece(&mut host, COMPILED + 16, NAMES + 0x20, 4);
    host.put(NAMES, b"Interpreter\0");
    host.put(NAMES + 0x20, b"nmethod\0");
    // Three descriptions, of which the second names a scope with one around it.
    for (index, (pc, scope)) in [(-1, 0), (0x20, 4), (i32::MAX, 0)].into_iter().enumerate() {
        let at = COMPILED + 16 + 0x2c0 + 16 * index as u64;
        host.put(at, &[i32::to_le_bytes(pc), i32::to_le_bytes(scope)].concat());
    }
    // Sender, method, and the index of the bytecode with one more.
    host.put(COMPILED + 0x301, &[0, 0, 6, 1, 1, 1]);
    host.words(COMPILED + 16 + 0x340, &[METHOD]);
    host.words(METHOD, &[0, CONSTANT]);
    host.words(CONSTANT + 8, &[POOL]);
    host.put(CONSTANT + 28, &[1]);
    host.put(CONSTANT + 34, &[8, 0, 1, 0, 2, 0]);
    // Line 3 at the beginning, line 5 from the fourth on.
    host.put(BYTECODES + 8, &[3, 4 << 3 | 2, 0]);
    host.words(POOL + 24, &[METHOD + 0x200]);
    host.put(POOL + 54, &[3]);
    host.put(POOL + 60, &[4]);
    host.words(POOL + 72, &[0, METHOD + 0x300, METHOD + 0x300, METHOD + 0x320]);
    host.words(METHOD + 0x218, &[METHOD + 0x340]);
    for (at, text) in [(0x300, "f"), (0x320, "T.java"), (0x340, "p/T")] {
        host.put(METHOD + at + 4, &[text.len() as u8, 0]);
        host.put(METHOD + at + 6, text.as_bytes());
    }
    let place = BYTECODES + 5;
    host.words(STACK, &[place, 0, 0, 0, 0, METHOD, 0, STACK + 0x100, 0, IN_METHOD]);
    host
}

fn frames(host: &MadeHost, pcs: &[u64]) -> Vec<LanguageFrame> {
    let java = Java::with_tables(host, 17, &entries()).expect("its tables hold together");
    let frame = |pc: &u64| Frame {
        pc: CodeAddr::Return(Addr::new(*pc)),
        sp: Some(Addr::new(STACK)),
        cfa: Some(Addr::new(STACK + 0x100)),
        frame_pointer: None,
        trust: Trust::Runtime,
        guess: false,
        signal_trampoline: false,
        on_other_stack: false,
        calls_elsewhere: false,
    };
    let frames: Vec<Frame> = pcs.iter().map(frame).collect();
    let stack = NativeStack { thread: None, task: None, frames: &frames, end: End::Outermost };
    java.decode(host, &stack).into_iter().flat_map(|span| span.language).collect()
}

fn told(frame: &LanguageFrame) -> (&str, &str, Option<u32>, &str, bool) {
    let function = frame.function.as_deref().unwrap_or("?");
    let file = frame.file.as_deref().unwrap_or("?");
    (function, file, frame.line, frame.tier.unwrap_or("?"), frame.inline)
}

#[test]
fn an_interpreted_frame_has_its_line() {
    let frames = frames(&process(), &[IN_INTERPRETER, IN_METHOD]);
    assert_eq!(told(&frames[0]), ("p.T.f", "T.java", Some(5), "interpreted", false));
    assert_eq!(frames[0].bytecode, Some(5));
}

#[test]
fn a_compiled_frame_has_what_is_inlined_into_it() {
    let frames = frames(&process(), &[IN_METHOD]);
    let told: Vec<_> = frames.iter().map(told).collect();
    let expected =
        [("p.T.f", "T.java", Some(3), "C2", true), ("p.T.f", "T.java", Some(5), "C2", false)];
    assert_eq!(told, expected);
}

#[test]
fn a_frame_whose_method_is_no_longer_valid_tells_where_it_was() {
    let mut host = process();
    host.words(STACK + 8, &[IN_METHOD]);
    let frames = frames(&host, &[COMPILED + CODE + 0x100]);
    assert_eq!(told(&frames[1]), ("p.T.f", "T.java", Some(5), "deoptimized", false));
}

#[test]
fn what_is_not_described_has_its_method_and_no_line() {
    let frames = frames(&process(), &[IN_METHOD + 1]);
    assert_eq!(told(&frames[0]), ("p.T.f", "T.java", None, "C2", false));
    assert!(frames[0].doubt.is_some());
}

#[test]
fn damage_is_told_and_costs_nothing_else() {
    let mut host = process();
    host.words(STACK + 40, &[1]);
    let all = frames(&host, &[IN_INTERPRETER, IN_METHOD]);
    assert_eq!(told(&all[0]), ("?", "?", None, "interpreted", false));
    assert_eq!(told(&all[1]).0, "p.T.f");
    // Scopes that name each other.
    host.put(COMPILED + 0x301, &[0, 0, 6, 9, 1, 1]);
    assert_eq!(frames(&host, &[IN_METHOD]).len(), 1);
    host.words(POOL + 72, &[0, 1, 1, 1]);
    assert!(frames(&host, &[IN_METHOD])[0].function.is_none());
}

#[test]
fn tables_that_lack_something_are_refused_in_words() {
    let mut entries = entries();
    entries.retain(|(name, _)| *name != "PcDesc._pc_offset");
    let refused = Java::with_tables(&process(), 17, &entries).err();
    assert_eq!(refused.as_deref(), Some("the virtual machine does not describe PcDesc._pc_offset"));
}

#[test]
fn a_class_says_whether_all_of_its_fields_were_read() {
    const CLASS: u64 = METHOD + 0x200;
    const SLOTS: u64 = METHOD + 0x280;
    let own = [
        ("InstanceKlass._constants", 32),
        ("InstanceKlass._fields", 40),
        ("InstanceKlass._java_fields_count", 48),
        ("Array<u2>._data", 8),
        ("Klass._super", 56),
    ];
    let own = own.map(|(name, by)| (name, TableEntry::Offset(by)));
    let entries: Vec<_> = entries().into_iter().chain(own).collect();
    let tables = VmStructs::of(&entries);
    let layout = fields::FieldLayout::of(&tables).unwrap();
    let methods = method::MethodLayout::of(&tables, stream::Coding::FromZero).unwrap();
    let mut host = process();
    host.words(CLASS + 32, &[POOL, SLOTS]);
    host.put(CLASS + 48, &[2, 0]);
    // Flags, name, signature, value, and where it lies: 12, 16.
    for (index, low) in [(0, 12_u8 << 2), (1, 16 << 2)] {
        host.put(SLOTS + 8 + 12 * index, &[0, 0, 1, 0, 2, 0, 0, 0, low | 1, 0, 0, 0]);
    }
    let declared = |host: &MadeHost| {
        let declared = layout.declared(Memory(host), &methods, Addr::new(CLASS));
        let offsets: Vec<u64> = declared.fields.iter().map(|field| field.offset).collect();
        (offsets, declared.is_whole)
    };
    assert_eq!(declared(&host), (vec![12, 16], true));
    // The name of the second cannot be read.
    host.words(POOL + 72 + 24, &[0x7fff_0000]);
    host.put(SLOTS + 8 + 12 + 2, &[3]);
    assert_eq!(declared(&host), (vec![12], false));
    host.words(CLASS + 40, &[0x7fff_0000]);
    assert_eq!(declared(&host), (vec![], false));
    host.words(CLASS + 32, &[0x7fff_0000]);
    assert_eq!(declared(&host), (vec![], false));
}
