//! Where the fields of CPython's structures lie: by version, or as the process says it.
//!
//! Since 3.13 `_PyRuntime` begins with a table for debuggers, which goes before those of [`table`]. Where a
//! structure has no such field in a version, its offset is `None`.

mod debug_offsets;
mod table;

pub use debug_offsets::DebugOffsets;

/// Which way frames are chained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frames {
    /// `PyFrameObject`s, to 3.10.
    Objects,
    /// `_PyInterpreterFrame`s; each evaluation knows its innermost one: 3.11.
    Entries,
    /// `_PyInterpreterFrame`s with one of no function's between those of two evaluations: since 3.12.
    Shims,
}

/// All layouts of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// 14 of 3.14.
    pub minor: u8,
    /// How frames are chained.
    pub frames: Frames,
    /// `_PyRuntimeState`.
    pub runtime: RuntimeOffsets,
    /// `PyInterpreterState`.
    pub interpreter: InterpreterOffsets,
    /// `PyThreadState`.
    pub thread: ThreadOffsets,
    /// `PyFrameObject` to 3.10, `_PyInterpreterFrame` since.
    pub frame: FrameOffsets,
    /// `PyCodeObject`.
    pub code: CodeOffsets,
    /// Types.
    pub types: TypeOffsets,
    /// All other objects.
    pub objects: ObjectOffsets,
}

/// `_PyRuntimeState`, `Include/internal/pycore_runtime.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeOffsets {
    /// The list of interpreters.
    pub head: u64,
    /// The state of the lock that all interpreters share, to 3.11.
    pub gil: Option<u64>,
    /// Whether the collector runs, `int`, in 3.8.
    pub collecting: Option<u64>,
    /// The state of the collector, in 3.8.
    pub gc: Option<u64>,
}

/// `PyInterpreterState`, `Include/internal/pycore_interp.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterpreterOffsets {
    /// How big it is, as the process says, since 3.13.
    pub size: Option<u64>,
    /// The next one.
    pub next: u64,
    /// Its number, `int64_t`.
    pub id: u64,
    /// The list of its thread states.
    pub threads: u64,
    /// `sys.modules`.
    pub modules: u64,
    /// The dict of `sys`.
    pub sysdict: u64,
    /// The dict of `builtins`.
    pub builtins: u64,
    /// Pointer to the state of its lock, since 3.12.
    pub gil: Option<u64>,
    /// Whether its collector runs, `int`, since 3.9.
    pub collecting: Option<u64>,
    /// The state of its collector, since 3.9.
    pub gc: Option<u64>,
}

/// `PyThreadState`, `Include/cpython/pystate.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadOffsets {
    /// The previous one of the list.
    pub prev: u64,
    /// The next one.
    pub next: u64,
    /// Its interpreter.
    pub interpreter: u64,
    /// Its innermost frame, where the thread state itself has it.
    pub frame: Option<u64>,
    /// Its innermost `_PyCFrame`, from 3.10 to 3.12.
    pub cframe: Option<u64>,
    /// The `_PyCFrame` that is a part of it and stands for no evaluation.
    pub root_cframe: Option<u64>,
    /// The frame that is a part of it and ends the chain, in 3.15.
    pub base_frame: Option<u64>,
    /// The exception that is on its way to a handler.
    pub raised: u64,
    /// Pointer to the innermost exception that is handled.
    pub handled: u64,
    /// `pthread_t`.
    pub thread_id: u64,
    /// The LWP, since 3.11.
    pub native_id: Option<u64>,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameOffsets {
    /// The next one outwards.
    pub previous: u64,
    /// Its code.
    pub code: u64,
    /// `f_locals`: the dict of a frame whose variables are not its own slots.
    pub locals: u64,
    /// Its module's dict.
    pub globals: u64,
    /// Where it is: an index, or since 3.11 the address of an instruction.
    pub instruction: u64,
    /// Its variables.
    pub slots: u64,
    /// Whose it is, `char`, since 3.11.
    pub owner: Option<u64>,
    /// How much of its value stack is in use: a pointer, a depth or an index, by version.
    pub stack: u64,
}

/// `PyCodeObject`, `Include/cpython/code.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeOffsets {
    /// `co_argcount`, `int`.
    pub arguments: u64,
    /// `co_kwonlyargcount`, `int`.
    pub keyword_only: u64,
    /// `co_flags`, `int`.
    pub flags: u64,
    /// `co_firstlineno`, `int`.
    pub first_line: u64,
    /// `co_filename`.
    pub filename: u64,
    /// `co_name`.
    pub name: u64,
    /// `co_qualname`, since 3.11.
    pub qualname: Option<u64>,
    /// `co_lnotab` or `co_linetable`.
    pub lines: u64,
    /// Its instructions: `bytes` to 3.10, in place since.
    pub instructions: u64,
    /// `co_varnames`, `co_cellvars` and `co_freevars`, to 3.10.
    pub names: Option<[u64; 3]>,
    /// `co_localsplusnames` and `co_localspluskinds`, since 3.11.
    pub slots: Option<[u64; 2]>,
}

/// `PyTypeObject` and `PyHeapTypeObject`, `Include/cpython/object.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeOffsets {
    /// `tp_name`, a C string.
    pub name: u64,
    /// `tp_basicsize`.
    pub basic_size: u64,
    /// `tp_itemsize`.
    pub item_size: u64,
    /// `tp_flags`.
    pub flags: u64,
    /// `tp_dict`.
    pub dict: u64,
    /// `tp_dictoffset`.
    pub dict_offset: u64,
    /// `tp_mro`.
    pub mro: u64,
    /// `ht_qualname`.
    pub qualname: u64,
    /// `ht_slots`.
    pub slots: u64,
    /// `ht_cached_keys`.
    pub cached_keys: u64,
}

/// Objects of builtin types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectOffsets {
    /// `sizeof(PyASCIIObject)`.
    pub ascii: u64,
    /// `sizeof(PyCompactUnicodeObject)`.
    pub compact: u64,
    /// `ob_item` of a tuple, in place.
    pub tuple: u64,
    /// `func_code` and `func_qualname` of a function.
    pub function: [u64; 2],
    /// `md_name` of a module.
    pub module_name: u64,
    /// `gi_frame` of a generator to 3.10; since then the frame that is a part of it.
    pub generator_frame: u64,
    /// `gi_frame_state` of a generator, `char`, since 3.11.
    pub generator_state: Option<u64>,
    /// `gi_qualname` of a generator.
    pub generator_name: u64,
    /// `traceback` of an exception.
    pub traceback: u64,
    /// `context` of an exception.
    pub context: u64,
    /// `cause` of an exception.
    pub cause: u64,
    /// `exc_value` and `previous_item` of an exception that is handled.
    pub handled: [u64; 2],
}

impl Layout {
    /// The minor versions that tables are of.
    pub const MINORS: std::ops::RangeInclusive<u8> = 8..=15;

    /// That of a minor version.
    pub fn of(minor: u8) -> Option<Self> {
        table::of(minor)
    }
}
