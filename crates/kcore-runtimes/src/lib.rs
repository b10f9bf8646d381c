//! Language runtimes that are found in a process: what they add to its stacks, and what they know of
//! its memory.
//!
//! A [`Probe`] looks for one runtime in a [`Host`] and gives a [`Finding`] for each instance that the
//! process holds: absent is no finding, damaged says what cannot be decoded and why, and what was
//! found is a [`Runtime`]. [`PROBES`] lists them; [`Runtimes`] is what one process came to.
//!
//! A runtime has eleven duties, methods of [`Runtime`] that by default answer nothing:
//! *step* and *stop* ([`Runtime::step`]) lead the walker through code without unwind information;
//! *decode* ([`Runtime::decode`]) is given all native frames of a stack and returns [`Span`]s of
//! language frames; *locate* ([`Runtime::locate`]) names its machine code; *enumerate* and *seed* ([`Runtime::tasks`]) list stacks that belong to no thread;
//! *values* ([`Runtime::identify`]) say what an address is;
//! *variables* ([`Runtime::variables`]) those of a language frame; *objects* ([`Runtime::objects`]) are the heap, the same
//! for all ([`objects`], [`graph`]); *threads* ([`Runtime::thread`]) name
//! threads; *end* ([`Runtime::end`]) says what ended the process. What else a runtime knows, its own
//! dcmds ask it for by its type ([`Runtimes::of`]).
//!
//! This room reads memory and symbols through the host, opens no file, and formats nothing. A runtime is
//! one folder here and one line in [`PROBES`]. Where nothing is decoded of a runtime, an [`Anchor`] may still know the
//! way out of its code.

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::arithmetic_side_effects
    )
)]

mod anchor;
pub mod bthread;
pub mod coroutine;
mod ending;
pub mod erlang;
mod extents;
mod fcontext;
pub mod fiber;
pub mod go;
pub mod graph;
mod host;
pub mod java;
mod language_frame;
mod language_lock;
pub mod lua;
mod lua_text;
pub mod luajit;
mod mapped_script;
mod moved_host;
mod object_list;
pub mod objects;
pub mod perl;
pub mod php;
mod probe;
pub mod python;
pub mod reactor;
pub mod registered;
pub mod ruby;
mod runtime;
mod runtimes;
mod script_text;
mod script_value;
mod span;
mod stand_in;
mod task;
mod thread_stack;
pub mod tokio;
mod undecoded;
pub mod v8;
mod variables;

pub use anchor::{ANCHORS, Anchor, Anchors, FindAnchor};
pub use ending::{DyingStack, Ending, Fate};
pub use host::{Host, HostModule, HostRange};
pub use language_frame::{FrameKind, FramePlace, Generated, LanguageFrame};
pub use language_lock::{LanguageLock, LanguageLockKind, Sleeper};
pub use mapped_script::{MappedScript, SourceMapFile};
pub use moved_host::MovedHost;
pub use probe::{Damage, Finding, PROBES, Probe, TASK_PROBES, TaskProbe};
pub use runtime::{Identity, NativeStack, Runtime, ThreadFacts};
pub use runtimes::Runtimes;
pub use script_value::{
    Dialect, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest,
};
pub use span::{Native, Span};
pub use stand_in::StandIn;
pub use task::{Task, TaskStart};
pub use undecoded::Undecoded;
pub use variables::{FrameOfLanguage, ScriptVariable, ScriptVariables, VariableLimits};
