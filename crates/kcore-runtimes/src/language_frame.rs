//! A frame of a language.

use std::sync::Arc;

use kcore_mem::Addr;

/// What kind of frame it is, in the words of the JSON records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum FrameKind {
    /// Machine code of a compiler that ran ahead of time.
    #[default]
    Native,
    /// Code to which a signal handler returns, or by which a runtime enters and leaves its own.
    Trampoline,
    /// JavaScript.
    Js,
    /// WebAssembly.
    Wasm,
    /// Python.
    Python,
    /// Java and what else runs on its virtual machine.
    Java,
    /// Go.
    Go,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// Perl.
    Perl,
    /// Erlang and Elixir.
    Beam,
    /// A function that waits for another, and is on no stack.
    Async,
    /// Another language, by the word for it in output: that of a runtime which a program adds.
    Other(&'static str),
}

impl FrameKind {
    /// Whether it is machine code of a compiler that ran ahead of time: it has symbols, and variables where debug
    /// information tells of them.
    pub const fn is_machine_code(self) -> bool {
        matches!(self, Self::Native | Self::Go)
    }

    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Trampoline => "trampoline",
            Self::Js => "js",
            Self::Wasm => "wasm",
            Self::Python => "python",
            Self::Java => "java",
            Self::Go => "go",
            Self::Ruby => "ruby",
            Self::Php => "php",
            Self::Lua => "lua",
            Self::Perl => "perl",
            Self::Beam => "beam",
            Self::Async => "async",
            Self::Other(word) => word,
        }
    }
}

/// Where a frame is in what a compiler or bundler made of its source: all that the runtime itself knows of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Generated {
    /// The name of the function there.
    pub function: Option<Arc<str>>,
    /// The file.
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
}

/// The name and place of a frame: in the script that ran, or in the source that a map tells of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FramePlace<'a> {
    /// The name of the function.
    pub function: Option<&'a str>,
    /// The file.
    pub file: Option<&'a str>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
}

impl Generated {
    /// The same, borrowed.
    pub fn place(&self) -> FramePlace<'_> {
        let (function, file) = (self.function.as_deref(), self.file.as_deref());
        FramePlace { function, file, line: self.line, column: self.column }
    }
}

/// A frame of a language, as its runtime knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LanguageFrame {
    /// Of which language.
    pub kind: FrameKind,
    /// The name of the function as the runtime itself would print it; `None` when it is not known.
    pub function: Option<Arc<str>>,
    /// What holds the code in place of a module (`node:fs`, a package, a class), where that is more
    /// than the file.
    pub module: Option<Arc<str>>,
    /// Source file, as the runtime knows it; or as a source map has it, and then function, line and column are those of
    /// the source as well.
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// Source language, as in JSON.
    pub language: Option<&'static str>,
    /// Whether it has no frame of its own: it runs in that of the next frame outwards.
    pub inline: bool,
    /// The index of the instruction among those of the function, in a language of bytecodes where that is known.
    pub bytecode: Option<u32>,
    /// How the code is run, in the runtime's word, where it has several ways: `interpreted`, `C2`.
    pub tier: Option<&'static str>,
    /// The runtime's own frame or function object, for its dcmds.
    pub object: Option<Addr>,
    /// Why something is not known, in few words: `its code was not dumped`.
    pub doubt: Option<Arc<str>>,
    /// Where a source map tells of it, what the runtime knows.
    pub generated: Option<Arc<Generated>>,
    /// Why a source map of its script is not used: it is told with one frame of a stack.
    pub map_refused: Option<Arc<str>>,
}

impl LanguageFrame {
    /// The name and place as the runtime knows them, whatever a source map says.
    pub fn place_in_script(&self) -> FramePlace<'_> {
        self.generated.as_ref().map_or_else(|| self.place(), |generated| generated.place())
    }

    /// The name and place in the source that a source map tells of.
    pub fn original_place(&self) -> Option<FramePlace<'_>> {
        self.generated.as_ref().map(|_| self.place())
    }

    fn place(&self) -> FramePlace<'_> {
        let (function, file) = (self.function.as_deref(), self.file.as_deref());
        FramePlace { function, file, line: self.line, column: self.column }
    }
}
