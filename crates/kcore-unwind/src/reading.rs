//! What instructions tell of a place in the code: where things lie relative to the CFA.

/// Bytes from the start of a function to a place that is read, at most.
pub const MAX_CODE: u64 = 64 << 10;

/// One way to read the code up to a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The stack pointer, if the code tells.
    pub sp: Option<i64>,
    /// The frame pointer, if it was set from the stack pointer.
    pub fp: Option<i64>,
    /// Registers that were saved, by their DWARF numbers.
    pub saved: Vec<(u16, i64)>,
    /// Whether the stack pointer became that of another stack: registers that are not known to be loaded from
    /// there are those of who left.
    pub switched: bool,
}
