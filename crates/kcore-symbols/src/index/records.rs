//! What the index keeps of each name.

use super::spelled::NameHash;

/// What a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A type.
    Type,
    /// A variable that lies at one place, or has one for each thread.
    Variable,
    /// A function.
    Function,
}

/// A name that stands in debug information, by where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// See [`NameHash::stem`].
    pub stem: u32,
    /// See [`NameHash::full`].
    pub full: u32,
    /// The number of the unit, and flags above it.
    unit: u32,
    /// Where the entry begins in its unit.
    pub offset: u32,
}

/// Bits of a unit's number.
const UNIT_BITS: u32 = 28;
/// Units that can be told apart.
pub const MAX_UNITS: usize = 1 << UNIT_BITS;
const DECLARATION: u32 = 1 << 28;
const BARE: u32 = 1 << 29;
const KIND_SHIFT: u32 = 30;

impl Record {
    /// A name of an entry in unit number `unit`.
    pub const fn new(name: NameHash, what: What, unit: u32, offset: u32) -> Self {
        let kind = match what {
            What::Type => 0,
            What::Variable => 1,
            What::Function => 2,
        };
        let unit = (unit & (DECLARATION - 1)) | (kind << KIND_SHIFT);
        Self { stem: name.stem, full: name.full, unit, offset }
    }

    /// The same, and the entry only announces what is defined elsewhere.
    pub const fn declared(mut self, is_declaration: bool) -> Self {
        if is_declaration {
            self.unit |= DECLARATION;
        }
        self
    }

    /// The entry has template arguments that its name may lack (`clang -gsimple-template-names`).
    pub const fn set_bare(&mut self) {
        self.unit |= BARE;
    }

    /// What the name belongs to.
    pub const fn what(&self) -> What {
        match self.unit >> KIND_SHIFT {
            0 => What::Type,
            1 => What::Variable,
            _ => What::Function,
        }
    }

    /// Whether the entry only announces what is defined elsewhere.
    pub const fn is_declaration(&self) -> bool {
        self.unit & DECLARATION != 0
    }

    /// See [`Record::set_bare`].
    pub const fn is_bare(&self) -> bool {
        self.unit & BARE != 0
    }

    /// The number of its unit.
    pub const fn unit(&self) -> u32 {
        self.unit & (DECLARATION - 1)
    }
}
