//! Mappings with marks where decoding can begin.

use std::fmt;

use super::{
    SourceMapError,
    segments::{Damaged, Position, Segment, Segments},
};

/// Mappings from one mark to the next.
const STRIDE: usize = 256;

/// Mappings in the order of the generated text.
pub struct Index {
    mappings: Box<str>,
    /// Lines and columns of mappings, and where their decoding begins.
    marks: Vec<(u32, u32, Position)>,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of mappings", self.mappings.len())
    }
}

impl Index {
    /// Decodes all mappings once.
    pub fn new(mappings: Box<str>) -> Result<Self, SourceMapError> {
        let mut segments = Segments::from(mappings.as_bytes(), Position::default());
        let (mut marks, mut before) = (Vec::new(), (0, 0));
        for count in 0_usize.. {
            let position = segments.position();
            let Some(segment) = segments.next() else { break };
            let segment = segment.map_err(|Damaged(line)| SourceMapError::Mapping { line })?;
            let place = (segment.line, segment.column);
            if place < before {
                return Err(SourceMapError::Order { line: segment.line });
            }
            if count.is_multiple_of(STRIDE) {
                marks.push((segment.line, segment.column, position));
            }
            before = place;
        }
        Ok(Self { mappings, marks })
    }

    /// All mappings.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        self.from(Position::default())
    }

    fn from(&self, position: Position) -> impl Iterator<Item = Segment> + '_ {
        Segments::from(self.mappings.as_bytes(), position).map_while(Result::ok)
    }

    /// The last mapping of a line that is not behind a column; of several at one place the last.
    pub fn at(&self, line: u32, column: u32) -> Option<Segment> {
        let after = self.marks.partition_point(|mark| (mark.0, mark.1) <= (line, column));
        let (.., position) = self.marks.get(after.checked_sub(1)?)?;
        let before = |it: &Segment| (it.line, it.column) <= (line, column);
        self.from(*position).take_while(before).last().filter(|found| found.line == line)
    }
}
