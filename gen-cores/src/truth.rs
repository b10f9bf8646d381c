//! The truth of a core: what its threads were doing, as the program itself told it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::AtPath;
use crate::{Arch, Error, Language, Maker, Result};

/// The number in `schema`; it grows when a key changes its meaning.
pub const SCHEMA: u32 = 1;

/// Everything that is true of a core. Absent facts are `None`: not known, so not to be tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Version of the layout of this file.
    pub schema: u32,
    /// The scenario.
    pub scenario: String,
    /// The variant.
    pub variant: String,
    /// What the scenario shows.
    pub shows: String,
    /// The program's language.
    pub language: Language,
    /// Who wrote the core.
    pub maker: Maker,
    /// The program's architecture.
    pub arch: Arch,
    /// The folder in which the libraries lie that the core names, if they are not where it says.
    pub sysroot: Option<String>,
    /// Whether the C library is a part of the executable, so that its frames have the program's module.
    #[serde(rename = "static")]
    pub is_static: bool,
    /// Process id.
    pub pid: u32,
    /// Arguments, the program's name first.
    pub argv: Vec<String>,
    /// An entry of the environment, `NAME=value`.
    pub env: String,
    /// The thread that died, or that took the signal of a process that was killed.
    pub crashed_tid: Option<u32>,
    /// Facts of the process.
    #[serde(flatten)]
    pub facts: Facts,
    /// The threads, in the order in which they joined the account.
    pub threads: Vec<Thread>,
}

/// Facts of a process that a recipe or the program states.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Name of the signal, `SIGSEGV`.
    pub signal: Option<String>,
    /// Name of the signal's code, `SEGV_MAPERR`.
    pub code: Option<String>,
    /// Address that faulted, `0x…`.
    pub fault_address: Option<String>,
    /// `read`, `write` or `execute`.
    pub access: Option<String>,
    /// What the C library keeps of an abort or a failed assertion, without the newline at its end.
    pub abort_message: Option<String>,
    /// Type of the uncaught exception.
    pub exception_type: Option<String>,
    /// What its `what()` says.
    pub exception_what: Option<String>,
    /// Message of the panic.
    pub panic_message: Option<String>,
    /// Where it came about, as `FILE:LINE:COLUMN`, and the name of its thread.
    pub panic_place: Option<String>,
    /// See `panic_place`.
    pub panic_thread: Option<String>,
    /// Name of the first signal of which a handler was told, where another one ended the process.
    pub first_signal: Option<String>,
    /// Address that faulted then, `0x…`.
    pub first_address: Option<String>,
    /// How many threads the core has.
    pub thread_count: Option<u32>,
    /// Whether the core may hold threads that are not in `threads`.
    pub open_threads: Option<bool>,
    /// Words for what makes answers doubtful: `library_deleted`, `library_replaced`, `headers_left_out`.
    pub doubts: Option<Vec<String>>,
}

/// One thread's true stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// LWP id.
    pub tid: u32,
    /// What the thread is for; several may share a role.
    pub role: String,
    /// Whether this one died.
    pub crashed: bool,
    /// Frames and gaps, innermost first.
    pub frames: Vec<Frame>,
    /// Of a program that a runtime runs: the functions that wait for this stack's result but are not on
    /// it, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaits: Vec<Call>,
    /// The honest end.
    pub end: End,
}

/// How a stack ends when it is told honestly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// At the first function of the thread.
    Outermost,
    /// Where the stack is damaged: no frame may follow the listed ones.
    Honest,
}

/// A frame, or a gap between frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Frame {
    /// Zero or more frames that are not the program's own.
    Gap {
        /// Whose they are: `libc`, `start`, `signal`, `plt`, `ld`, `vdso`, `libstdc++`, `std`, `runtime`,
        /// `any`.
        gap: String,
    },
    /// One frame of the program.
    Call(Call),
}

/// One frame of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Demangled, without parameters; `None` if the pc is in no function, then `pc` is there.
    pub function: Option<String>,
    /// How the name is to be compared.
    #[serde(rename = "match", default)]
    pub matching: Match,
    /// Name of the source file, without folders.
    #[serde(default)]
    pub file: Option<String>,
    /// Line of the call, or of the statement that died.
    #[serde(default)]
    pub line: Option<u32>,
    /// Whether the call is inlined.
    #[serde(default)]
    pub inline: Option<bool>,
    /// File name of the module, if it is not the executable.
    #[serde(default)]
    pub module: Option<String>,
    /// The pc, `0x…`.
    #[serde(default)]
    pub pc: Option<String>,
    /// How often the frame stands there in a row.
    #[serde(default = "once")]
    pub repeat: u32,
    /// By how much `repeat` may be off.
    #[serde(default)]
    pub slack: u32,
    /// What else is to be known.
    #[serde(default)]
    pub mark: Option<Mark>,
    /// What only a runtime knows, of a function that it runs.
    #[serde(flatten)]
    pub scripted: Box<Scripted>,
}

/// What a runtime knows of a call of a function that it runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scripted {
    /// Column of the call, from 1, in UTF-16 units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The script with its folders, as the runtime names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The frame as the runtime itself prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// The name of the receiver's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The name of the receiver's property that holds the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// `constructor`, `native`, `eval`, `toplevel`, `async`, `promise_all`, `builtin`, `wasm`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// What runs the function: `interpreter`, `baseline`, `maglev`, `turbofan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The receiver, as values are described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub this: Option<serde_json::Value>,
    /// The arguments, all that were passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<serde_json::Value>>,
    /// Of Python, the local variables by name, as `repr` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locals: Option<std::collections::BTreeMap<String, String>>,
}

fn once() -> u32 {
    1
}

/// How a function's name is to be compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// Byte for byte.
    Exact,
    /// The shown name begins with it.
    Prefix,
    /// The shown name holds it.
    Contains,
    /// Equal after return type, parameters, clone suffixes and hashes are taken off.
    #[default]
    Demangled,
}

/// What a test has to know about a frame beyond its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// May be shown or not.
    Optional,
    /// Left by a tail call: not on the stack, shown only by who reconstructs such frames.
    TailCall,
    /// Its module's file is gone: name and line may be lost, and callers are reached by guesses.
    Deleted,
    /// Another build lies where its module's file was; nothing of that may be shown.
    Replaced,
}

impl Truth {
    /// Reads a `truth.json`.
    ///
    /// # Errors
    /// The file cannot be read or has another layout.
    pub fn load(path: &Path) -> Result<Truth> {
        let text = std::fs::read_to_string(path).at(path)?;
        serde_json::from_str(&text)
            .map_err(|error| Error::Truth { path: path.to_owned(), reason: error.to_string() })
    }

    /// Writes a `truth.json`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::Truth { path: path.to_owned(), reason: error.to_string() })?;
        std::fs::write(path, text + "\n").at(path)
    }

    /// The thread that died.
    pub fn crashed(&self) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.crashed)
    }

    /// The thread with this id.
    pub fn thread(&self, tid: u32) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.tid == tid)
    }
}

impl Thread {
    /// The frames without the gaps.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.frames.iter().filter_map(|frame| match frame {
            Frame::Call(call) => Some(call),
            Frame::Gap { .. } => None,
        })
    }
}

impl Facts {
    /// These facts with those of `over` in their place where it has any.
    pub fn merged(&self, over: &Facts) -> Facts {
        let (a, b) = (self.clone(), over.clone());
        Facts {
            signal: b.signal.or(a.signal),
            code: b.code.or(a.code),
            fault_address: b.fault_address.or(a.fault_address),
            access: b.access.or(a.access),
            abort_message: b.abort_message.or(a.abort_message),
            exception_type: b.exception_type.or(a.exception_type),
            exception_what: b.exception_what.or(a.exception_what),
            panic_message: b.panic_message.or(a.panic_message),
            panic_place: b.panic_place.or(a.panic_place),
            panic_thread: b.panic_thread.or(a.panic_thread),
            first_signal: b.first_signal.or(a.first_signal),
            first_address: b.first_address.or(a.first_address),
            thread_count: b.thread_count.or(a.thread_count),
            open_threads: b.open_threads.or(a.open_threads),
            doubts: b.doubts.or(a.doubts),
        }
    }

    /// Forgets what a core tells only in NT_SIGINFO.
    pub(crate) fn forget_details_of_signal(&mut self) {
        (self.code, self.fault_address, self.access) = (None, None, None);
    }

    /// Forgets the fact of this name; `false` if there is no such fact.
    pub fn unset(&mut self, name: &str) -> bool {
        match name {
            "signal" => self.signal = None,
            "code" => self.code = None,
            "fault_address" => self.fault_address = None,
            "access" => self.access = None,
            "abort_message" => self.abort_message = None,
            "exception_type" => self.exception_type = None,
            "exception_what" => self.exception_what = None,
            "panic_message" => self.panic_message = None,
            "panic_place" => self.panic_place = None,
            "panic_thread" => self.panic_thread = None,
            "first_signal" => self.first_signal = None,
            "first_address" => self.first_address = None,
            "doubts" => self.doubts = None,
            _ => return false,
        }
        true
    }
}
