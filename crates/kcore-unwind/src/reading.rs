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
    /// The register that the frame pointer is in, where it is another one than the machine's usual.
    pub fp_register: Option<u16>,
    /// Registers that were saved, by their DWARF numbers.
    pub saved: Vec<(u16, i64)>,
    /// Whether the stack pointer became that of another stack: registers that are not known to be loaded from
    /// there are those of who left.
    pub switched: bool,
}

impl Reading {
    /// Whether both tell the same place of the CFA, and of what was saved.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let is_in = |saved: &(u16, i64), all: &[(u16, i64)]| all.contains(saved);
        (self.sp, self.fp, self.fp_register) == (other.sp, other.fp, other.fp_register)
            && self.saved.iter().all(|saved| is_in(saved, &other.saved))
            && other.saved.iter().all(|saved| is_in(saved, &self.saved))
    }

    /// Code that told nothing.
    pub const NOTHING: Self =
        Self { sp: None, fp: None, fp_register: None, saved: Vec::new(), switched: false };
}
