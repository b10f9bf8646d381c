//! What a user sets once and every command obeys.

use std::path::PathBuf;

use crate::Integers;

/// The settings of a session: `::set`, `$P`, `$w`, `$s`, `$G`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What stands before a line that a user types.
    pub prompt: String,
    /// Columns of a line where a user chose them; `None` follows the terminal.
    pub page_width: Option<usize>,
    /// Whether output on a terminal pauses after each screenful.
    pub pager: bool,
    /// Whether all output wraps at words, not only that of format letters.
    pub autowrap: bool,
    /// Whether ctrl-D on an empty line leaves the session running.
    pub ignore_eof: bool,
    /// Whether an empty line moves dot on and repeats the last pipeline.
    pub repeat_last: bool,
    /// Whether a runtime of an unknown version is decoded by the layouts of the nearest one.
    pub nearest_layouts: bool,
    /// Whether stacks are shown with the state of their thread (`--show-state`).
    pub show_state: bool,
    /// Whether stacks are shown with their stack pointer (`--show-rsp`).
    pub show_stack_pointer: bool,
    /// Whether stacks and `::status` show files and lines of source; MDB's forms have none.
    pub source_lines: bool,
    /// Whether integers of values are shown in decimal, with their signs.
    pub decimal: bool,
    /// Greatest distance from a symbol at which its name counts; 0 asks the symbol's size.
    pub symbol_distance: u64,
    /// Whether names of C++ and Rust are shown as their source has them.
    pub demangle: bool,
    /// Elements of an array that are shown; `None` is all.
    pub array_members: Option<u64>,
    /// Characters of an array of characters that are shown; `None` is all.
    pub array_characters: Option<u64>,
    /// Folders in which `$<name` looks for macro files.
    pub macro_path: Vec<PathBuf>,
    /// Folders whose files of printers are loaded when a value is shown first.
    pub printer_path: Vec<PathBuf>,
}

impl Settings {
    /// How integers of values are written where nobody says otherwise.
    pub const fn integers(&self) -> Integers {
        if self.decimal { Integers::Decimal } else { Integers::Natural }
    }
}

impl Default for Settings {
    /// Those of MDB.
    fn default() -> Self {
        Self {
            prompt: "> ".to_owned(),
            page_width: None,
            pager: true,
            autowrap: false,
            ignore_eof: false,
            repeat_last: false,
            nearest_layouts: false,
            show_state: false,
            show_stack_pointer: false,
            source_lines: false,
            decimal: false,
            symbol_distance: 0,
            demangle: true,
            array_members: Some(32),
            array_characters: Some(1024),
            macro_path: Vec::new(),
            printer_path: Vec::new(),
        }
    }
}
