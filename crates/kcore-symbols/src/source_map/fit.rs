//! Whether a map is that of a generated text. Maps have no number of their build: another build of the same program is
//! told by what its mappings point at.

use std::fmt;

use super::{Section, SourceMap, segments::Segment};

/// Mappings that are judged together.
const GROUP: u32 = 64;
/// Mappings within words that are still no proof.
const FEW: u32 = 1;

/// A generated text by its lines, as the language has them.
#[derive(Clone, Copy, Debug)]
pub struct GeneratedText<'a> {
    /// Its UTF-16 units.
    pub units: &'a [u16],
    /// Where its lines begin, the first one left out.
    pub starts: &'a [u32],
}

/// Why a map is not that of a text. Lines and columns count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// It tells of lines that the text does not have.
    Line {
        /// The line.
        line: u64,
        /// How many lines the text has.
        lines: u64,
    },
    /// It tells of a column behind the end of a line.
    Column {
        /// The line.
        line: u64,
        /// The column.
        column: u64,
    },
    /// What it tells of begins within words too often.
    Words {
        /// The first line where it does.
        line: u64,
    },
    /// It leads behind the end of a source whose text it holds.
    Source {
        /// The line of the generated text.
        line: u64,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, lines } => {
                write!(f, "it has line {line}, and the script has {lines}")
            }
            Self::Column { line, column } => {
                write!(f, "it has column {column} of line {line}, which is shorter in the script")
            }
            Self::Words { line } => {
                write!(f, "it leads into the middle of words of the script, first in line {line}")
            }
            Self::Source { line } => {
                write!(f, "for line {line} it leads behind the end of the source that it holds")
            }
        }
    }
}

impl GeneratedText<'_> {
    /// A line from 0, with what ends it.
    fn line(&self, line: u32) -> Option<&[u16]> {
        let line = usize::try_from(line).ok()?;
        let start = match line.checked_sub(1) {
            Some(before) => *self.starts.get(before)? as usize,
            None => 0,
        };
        let end = self.starts.get(line).map_or(self.units.len(), |end| *end as usize);
        self.units.get(start..end)
    }
}

impl SourceMap {
    /// Why it is not the map of a text; `None` where nothing speaks against it.
    pub fn misfit(&self, text: GeneratedText<'_>) -> Option<Misfit> {
        let mut words = Words::default();
        self.sections.iter().find_map(|section| section.misfit(text, &mut words))
    }
}

impl Section {
    fn misfit(&self, text: GeneratedText<'_>, words: &mut Words) -> Option<Misfit> {
        let mut before = None;
        for segment in self.index.segments() {
            let at = self.generated(&segment);
            let Some(line) = text.line(at.0) else {
                let lines = (text.starts.len() as u64).saturating_add(1);
                return Some(Misfit::Line { line: from_one(at.0), lines });
            };
            let column = usize::try_from(at.1).unwrap_or(usize::MAX);
            if column > line.len() {
                return Some(Misfit::Column { line: from_one(at.0), column: from_one(at.1) });
            }
            if !self.is_in_source(&segment) {
                return Some(Misfit::Source { line: from_one(at.0) });
            }
            if !before.is_some_and(|before| continues(&before, &segment)) {
                words.add(at.0, is_within_word(line, column));
            }
            if let Some(line) = words.verdict() {
                return Some(Misfit::Words { line: from_one(line) });
            }
            before = Some(segment);
        }
        words.last_verdict().map(|line| Misfit::Words { line: from_one(line) })
    }

    /// The line and column of a mapping in the whole text.
    fn generated(&self, segment: &Segment) -> (u32, u32) {
        let left = if segment.line == 0 { self.column } else { 0 };
        (self.line.saturating_add(segment.line), left.saturating_add(segment.column))
    }

    /// Whether the source that a mapping names is there and has its line; one behind the last is its end.
    fn is_in_source(&self, segment: &Segment) -> bool {
        let Some(origin) = segment.origin else { return true };
        let at = usize::try_from(origin.source).unwrap_or(usize::MAX);
        let lines = self.source_lines.get(at).copied().unwrap_or(0);
        at < self.sources.len() && (lines == 0 || origin.line <= lines)
    }
}

/// Whether a mapping only goes on where the one before it would lead by itself: some generators map every letter.
fn continues(before: &Segment, segment: &Segment) -> bool {
    let (Some(from), Some(to)) = (before.origin, segment.origin) else { return false };
    let is_near = before.line == segment.line && (from.source, from.line) == (to.source, to.line);
    let steps = (segment.column.checked_sub(before.column), to.column.checked_sub(from.column));
    is_near && steps.0.is_some() && steps.0 == steps.1
}

fn is_within_word(line: &[u16], column: usize) -> bool {
    let is_word = |at: Option<usize>| {
        let unit = at.and_then(|at| line.get(at)).and_then(|unit| u8::try_from(*unit).ok());
        unit.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
    };
    is_word(column.checked_sub(1)) && is_word(Some(column))
}

/// Mappings that begin something, and those of them that begin within a word: of the whole map, and of the last few.
#[derive(Default)]
struct Words {
    all: Count,
    group: Count,
}

#[derive(Clone, Copy, Default)]
struct Count {
    count: u32,
    within: u32,
    /// The first line of those within.
    first: Option<u32>,
}

impl Count {
    fn add(&mut self, line: u32, is_within: bool) {
        self.count = self.count.saturating_add(1);
        if is_within {
            self.within = self.within.saturating_add(1);
            self.first.get_or_insert(line);
        }
    }

    /// The first line, where more than one of `share` begins within a word.
    fn beyond(&self, share: u32) -> Option<u32> {
        let is_beyond = self.within > FEW && self.within.saturating_mul(share) > self.count;
        self.first.filter(|_| is_beyond)
    }
}

impl Words {
    fn add(&mut self, line: u32, is_within: bool) {
        self.all.add(line, is_within);
        self.group.add(line, is_within);
    }

    /// The line where a group shows that the map is another one's.
    fn verdict(&mut self) -> Option<u32> {
        if self.group.count < GROUP {
            return None;
        }
        std::mem::take(&mut self.group).beyond(3)
    }

    /// The same of all mappings.
    fn last_verdict(&self) -> Option<u32> {
        self.all.beyond(8)
    }
}

const fn from_one(zero_based: u32) -> u64 {
    (zero_based as u64).saturating_add(1)
}
