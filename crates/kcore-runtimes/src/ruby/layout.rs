//! How MRI's structures are laid out, by version: `vm_core.h`, `ractor_core.h`, `thread_pthread.h`, `iseq.h`,
//! `internal/class.h` of 2.7.4, 3.0.0, 3.1.2, 3.2.0, 3.3.8 and 3.4.0, on x86-64 with glibc.
//!
//! What is the same in all of them stands where it is used. Those of 3.0 and 3.2 come from headers alone; each is
//! believed only where pointers lead there and back: see [`super::vm`].

use super::version::Version;

/// Where a version has what differs between versions.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Which version.
    pub version: Version,
    /// Of `rb_vm_t`.
    pub vm: VmOffsets,
    /// Of `rb_ractor_t`; 2.7 has none.
    pub ractor: Option<RactorOffsets>,
    /// Of `rb_thread_t`.
    pub thread: ThreadOffsets,
    /// Of `rb_execution_context_t`.
    pub context: ContextOffsets,
    /// Bytes of `rb_control_frame_t`.
    pub frame_size: u64,
    /// `jit_return` of `rb_control_frame_t`.
    pub jit_return: Option<u64>,
    /// Of `struct rb_iseq_constant_body`.
    pub body: BodyOffsets,
    /// Of classes.
    pub class: ClassOffsets,
    /// How objects keep their variables.
    pub variables: VariableKind,
    /// `tLAST_OP_ID`: the last identifier that is its own serial number.
    pub last_op_id: u64,
    /// `Qnil`, and `Qundef`.
    pub nil: u64,
    /// `Qundef`.
    pub undef: u64,
    /// Whether the length of a string stands in a field of its own when its bytes lie in the object.
    pub strings_have_length: bool,
    /// Whether the table of a hash lies behind it.
    pub hash_holds_table: bool,
}

/// Offsets in `rb_vm_t`.
#[derive(Clone, Copy, Debug)]
pub struct VmOffsets {
    /// `objspace`.
    pub objspace: u64,
    /// The list of threads, in 2.7, or of ractors.
    pub list: u64,
    /// The main thread.
    pub main_thread: u64,
}

/// Offsets in `rb_ractor_t`.
#[derive(Clone, Copy, Debug)]
pub struct RactorOffsets {
    /// `threads.set`.
    pub threads: u64,
    /// `vmlr_node`.
    pub node: u64,
}

/// Offsets in `rb_thread_t`.
#[derive(Clone, Copy, Debug)]
pub struct ThreadOffsets {
    /// `vm`.
    pub vm: u64,
    /// `ec`.
    pub context: u64,
    /// `nt`, through which the native thread is found; 2.7 to 3.1 have its `pthread_t` themselves.
    pub native: Option<u64>,
    /// `thread_id`, a `pthread_t`, in what `nt` points to, or in the thread.
    pub pthread: u64,
    /// The byte of `status`.
    pub status: u64,
    /// `blocking_region_buffer`.
    pub blocking: u64,
    /// `name`.
    pub name: u64,
    /// Bytes of it.
    pub size: u64,
    /// The thread that holds the GVL, in the ractor, or in the VM.
    pub holder: u64,
    /// The list of threads that wait for it, in the same.
    pub waiting: u64,
}

/// Offsets in `rb_execution_context_t`.
#[derive(Clone, Copy, Debug)]
pub struct ContextOffsets {
    /// Bytes of it.
    pub size: u64,
    /// `fiber_ptr`.
    pub fiber: u64,
    /// `thread_ptr`.
    pub thread: u64,
    /// `errinfo`.
    pub error: u64,
}

/// Offsets in `struct rb_iseq_constant_body`.
#[derive(Clone, Copy, Debug)]
pub struct BodyOffsets {
    /// `insns_info`.
    pub info: u64,
    /// Bytes of `struct iseq_insn_info_entry`.
    pub info_size: u64,
    /// `local_table`.
    pub locals: u64,
    /// `parent_iseq`; `local_iseq` follows.
    pub parent: u64,
    /// `local_table_size`.
    pub local_count: u64,
}

/// Offsets in classes.
#[derive(Clone, Copy, Debug)]
pub struct ClassOffsets {
    /// The pointer to `rb_classext_t` in `struct RClass`; `None`: it lies behind, from 32 on.
    pub extension: Option<u64>,
    /// Where the name stands.
    pub name: ClassName,
    /// `as.singleton_class.attached_object` in the extension; before 3.3 a variable has it.
    pub attached: Option<u64>,
}

/// Where a class has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassName {
    /// In a hidden variable of the class, in the table at 8 of its extension.
    Variable,
    /// At an offset of its extension.
    Field(u64),
    /// In a variable whose place a tree of shapes knows.
    Shape,
}

/// How objects keep their variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// A table of the class has the index of each.
    Index,
    /// A table of the class has an entry of each that begins with the index.
    Entry,
    /// A tree of shapes, with nodes of so many bytes.
    Shapes(u64),
    /// Unknown.
    Unknown,
}

const fn thread(vm: u64, context: u64, status: u64, name: u64, size: u64) -> ThreadOffsets {
    ThreadOffsets {
        vm,
        context,
        native: None,
        pthread: 0,
        status,
        blocking: 0,
        name,
        size,
        holder: 0,
        waiting: 0,
    }
}

const OLD_BODY: BodyOffsets =
    BodyOffsets { info: 120, info_size: 8, locals: 152, parent: 168, local_count: 232 };
const NEW_BODY: BodyOffsets =
    BodyOffsets { info: 112, info_size: 12, locals: 144, parent: 160, local_count: 232 };
const OLD_CLASS: ClassOffsets =
    ClassOffsets { extension: Some(24), name: ClassName::Variable, attached: None };
const NEW_CLASS: ClassOffsets =
    ClassOffsets { extension: None, name: ClassName::Field(120), attached: Some(96) };
const WIDE_CONTEXT: ContextOffsets =
    ContextOffsets { size: 376, fiber: 48, thread: 56, error: 120 };
const RACTOR: RactorOffsets = RactorOffsets { threads: 304, node: 568 };
const NEW_RACTOR: RactorOffsets = RactorOffsets { threads: 256, node: 432 };

const RUBY_2_7: Layout = Layout {
    version: Version::new(2, 7),
    vm: VmOffsets { objspace: 1152, list: 312, main_thread: 192 },
    ractor: None,
    thread: ThreadOffsets {
        pthread: 72,
        blocking: 152,
        holder: 8,
        waiting: 56,
        ..thread(24, 32, 80, 360, 368)
    },
    context: WIDE_CONTEXT,
    frame_size: 56,
    jit_return: None,
    body: OLD_BODY,
    class: OLD_CLASS,
    variables: VariableKind::Index,
    last_op_id: 168,
    nil: 8,
    undef: 0x34,
    strings_have_length: false,
    hash_holds_table: false,
};
const RUBY_3_0: Layout = Layout {
    version: Version::new(3, 0),
    vm: VmOffsets { objspace: 1088, list: 8, main_thread: 40 },
    ractor: Some(RACTOR),
    thread: ThreadOffsets {
        pthread: 80,
        blocking: 160,
        holder: 336,
        waiting: 384,
        ..thread(32, 40, 88, 384, 408)
    },
    variables: VariableKind::Entry,
    ..RUBY_2_7
};
const RUBY_3_1: Layout = Layout {
    version: Version::new(3, 1),
    vm: VmOffsets { objspace: 1104, ..RUBY_3_0.vm },
    thread: ThreadOffsets {
        pthread: 80,
        blocking: 168,
        holder: 336,
        waiting: 384,
        ..thread(32, 40, 92, 352, 376)
    },
    context: ContextOffsets { size: 368, fiber: 40, thread: 48, error: 112 },
    frame_size: 64,
    jit_return: Some(56),
    body: BodyOffsets { info_size: 12, local_count: 240, ..OLD_BODY },
    last_op_id: 169,
    ..RUBY_3_0
};
const RUBY_3_2: Layout = Layout {
    version: Version::new(3, 2),
    vm: VmOffsets { objspace: 1128, ..RUBY_3_0.vm },
    thread: ThreadOffsets {
        native: Some(40),
        pthread: 8,
        blocking: 120,
        holder: 336,
        waiting: 384,
        ..thread(32, 48, 112, 304, 320)
    },
    context: ContextOffsets { size: 376, fiber: 40, thread: 48, error: 120 },
    body: NEW_BODY,
    class: ClassOffsets { extension: None, name: ClassName::Shape, attached: None },
    variables: VariableKind::Shapes(32),
    nil: 4,
    undef: 0x24,
    strings_have_length: true,
    ..RUBY_3_1
};
const RUBY_3_3: Layout = Layout {
    version: Version::new(3, 3),
    vm: VmOffsets { objspace: 1304, ..RUBY_3_0.vm },
    ractor: Some(NEW_RACTOR),
    thread: ThreadOffsets {
        native: Some(40),
        pthread: 16,
        blocking: 248,
        holder: 328,
        waiting: 344,
        ..thread(32, 48, 240, 432, 456)
    },
    frame_size: 56,
    jit_return: Some(48),
    class: NEW_CLASS,
    variables: VariableKind::Shapes(40),
    hash_holds_table: true,
    ..RUBY_3_2
};
const RUBY_3_4: Layout = Layout {
    version: Version::new(3, 4),
    vm: VmOffsets { objspace: 1296, ..RUBY_3_0.vm },
    thread: ThreadOffsets { name: 448, size: 472, ..RUBY_3_3.thread },
    context: ContextOffsets { size: 368, fiber: 40, thread: 48, error: 112 },
    last_op_id: 170,
    ..RUBY_3_3
};

impl Layout {
    /// All that are known.
    pub const ALL: &[Self] = &[RUBY_2_7, RUBY_3_0, RUBY_3_1, RUBY_3_2, RUBY_3_3, RUBY_3_4];

    /// That of a version.
    pub fn of(version: Version) -> Option<&'static Self> {
        Self::ALL.iter().find(|layout| layout.version == version)
    }

    /// Whether only headers say so: no process of the version was held against it.
    pub fn is_of_headers(&self) -> bool {
        [(3, 0), (3, 2)].contains(&(self.version.major, self.version.minor))
    }
}
