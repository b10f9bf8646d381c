//! Open a Linux core and ask it questions.
//!
//! ```no_run
//! use kcore::{Core, MAX_FRAMES, OpenOptions};
//!
//! let options = OpenOptions { core: Some("app.core".into()), ..OpenOptions::default() };
//! let core = Core::open(&options)?;
//! for thread in core.threads() {
//!     let stack = core.stack(thread.tid, MAX_FRAMES);
//!     for frame in core.named_frames(&stack) {
//!         println!("{:?}", frame.location.function);
//!     }
//! }
//! # Ok::<(), kcore::OpenError>(())
//! ```
//!
//! What a [`Core`] was opened on never changes, and threads may share it. Files, symbols and
//! unwind tables are found when an answer first needs them, and kept. The crate formats nothing for
//! people and knows no command: it answers with values, and with the reason where there is none.

#![warn(clippy::unwrap_used, clippy::expect_used)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod arch;
mod by_file;
mod code;
mod contexts;
mod debug_context;
mod doubts;
mod executable;
mod explain;
mod file_space;
mod found_contexts;
mod fp_registers;
mod go_stacks;
mod groups;
mod handled;
mod jump_buffer;
pub mod last_words;
mod live;
mod location;
mod location_cache;
mod lookup;
mod lost;
mod mapping;
mod missing_debug;
mod module;
mod module_cfi;
mod module_set;
mod named_frame;
mod native_host;
mod open;
mod own_stack;
mod pace;
mod prefetch;
mod process;
mod process_code;
pub mod references;
mod regions;
mod register;
mod runtimes;
mod rust_vtables;
pub mod search;
pub mod signal;
mod source;
mod space;
mod stack;
mod stack_fault;
mod stack_owners;
mod status;
mod tail_calls;
mod task;
mod thread;
mod tls;
mod types;
mod values;
mod variables;
mod vtable_cache;
mod what_type;
mod whatis;

pub use arch::{Aarch64FpRegisters, VectorRegister, VectorUse, X86FpRegisters, X87Register};
pub use code::AccessKind;
pub use file_space::FileSpace;
pub use found_contexts::{ContextShape, FoundContext};
pub use fp_registers::FpRegisters;
pub use groups::StackGroup;
pub use handled::TakenSignal;
pub use jump_buffer::JumpError;
pub use kcore_disasm::{Disassembler, Flow as CodeFlow, Instruction, Reference};
pub use kcore_elf::core_file::Instants;
pub use kcore_elf::{
    BuildId, Image, LinkMapEntry, SymbolBinding, SymbolKind,
    core_file::{AuxEntry, ProcessInfo, SignalDetail, SignalInfo},
};
pub use kcore_files::{
    CoreTarget, NewFile, OwnFileError, Progress, SourceText, check_own, is_packed, open_own,
    open_regular,
};
pub use kcore_live::{LiveError, Pid, SaveProgress, Saved, agent};
pub use kcore_mem::{
    Addr, AddrRange, AddressSpace, Allowance, Arch, Budget, CodeAddr, Cut, Endian, Fault, FileOff,
    Halt, Origin, Region, Resource, Svma, Target,
};
pub use kcore_profile as profile;
pub use kcore_runtimes::{
    Damage, Dialect, DyingStack, Ending, Fate, Finding, FrameKind, FrameOfLanguage, Host,
    HostModule, HostRange, Identity, LanguageFrame, Native, NativeStack, PROBES, Probe, Runtime,
    Runtimes, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, ScriptVariable,
    ScriptVariables, Span, TASK_PROBES, Task, TaskProbe, TaskStart, TextRest, ThreadFacts,
    VariableLimits,
};
pub use kcore_runtimes::{bthread, fiber, python, v8};
pub use kcore_symbols::{
    AliasKind, AliasType, ArrayType, BaseClass, BaseType, BitField, Composite, DebugInfo, DieId,
    Dimension, Encoding, Enumeration, Enumerator, Keyword, Language, Member, MemberPlace,
    PointerKind, PointerType, Sought, SymbolRef, SymbolSource, SymbolTable, Type, TypeError,
    TypeIdentity, TypeKind, TypeLink, TypeNode, demangle,
};
pub use kcore_unwind::in_place;
pub use kcore_unwind::{
    End, Frame, Machine, Phase, RegisterPart, Regs, RuleFrame, RuleStep, SavedContext, Trust,
    UserRegister, Walker,
};
pub use kcore_values::{
    Absent, Content, Elements, Entry, EnumNames, EnumValue, Field, FloatValue, Limits, Number,
    Object, ObjectError, OutOfBounds, PathEnd, PathError, PathPart, PathWalker, PathWords, Piece,
    PieceSource, Place, Pointee, Pointer, Process, SymbolName, Text, Value, VariantValue,
};
pub use last_words::{LastWords, Panic, PanicPlace};
pub use live::{
    CountedStack, HeldShare, LiveFacts, LiveOptions, Method, OwnProcess, OwnThread, ProfileChange,
    ProfileCost, ProfileOptions, ProfileProgress, SaveError, SaveWhat, SavedCore, ThreadChoice,
};
pub use location::{Location, SymbolAt};
pub use lookup::LookupError;
pub use mapping::{Mapping, MappingKind};
pub use missing_debug::MissingDebug;
pub use module::{FileState, Module};
pub use module_set::ModuleSet;
pub use named_frame::{NamedFrame, SharedLocation};
pub use open::{Core, OpenError, OpenOptions, Probes};
pub use process::{EnvironmentError, InitialStack, InitialString, aux_name};
pub use register::RegisterError;
pub use space::ProcessSpace;
pub use stack::{MAX_FRAMES, Stack};
pub use status::{HandledStatus, SignalStatus, Status};
pub use task::TaskId;
pub use thread::{Thread, Tid};
pub use tls::TlsError;
pub use types::{DataModel, SessionType, SessionTypes, TypeLookupError};
pub use variables::{FoundVariable, FrameVariable, KnownFrames, VariableKind};
pub use what_type::{Evidence, TypeGuess};
pub use whatis::What;
