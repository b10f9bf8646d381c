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

    /// Whether the code deltas of source positions are coded without a sign: since V8 14.
    pub fn has_unsigned_positions(&self) -> bool {
        self.column.is_since(14, 1)
    }

    /// Where a frame that called the embedder holds the function and the receiver, from its frame
    /// pointer: `ApiCallbackExitFrameConstants` in `src/execution/frame-constants.h`.
    pub fn api_exit(&self) -> (i64, i64) {
        match self.column {
            column if column.is_since(14, 6) => (40, 48),
            column if column.is_since(13, 6) => (48, 64),
            _ => (16, 88),
        }
    }

    /// Whether the frames that an error carries lie flat in an array: since V8 14.6.
    pub fn has_flat_call_sites(&self) -> bool {
        self.column.is_since(14, 6)
    }

    /// Whether the value of a date is a bare double: since V8 13.
    pub fn has_bare_dates(&self) -> bool {
        self.column.is_since(13, 6)
    }
}
