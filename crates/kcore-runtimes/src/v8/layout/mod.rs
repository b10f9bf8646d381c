//! Where things lie in V8's objects, by version.
//!
//! What V8 exports for debuggers counts first: the constants `v8dbg_*`, which
//! `tools/gen-postmortem-metadata.py` writes. For what they do not have there are tables with a column
//! a version.

mod bytecodes;
mod frames;
mod heap_types;
mod offsets;
mod table;
mod translations;
mod types;

pub use bytecodes::bytecode_sizes;
pub use frames::FrameTypes;
pub use heap_types::HeapTypes;
pub use offsets::Offsets;
pub use table::{Column, Metadata};
pub use translations::{Command, commands};
pub use types::Types;

impl Types {
    /// Whether a type may be that of a hash table: these stand behind FixedArrays, as what they derive from.
    pub const fn is_hash_table(&self, kind: u64) -> bool {
        kind > self.fixed_array && kind < self.byte_array
    }

    /// Integers of any length: the type before that of numbers, which metadata never has.
    pub const fn bigint(&self) -> u64 {
        self.heap_number.saturating_sub(1)
    }

    /// Generators: the type before that of async functions, which metadata never has.
    pub const fn generator(&self) -> u64 {
        self.async_function.saturating_sub(1)
    }
}

/// How a step of source positions says what it is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionCoding {
    /// Statements step forward, expressions by the complement.
    Sign,
    /// In the lowest two bits.
    TwoFlags,
    /// In the lowest three bits, of which the last says that the position is no step but whole.
    ThreeFlags,
}

/// All layouts of one version.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Whose tables they are.
    pub column: Column,
    /// Instance types.
    pub types: Types,
    /// Instance types of V8's own objects.
    pub heap: HeapTypes,
    /// Types of frames.
    pub frames: FrameTypes,
    /// Offsets.
    pub offsets: Offsets,
}

impl Layout {
    /// What metadata says, and for the rest what is in a column of the tables.
    pub fn load(column: Column, metadata: Metadata<'_>) -> Self {
        Self {
            column,
            types: Types::load(column, metadata),
            heap: HeapTypes::load(column, metadata),
            frames: FrameTypes::load(column, metadata),
            offsets: Offsets::load(column, metadata),
        }
    }

    /// Whether the argument count in a frame counts the receiver: since V8 9.5.
    pub fn counts_receiver(&self) -> bool {
        self.column.is_since(10, 2)
    }

    /// Whether machine code is apart from the `Code` that describes it: since V8 11.
    pub fn has_instruction_streams(&self) -> bool {
        self.column.is_since(11, 3)
    }

    /// Whether flags and positions of a ScopeInfo lie in front, the flags untagged: since V8 13.
    pub fn has_flat_scope_info(&self) -> bool {
        self.column.is_since(13, 6)
    }

    /// How the steps of source positions are coded, `EncodeEntry` in `src/codegen/source-position-table.cc`.
    pub fn position_coding(&self) -> PositionCoding {
        match self.column {
            column if column.is_since(14, 9) => PositionCoding::ThreeFlags,
            column if column.is_since(13, 7) => PositionCoding::TwoFlags,
            _ => PositionCoding::Sign,
        }
    }

    /// Whether the lengths of arrays are numbers of 4 bytes and no Smis: since V8 14.9. Those of contexts and of bytecode
    /// are Smis still, and so are those of the embedder's data.
    pub fn has_bare_length(&self, kind: u64) -> bool {
        let types = &self.types;
        let is_context = (types.first_context..=types.last_context).contains(&kind);
        let keeps_smi =
            is_context || [types.bytecode_array, self.heap.embedder_data_array].contains(&kind);
        self.column.is_since(14, 9) && !keeps_smi
    }

    /// Whether the details of a property say which word of which object is its field: since V8 14.7.
    pub fn has_field_words(&self) -> bool {
        self.column.is_since(14, 7)
    }

    /// Whether what is kept of calls in code of TurboFan is coded as steps: since V8 14.7.
    pub fn has_stepped_safepoints(&self) -> bool {
        self.column.is_since(14, 7)
    }

    /// The flag of a ScopeInfo that nothing is in, `ScopeFlags` in `src/objects/scope-info.tq`; 0 where none is marked so.
    pub fn empty_scope(&self) -> u64 {
        match self.column {
            column if column.is_since(14, 9) => 0,
            column if column.is_since(13, 7) => 1 << 29,
            _ => 1 << 28,
        }
    }

    /// The number of module scopes, `ScopeType` in `src/common/globals.h`.
    pub fn module_scope(&self) -> u64 {
        match self.column {
            column if column.is_since(13, 6) && !column.is_since(14, 9) => 5,
            _ => 3,
        }
    }

    /// How many types of functions there are: those of class constructors are the last.
    pub fn function_types(&self) -> u64 {
        match self.column {
            column if column.is_since(14, 9) => 18,
            column if column.is_since(12, 4) => 17,
            _ => 16,
        }
    }

    /// Where a frame that called the embedder holds the function and the receiver, from its frame
    /// pointer: `ApiCallbackExitFrameConstants` in `src/execution/frame-constants.h`.
    pub fn api_exit(&self) -> (i64, i64) {
        match self.column {
            column if column.is_since(14, 5) => (40, 48),
            column if column.is_since(13, 6) => (48, 64),
            _ => (16, 88),
        }
    }

    /// Where a frame that called a builtin in C++ holds the receiver, from its frame pointer: a word of padding lies before
    /// it up to V8 14.2. `BuiltinExitFrameConstants`
    pub fn builtin_exit_receiver(&self) -> i64 {
        if self.column.is_since(14, 5) { 40 } else { 48 }
    }

    /// Whether the heap as a whole is known: how its pages are described, and how long all of V8's own objects are. That was
    /// held against V8's own counts for the versions of Node.js.
    pub fn has_known_pages(&self) -> bool {
        self.column.is_of_node()
    }

    /// Whether the frames that an error carries lie flat in an array: since V8 14.6.
    pub fn has_flat_call_sites(&self) -> bool {
        self.column.is_since(14, 6)
    }

    /// How many digits a BigInt has, by the number before them: `LengthBits` in `src/objects/bigint.h`.
    pub fn bigint_digits(&self, header: u64) -> u64 {
        if self.column.is_since(14, 9) { header >> 8 } else { (header >> 1) & 0x3fff_ffff }
    }

    /// Whether the source of a regular expression is with what it was compiled to: since V8 14.9.
    pub fn has_bare_regexps(&self) -> bool {
        self.column.is_since(14, 9)
    }

    /// Whether the value of a date is a bare double: since V8 13.
    pub fn has_bare_dates(&self) -> bool {
        self.column.is_since(13, 6)
    }
}
