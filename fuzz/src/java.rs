//! Frames, threads, locks, virtual threads and the heap of Java, in memory that may hold anything.

use std::ops::ControlFlow;

use kcore_mem::{Addr, CodeAddr};
use kcore_runtimes::{
    DyingStack, FrameOfLanguage, Host, NativeStack, Runtime, VariableLimits,
    java::{
        self, Java, TableEntry,
        value::{Limits, Step},
    },
    objects::Objects,
};
use kcore_unwind::{End, Frame, Tid, Trust};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// What is asked of variables.
const LIMITS: VariableLimits =
    VariableLimits { locals: true, depth: 2, entries: 8, characters: 20 };
/// Places in the code that are asked about.
const PLACES: u8 = 16;
/// Where variables of the virtual machine lie, one each 16 bytes.
pub const VARIABLES: u64 = 0x70_0000;

/// How JDK 21 lies in memory, and of other versions what differs.
pub const OFFSETS: &[(&str, u64)] = &[
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
    ("ConstMethod._flags._flags", 28),
    ("ConstantPool._length", 60),
    ("ConstantPool._pool_holder", 24),
    ("ConstantPool._source_file_name_index", 54),
    ("Klass._name", 24),
    ("Klass._super", 120),
    ("Klass._layout_helper", 8),
    ("Klass._next_link", 144),
    ("Klass._java_mirror", 112),
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
    ("PcDesc._obj_decode_offset", 8),
    ("nmethod._oops_offset", 272),
    ("CodeBlob._oop_maps", 56),
    ("ImmutableOopMapSet._count", 0),
    ("ImmutableOopMapPair._pc_offset", 0),
    ("ImmutableOopMapPair._oopmap_offset", 4),
    ("ImmutableOopMap._count", 0),
    ("ThreadsList._length", 4),
    ("ThreadsList._threads", 16),
    ("JavaThread._osthread", 16),
    ("JavaThread._threadObj", 24),
    ("JavaThread._thread_state", 32),
    ("JavaThread._current_pending_monitor", 40),
    ("JavaThread._current_waiting_monitor", 48),
    ("JavaThread._stack_base", 56),
    ("JavaThread._stack_size", 64),
    ("JavaThread._lock_stack", 72),
    ("LockStack._top", 0),
    ("LockStack._base[0]", 8),
    ("OSThread._thread_id", 0),
    ("ThreadShadow._pending_exception", 8),
    ("OopHandle._obj", 0),
    ("ObjectMonitor._object", 8),
    ("ObjectMonitor._owner", 64),
    ("JVMFlag._name", 8),
    ("JVMFlag._addr", 0),
    ("oopDesc._metadata._compressed_klass", 8),
    ("oopDesc._metadata._klass", 8),
    ("InstanceKlass._constants", 224),
    ("InstanceKlass._fieldinfo_stream", 232),
    ("Array<u1>._data", 4),
    ("CollectedHeap._reserved", 32),
    ("MemRegion._start", 0),
    ("MemRegion._word_size", 8),
    ("ClassLoaderData._next", 16),
    ("ClassLoaderData._klasses", 8),
    ("ClassLoaderData._class_loader", 24),
    ("Klass._class_loader_data", 152),
    ("Klass._vtable_len", 172),
    ("InstanceKlass._itable_len", 292),
    ("InstanceKlass._nonstatic_oop_map_size", 288),
    ("ConstantPool._cache", 16),
    ("ConstantPoolCache._resolved_references", 16),
    ("G1CollectedHeap._hrm", 64),
    ("HeapRegionManager._regions", 16),
    ("G1HeapRegionTable._base", 0),
    ("G1HeapRegionTable._length", 8),
    ("HeapRegion._type", 24),
    ("HeapRegionType._tag", 0),
    ("HeapRegion._bottom", 0),
    ("HeapRegion._top", 16),
    ("Thread._tlab", 96),
    ("ThreadLocalAllocBuffer._top", 8),
    ("ThreadLocalAllocBuffer._end", 16),
    ("JavaThread._active_handles", 128),
    ("JNIHandleBlock._handles", 0),
    ("JNIHandleBlock._top", 256),
    ("JNIHandleBlock._next", 264),
    ("ConstMethod._constMethod_size", 24),
    ("ConstMethod._size_of_parameters", 46),
    ("Method._access_flags", 40),
];
const VARIABLE_NAMES: &[&str] = &[
    "CodeCache._heaps",
    "StubRoutines._call_stub_return_address",
    "ThreadsSMRSupport._java_thread_list",
    "JVMFlag.flags",
    "JVMFlag.numFlags",
    "CompressedOops._base",
    "CompressedOops._shift",
    "CompressedKlassPointers._base",
    "CompressedKlassPointers._shift",
    "Universe._collectedHeap",
    "ClassLoaderDataGraph._head",
    "java_lang_Class._oop_size_offset",
    "java_lang_Class._klass_offset",
    "JNIHandles._global_handles",
    "VMRegImpl.stack0",
];
/// Constants, and the tags of regions.
const CONSTANTS: &[(&str, u64)] = &[
    ("ConstMethodFlags::_misc_has_linenumber_table", 1),
    ("ConstMethodFlags::_misc_has_localvariable_table", 4),
    ("ConstMethodFlags::_misc_has_exception_table", 8),
    ("ConstMethodFlags::_misc_has_checked_exceptions", 2),
    ("ConstMethodFlags::_misc_has_generic_signature", 16),
    ("ConstMethodFlags::_misc_has_method_parameters", 32),
    ("ConstMethodFlags::_misc_has_method_annotations", 128),
    ("ConstMethodFlags::_misc_has_parameter_annotations", 256),
    ("ConstMethodFlags::_misc_has_type_annotations", 512),
    ("ConstMethodFlags::_misc_has_default_annotations", 1024),
    ("OopMapValue::type_bits", 2),
    ("OopMapValue::type_mask_in_place", 3),
    ("OopMapValue::callee_saved_value", 2),
    ("OopMapValue::derived_oop_value", 3),
    ("HeapRegionType::FreeTag", 0),
    ("HeapRegionType::StartsHumongousTag", 12),
    ("HeapRegionType::ContinuesHumongousTag", 13),
];
const SIZES: &[(&str, u64)] = &[
    ("HeapBlock", 16),
    ("ConstMethod", 56),
    ("ConstantPool", 72),
    ("PcDesc", 16),
    ("ImmutableOopMapSet", 8),
    ("ImmutableOopMapPair", 8),
    ("ImmutableOopMap", 12),
    ("JVMFlag", 24),
    ("InstanceKlass", 464),
];

fn entries() -> Vec<(&'static str, TableEntry)> {
    let offsets = OFFSETS.iter().map(|(name, by)| (*name, TableEntry::Offset(*by)));
    let variables = VARIABLE_NAMES.iter().zip((VARIABLES..).step_by(16));
    let variables = variables.map(|(name, at)| (*name, TableEntry::Variable(Addr::new(at))));
    let sizes = SIZES.iter().map(|(name, size)| (*name, TableEntry::Size(*size)));
    let constants = CONSTANTS.iter().map(|(name, value)| (*name, TableEntry::Constant(*value)));
    offsets.chain(variables).chain(sizes).chain(constants).collect()
}

/// A version, a stack pointer, places in the code, and a host as [`PythonHost::read`] takes it with its memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (major, sp) = (input.byte(), Addr::new(input.word()));
    let places: Vec<Addr> = (0..input.byte() % PLACES).map(|_| Addr::new(input.word())).collect();
    let head = PythonHost::read(&mut input);
    let host = PythonHost::new(head, Memory::read(&mut input));
    let Ok(found) = Java::with_tables(&host, major, &entries()) else { return };
    let threads = found.threads(&host).all.len() + found.virtual_threads(&host).len();
    for lock in found.locks(&host).unwrap_or_default() {
        assert!(lock.waiters.len() <= threads, "each thread waits once");
    }
    let circles = java::circles(found.locks(&host).unwrap_or_default());
    assert!(circles.iter().map(Vec::len).sum::<usize>() <= threads, "each in one circle");
    let tasks = found.tasks(&host);
    assert!(tasks.len() <= found.virtual_threads(&host).len(), "a task for each at most");
    tasks.iter().for_each(|task| drop(found.task_frames(&host, task)));
    places.iter().for_each(|place| drop(found.identify(&host, *place)));
    decode(&found, &host, &places, sp);
    if found.objects(&host).is_some() {
        heap(&found, &host, &places);
    }
}

/// What is asked of a heap.
fn heap(found: &Java, host: &dyn Host, places: &[Addr]) {
    let mut watch = |_, _| ControlFlow::Continue(());
    let counted = found.histogram(host, &mut watch).expect("nobody stops it");
    let rows: u64 = counted.rows.iter().map(|row| row.count).sum();
    assert_eq!(rows, counted.total.count, "each object has a class");
    let limits = Limits { depth: 3, entries: 20, characters: 20 };
    for place in places {
        drop(found.value(host, *place, limits));
        drop(found.part(host, *place, &[Step::Index(0), Step::Name("value".into())], limits));
        drop(found.edges(host, *place));
        if let Some(held) = found.holder(host, *place) {
            assert!(held.at <= *place, "it begins before what it holds");
        }
    }
    if let Ok(Some(graph)) = found.graph(host, &mut watch) {
        drop(found.retained(&graph, &mut watch));
    }
    let mut dump = Vec::new();
    let told = found.write_hprof(host, &[], &mut dump, &mut watch).expect("it has room");
    assert!(dump.len() as u64 >= told.objects, "objects have bytes");
}

fn decode(found: &Java, host: &dyn Host, places: &[Addr], sp: Addr) {
    let frame = |(index, place): (usize, &Addr)| Frame {
        pc: if index == 0 { CodeAddr::Pc(*place) } else { CodeAddr::Return(*place) },
        sp: Some(sp),
        cfa: sp.checked_add(0x100),
        frame_pointer: None,
        trust: Trust::Runtime,
        guess: false,
        signal_trampoline: false,
        on_other_stack: false,
        calls_elsewhere: false,
    };
    let frames: Vec<Frame> = places.iter().enumerate().map(frame).collect();
    let native =
        NativeStack { thread: Some(Tid::new(1)), task: None, frames: &frames, end: End::Outermost };
    for span in found.decode(host, &native) {
        assert!(span.frames.end <= frames.len(), "spans lie among the frames");
        assert!(!span.language.is_empty(), "code of the cache is something");
        let (native, callee) = (frames.get(span.frames.start), frames.first());
        for (depth, frame) in span.language.iter().rev().enumerate() {
            let (kind, object, inline) = (frame.kind, frame.object, frame.inline);
            let registers = None;
            let of = FrameOfLanguage { kind, object, inline, depth, native, callee, registers };
            let _ = found.variables(host, &of, LIMITS);
        }
    }
    let _ = found.end(host, &DyingStack { stack: native, functions: &[] });
}
