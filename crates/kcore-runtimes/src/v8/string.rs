//! Strings of all representations.
//!
//! `src/objects/string.tq` and `instance-type.h`: the lowest three bits of the instance type say how a
//! string is held, the fourth whether its units are one byte wide. One-byte strings are Latin-1.

use kcore_mem::Addr;

use super::{Heap, heap::Object, value::Text};

/// Strings that a string is put together from, at most.
const MAX_PIECES: usize = 1 << 20;
/// Strings that are a part of another, or became another, which lead from one to the next, at most: V8 makes no
/// more than two.
const MAX_HOPS: u8 = 8;

const REPRESENTATION: u64 = 7;
const ONE_BYTE: u64 = 8;
/// Internalized strings do not have it.
const NOT_INTERNALIZED: u64 = 32;
/// An external string whose data pointer is not held in the string.
const UNCACHED: u64 = 16;

const LENGTH: u64 = 12;
const CHARS: u64 = 16;
/// First part, parent, what it became, or the resource.
const FIRST: u64 = 16;
/// Second part, offset in the parent, or the data of the resource.
const SECOND: u64 = 24;

/// How a string is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Representation {
    /// Its units follow it.
    Sequential,
    /// Two strings, one behind the other.
    Cons,
    /// Its units are the embedder's.
    External,
    /// A part of another string.
    Sliced,
    /// It became another string.
    Thin,
}

impl Representation {
    /// That of an instance type.
    pub const fn of(kind: u64) -> Option<Self> {
        Some(match kind & REPRESENTATION {
            0 => Self::Sequential,
            1 => Self::Cons,
            2 => Self::External,
            3 => Self::Sliced,
            5 => Self::Thin,
            _ => return None,
        })
    }
}

impl Representation {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Cons => "cons",
            Self::External => "external",
            Self::Sliced => "sliced",
            Self::Thin => "thin",
        }
    }
}

/// A string, or one that it consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StringPart {
    /// Where it lies, without tag.
    pub at: Addr,
    /// Within how many others it lies.
    pub depth: usize,
    /// How it is held.
    pub representation: Representation,
    /// Whether its units are one byte wide.
    pub is_one_byte: bool,
    /// Whether there is no other like it.
    pub is_internalized: bool,
    /// Its length in units.
    pub length: u64,
    /// Where its units lie, if it has its own.
    pub data: Option<Addr>,
}

/// A part of a string that is to be read: `length` units from the unit `from`.
#[derive(Clone, Copy)]
struct Piece {
    string: Object,
    from: u64,
    length: u64,
    /// How many strings that are others led to it.
    hops: u8,
}

impl Heap<'_> {
    /// How many UTF-16 units a string has.
    pub fn string_length(&self, string: Object) -> Option<u64> {
        self.is_string(string).then_some(())?;
        let length = self.uint(string.at, LENGTH, 4)?;
        (length >> 31 == 0).then_some(length)
    }

    /// The text of a string, at most `most` units of it. Lone surrogates are replaced.
    pub fn text(&self, string: Object, most: u64) -> Option<String> {
        self.units(string, 0, most).map(|units| String::from_utf16_lossy(&units))
    }

    /// `length` units of a string from the unit `from`, of which `most` are told.
    pub fn told_text(&self, string: Object, from: u64, length: u64, most: u64) -> Option<Text> {
        let units = self.units(string, from, length.min(most))?;
        let told = units.len() as u64;
        Some(Text {
            at: string.at,
            length,
            text: String::from_utf16_lossy(&units).into(),
            is_cut: told < length,
            is_damaged: told < length.min(most),
        })
    }

    /// How a string is held, its own parts first, at most `most` of those.
    pub fn string_parts(&self, string: Object, most: usize) -> Vec<StringPart> {
        let (mut found, mut left) = (Vec::new(), vec![(string, 0)]);
        while let Some((string, depth)) = left.pop().filter(|_| found.len() < most) {
            let Some(representation) = Representation::of(string.kind) else { continue };
            found.push(StringPart {
                at: string.at,
                depth,
                representation,
                is_one_byte: string.kind & ONE_BYTE != 0,
                is_internalized: string.kind & NOT_INTERNALIZED == 0,
                length: self.string_length(string).unwrap_or_default(),
                data: self.own_units(string),
            });
            let inside = match representation {
                Representation::Cons => vec![SECOND, FIRST],
                Representation::Sliced | Representation::Thin => vec![FIRST],
                Representation::Sequential | Representation::External => Vec::new(),
            };
            let depth = depth.saturating_add(1);
            left.extend(inside.iter().filter_map(|offset| {
                let part = self.string_at(string.at, *offset)?;
                Some((part, depth))
            }));
        }
        found
    }

    /// Where the units of a string lie that has units of its own.
    fn own_units(&self, string: Object) -> Option<Addr> {
        match Representation::of(string.kind)? {
            Representation::Sequential => string.at.checked_add(CHARS),
            Representation::External => self.external_data(string),
            _ => None,
        }
    }

    /// Units of a string from the unit `from`, at most `most`; fewer where it is damaged or was not
    /// dumped.
    pub fn units(&self, string: Object, from: u64, most: u64) -> Option<Vec<u16>> {
        let length = self.string_length(string)?.saturating_sub(from).min(most);
        let mut units = Vec::new();
        let mut left = vec![Piece { string, from, length, hops: 0 }];
        for _ in 0..MAX_PIECES {
            let Some(piece) = left.pop() else { break };
            if self.read_piece(piece, &mut left, &mut units).is_none() {
                break;
            }
        }
        Some(units)
    }

    /// Reads a piece, or puts on `left` what it consists of; `None` when it is damaged.
    fn read_piece(&self, piece: Piece, left: &mut Vec<Piece>, units: &mut Vec<u16>) -> Option<()> {
        let Piece { string, from, length, hops } = piece;
        if length == 0 {
            return Some(());
        }
        match Representation::of(string.kind)? {
            Representation::Sequential => {
                self.read_units(string.at.checked_add(CHARS)?, piece, units)
            }
            Representation::External => self.read_units(self.external_data(string)?, piece, units),
            Representation::Cons => self.split(piece, left),
            Representation::Sliced => {
                let offset = u64::try_from(self.smi(string.at, SECOND)?).ok()?;
                let from = from.checked_add(offset)?;
                let hops = hops.checked_add(1).filter(|hops| *hops <= MAX_HOPS)?;
                let string = self.string_at(string.at, FIRST)?;
                left.push(Piece { string, from, length, hops });
                Some(())
            }
            Representation::Thin => {
                let hops = hops.checked_add(1).filter(|hops| *hops <= MAX_HOPS)?;
                let string = self.string_at(string.at, FIRST)?;
                left.push(Piece { string, from, length, hops });
                Some(())
            }
        }
    }

    fn split(&self, piece: Piece, left: &mut Vec<Piece>) -> Option<()> {
        let first = self.string_at(piece.string.at, FIRST)?;
        let middle = self.string_length(first)?;
        let end = piece.from.checked_add(piece.length)?;
        if end > middle {
            let from = piece.from.saturating_sub(middle);
            let length = end.saturating_sub(middle.max(piece.from));
            let string = self.string_at(piece.string.at, SECOND)?;
            left.push(Piece { string, from, length, hops: 0 });
        }
        if piece.from < middle {
            let length = end.min(middle).saturating_sub(piece.from);
            left.push(Piece { string: first, from: piece.from, length, hops: 0 });
        }
        Some(())
    }

    fn string_at(&self, at: Addr, offset: u64) -> Option<Object> {
        self.field(at, offset).filter(|object| self.is_string(*object))
    }

    /// Where the units of an external string lie. Those of `node:` modules lie in the executable.
    fn external_data(&self, string: Object) -> Option<Addr> {
        (string.kind & UNCACHED == 0).then_some(())?;
        self.word(string.at, SECOND).map(Addr::new)
    }

    fn read_units(&self, chars: Addr, piece: Piece, units: &mut Vec<u16>) -> Option<()> {
        let Piece { string, from, length, .. } = piece;
        if string.kind & ONE_BYTE != 0 {
            let bytes = self.space.read_held(chars.checked_add(from)?, length);
            units.extend(bytes.iter().map(|byte| u16::from(*byte)));
            return (bytes.len() as u64 == length).then_some(());
        }
        let at = chars.checked_add(from.checked_mul(2)?)?;
        let bytes = self.space.read_held(at, length.checked_mul(2)?);
        let (pairs, _) = bytes.as_chunks();
        units.extend(pairs.iter().map(|pair| u16::from_le_bytes(*pair)));
        (pairs.len() as u64 == length).then_some(())
    }
}
