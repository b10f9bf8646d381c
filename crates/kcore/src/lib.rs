//! Open a Linux core and ask it questions.
//!
//! A [`Core`] is a process as it was when the core was written. What it was opened on never changes, and threads may
//! share it. Files, symbols and unwind tables are found when an answer first needs them, and kept. The crate knows no
//! command and no format of output: it answers with values, and with the reason where there is none.
//!
//! # A tour
//!
//! [`OpenOptions`] say what to open and where to look for its files. A compressed core opens as it is.
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/nodes/x86_64/core.zst");
//! use kcore::{Core, Limits, MAX_FRAMES, OpenOptions, Trust};
//!
//! let core = Core::open(&OpenOptions::of_core(path))?;
//!
//! // What died, and why.
//! let status = core.status();
//! let signal = status.signal.expect("a core of a process that crashed");
//! assert_eq!((&signal.name[..], signal.code), ("SIGSEGV", Some("SEGV_MAPERR")));
//!
//! // A stack has frames and an end, and never an error: its good half is worth having.
//! let thread = core.crashed_thread().expect("it was a thread");
//! let stack = core.stacks().of_thread(thread.tid, MAX_FRAMES);
//! let names: Vec<_> = core.stacks().named_frames(&stack).map(|it| it.location.function.clone()).collect();
//! assert_eq!(names[1].as_deref(), Some("serve"));
//!
//! // Each frame says what found it. Anything behind a guess is a guess.
//! assert_eq!(stack.frames[1].trust, Trust::Cfi);
//!
//! // A variable is a type at a place. It is read when its value is asked for, within limits.
//! let tree = core.variables().find(None, None, "root")?.object()?;
//! let left = tree.member(&core, "left")?.target(&core)?;
//! assert_eq!(left.member(&core, "key")?.value(&core, &Limits::default()).to_string(), "2");
//!
//! // Memory that is not there is an answer too, and says why.
//! let fault = core.space().read_word(signal.address.expect("the address that faulted"));
//! assert_eq!(fault.unwrap_err().to_string(), "no mapping for address 10");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - **Stacks.** [`StackView::groups`] walks all threads in parallel, and tells of each stack once.
//!   [`StackView::named_frames`] has inlined calls and the frames of languages in their places.
//! - **Memory.** [`Core::space`] is an [`AddressSpace`]. It tells bytes that were not dumped from addresses that were
//!   not mapped, and knows the [`Origin`] of each byte.
//! - **Symbols and types.** [`SymbolView::at`], [`SymbolView::lookup`], [`Core::types`] and
//!   [`VariableView::find`] ask all modules, or one.
//! - **Runtimes.** [`Core::runtimes`] has the language runtimes of the process. [`Runtimes::of`] gives one by its type,
//!   such as [`v8::V8`] or [`python::Python`], with its objects.
//! - **Live processes.** [`LiveProcess::snapshot`] stops a process for a moment and answers as for a core.
//!
//! A program may add [`Probes`] for runtimes that kcore does not know, and a [`FilePlace`] where files are found.
//!
//! The folder `examples` has a small program for each: all stacks, a variable, the objects of a runtime, a place for
//! files, and a probe. `api.txt` beside it lists all public names with their signatures.
//!
//! # Features
//!
//! All but `debuginfod` and `minidump` are on by default. A program that takes kcore with `default-features = false` names those that it needs:
//!
//! - `compression` unpacks cores that are packed with zstd, gzip, xz, LZ4 or bzip2, and packs those that are saved.
//!   Without it, a packed core is refused: [`FilesError::NoCompression`].
//! - `zstd-sections` reads debug information whose sections are compressed with zstd; `compression` includes it.
//!   Without it, [`Core::doubts`] names each such section that was needed. Sections that are compressed with zlib need
//!   no feature.
//! - `debuginfod` has a place for files that fetches them from servers. It is not on by default, and asks nobody unless a
//!   program adds it to [`OpenOptions::places`].
//! - `minidump` opens minidumps of Breakpad and Crashpad. It is not on by default.
//! - `disassembly` has [`Disassembler`] and [`references`]. Without it, an explanation does not say whether an
//!   instruction read or wrote, and a handled signal that only its instruction proves is not found.
//! - `live` stops processes, takes their snapshots and [profiles](profile), saves them, and looks at the own process
//!   ([`OwnProcess`]). A core that was saved from a live process needs no feature.

#![warn(clippy::unwrap_used, clippy::expect_used)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod analysis;
mod arch;
mod bundle;
mod by_file;
mod check;
mod code;
mod code_scope;
mod contexts;
mod crash_site;
mod debug_context;
mod doubt;
mod doubts;
pub mod errno;
mod executable;
mod explain;
mod file_space;
mod found_contexts;
mod fp_registers;
mod go_stacks;
mod groups;
mod handled;
mod heap_dump;
mod jump_buffer;
pub mod last_words;
#[cfg(feature = "live")]
mod live;
mod location;
mod location_cache;
mod lookup;
mod lost;
mod made_names;
mod mapping;
mod missing_debug;
mod missing_files;
mod module;
mod module_cfi;
mod module_set;
mod moved_stack;
mod named_frame;
#[cfg(feature = "disassembly")]
mod named_pointer;
pub mod native_heap;
mod native_host;
mod open;
mod own_code;
mod own_stack;
mod pace;
mod prefetch;
mod process;
mod process_code;
#[cfg(feature = "disassembly")]
pub mod references;
mod refused_access;
mod regions;
mod register;
mod runtimes;
mod rust_vtables;
pub mod search;
pub mod signal;
mod snapshot;
mod source;
mod source_maps;
mod space;
mod stack;
mod stack_fault;
mod stack_owners;
mod status;
pub mod system_call;
mod tail_calls;
mod task;
mod thread;
mod tls;
mod types;
mod values;
mod variables;
mod vtable_cache;
pub mod waits;
#[cfg(feature = "live")]
pub mod watch;
mod what_type;
mod whatis;

pub use arch::{
    Aarch64FpRegisters, PlainFpRegister, ScalableRegisters, VectorRegister, VectorUse,
    X86FpRegisters, X87Register,
};
pub use bundle::{BundleContents, BundleOptions, BundleView};
pub use check::{CoreCheck, HurtThread};
pub use code_scope::{CodeScope, NameSource, ScopeFrame};
pub use contexts::Contexts;
pub use crash_site::{CrashSite, CrashView};
pub use doubt::{Doubt, DoubtKind};
pub use file_space::FileSpace;
pub use found_contexts::{ContextShape, FoundContext};
pub use fp_registers::FpRegisters;
pub use groups::StackGroup;
pub use handled::TakenSignal;
pub use jump_buffer::JumpError;
#[cfg(feature = "disassembly")]
pub use kcore_disasm::{
    Disassembler, Flow as CodeFlow, Instruction, Reference, Unsupported as NoDisassembler,
};
pub use kcore_elf::core_file::Instants;
pub use kcore_elf::{
    ArmCode, BuildId, CoreFile, Image, LinkMapEntry, PageReads, ParseError, SymbolBinding,
    SymbolKind,
    core_file::{AuxEntry, ProcessInfo, SignalDetail, SignalInfo},
};
pub use kcore_files::bundle::{BUNDLE_MAGIC, is_bundle};
#[cfg(feature = "debuginfod")]
pub use kcore_files::debuginfod;
pub use kcore_files::{
    CoreTarget, FilePlace, FileUse, FilesError, NewFile, OwnFileError, Progress, SearchResult,
    SearchedPlace, SourceText, Tried, WantedFile, Why as NotTaken, check_layer, check_own,
    is_minidump, is_packed, is_stream, open_own, open_regular,
};
#[cfg(feature = "live")]
pub use kcore_live::{
    Caught, Event, Happening, LiveError, Pid, SaveProgress, Saved, agent, can_filter_calls,
};
pub use kcore_mem::{
    AccessKind, Addr, AddrRange, AddressSpace, Allowance, Arch, Budget, CodeAddr, Cut, Endian,
    Fault, FileOff, Halt, Origin, Region, Resource, Svma, Target,
};
#[cfg(feature = "live")]
pub use kcore_profile as profile;
pub use kcore_runtimes::{
    Damage, Dialect, DyingStack, Ending, Fate, Finding, FrameKind, FrameOfLanguage, FramePlace,
    Generated, Host, HostModule, HostRange, Identity, LanguageFrame, MappedScript, Native,
    NativeStack, PROBES, Probe, Runtime, Runtimes, ScriptLabel, ScriptNode, ScriptPart,
    ScriptParts, ScriptScalar, ScriptVariable, ScriptVariables, SourceMapFile, Span, TASK_PROBES,
    Task, TaskProbe, TaskStart, TextRest, ThreadFacts, Undecoded, VariableLimits,
};
pub use kcore_runtimes::{
    bthread, coroutine, erlang, fiber, go, graph, java, objects, python, reactor, ruby, tokio, v8,
};
pub use kcore_symbols::{
    AliasKind, AliasType, ArrayBound, ArrayLayout, ArrayPresence, ArrayType, BaseClass, BaseType,
    BitField, Composite, DebugInfo, DieId, Dimension, Encoding, Enumeration, Enumerator,
    FoundEnumerator, FunctionType, Keyword, Language, Member, MemberPlace, PointerKind,
    PointerType, SoughtName, SymbolRef, SymbolSource, SymbolTable, Type, TypeError, TypeIdentity,
    TypeKind, TypeLink, TypeNode, demangle,
};
pub use kcore_unwind::in_place;
pub use kcore_unwind::{
    End, Frame, KnownRegs, Machine, Phase, RegisterPart, Regs, RuleFrame, RuleStep, SavedContext,
    Trust, UserRegister, Walker,
};
pub use kcore_values::expression;
pub use kcore_values::{
    Absent, CivilDay, Content, CustomAction, CustomStep, CustomSteps, DcmdAction, DcmdAddress,
    DcmdArgument, DcmdColumn, DeclaredDcmd, DeclaredPrinter, DeclaredPrinters, DeclaredWalk,
    DeclaredWalker, Elements, Entry, EnumNames, EnumValue, Field, FloatValue, HeldExpressions,
    Limits, Meant, NamedExpression, Number, Object, ObjectError, ObjectPlace, OutOfBounds, PathEnd,
    PathError, PathPart, PathWalker, PathWords, Piece, PieceSource, Pointee, Pointer,
    PrinterExpression, PrinterFile, PrinterFileError, PrinterShape, Process, SymbolName, Text,
    TypePattern, Value, VariantValue, WalkElement, WalkSteps, WalkTrouble, WordTemplate,
    holds_for_element, over_element,
};
pub use last_words::{LastWords, Panic, PanicPlace};
#[cfg(feature = "live")]
pub use live::{
    CountedStack, HeldShare, LiveMoment, LiveOptions, LiveProcess, Method, OwnProcess, OwnThread,
    ProcessCost, ProcessesCost, ProfileChange, ProfileCost, ProfileOptions, ProfileProgress,
    ProfileWindow, ProfileWindows, RefusedProcess, SaveError, SaveWhat, SavedCore, ThreadChoice,
};
pub use location::{Location, SymbolAt};
pub use lookup::{LookupError, SymbolView};
pub use mapping::{Mapping, MappingKind};
pub use missing_debug::MissingDebug;
pub use missing_files::{FileView, MissingFile, MissingUse};
pub use module::{FileState, Module};
pub use module_set::ModuleSet;
pub use named_frame::{NamedFrame, SharedLocation};
pub use open::{Core, OpenError, OpenOptions, Probes};
pub use process::{EnvironmentError, InitialStack, InitialString, ProcessView, aux_name};
pub use register::{RegisterError, RegisterView};
pub use snapshot::{LiveFacts, SnapshotView};
pub use source::SourceError;
pub use space::ProcessSpace;
pub use stack::{MAX_FRAMES, Stack, StackView};
pub use status::{HandledStatus, SignalStatus, Status};
pub use task::{TaskId, TaskView};
pub use thread::{Thread, Tid};
pub use tls::{Tls, TlsError};
pub use types::{DataModel, SessionType, SessionTypes, TypeLookupError, Types};
pub use variables::{
    FoundVariable, FrameVariable, KnownFrames, ThreadVariable, VariableKind, VariableView,
};
pub use waits::Waits;
pub use what_type::{Evidence, TypeGuess};
pub use whatis::{MemoryView, What};
