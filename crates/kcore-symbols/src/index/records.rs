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
    /// A value of an enumeration.
    Enumerator,
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
    /// The number of its scope in the index, or one of the two below.
    pub scope: u32,
}

/// The scope of what lies in none.
pub const NO_SCOPE: u32 = u32::MAX;
/// The scope of what defines something elsewhere: only the entry tells.
pub const ASK_ENTRY: u32 = u32::MAX - 1;

/// A scope that names lie in: one entry of those that have its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeRecord {
    /// The number of the scope around it, or [`NO_SCOPE`].
    pub around: u32,
    /// The number of its unit.
    pub unit: u32,
    /// Where its entry begins there.
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
    pub const fn new(name: NameHash, what: What, unit: u32, offset: u32, scope: u32) -> Self {
        let kind = match what {
            What::Type => 0,
            What::Variable => 1,
            What::Function => 2,
            What::Enumerator => 3,
        };
        let unit = (unit & (DECLARATION - 1)) | (kind << KIND_SHIFT);
        Self { stem: name.stem, full: name.full, unit, offset, scope }
    }

    /// The order in which records are kept: by stem, and then by name and place.
    pub const fn order(&self) -> (u64, u64) {
        let name = (self.stem as u64) << 32 | self.full as u64;
        (name, (self.unit as u64) << 32 | self.offset as u64)
    }

    /// The same as bytes.
    pub fn to_bytes(self) -> [u8; 20] {
        let mut bytes = [0; 20];
        let parts = [self.stem, self.full, self.unit, self.offset, self.scope];
        for (place, part) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(parts) {
            *place = part.to_le_bytes();
        }
        bytes
    }

    /// What [`Record::to_bytes`] made.
    pub fn from_bytes(bytes: &[u8; 20]) -> Self {
        let mut parts = bytes.as_chunks::<4>().0.iter().copied().map(u32::from_le_bytes);
        let mut part = || parts.next().unwrap_or_default();
        Self { stem: part(), full: part(), unit: part(), offset: part(), scope: part() }
    }

    /// The same in another scope.
    pub const fn in_scope(self, scope: u32) -> Self {
        Self { scope, ..self }
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
            2 => What::Function,
            _ => What::Enumerator,
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
