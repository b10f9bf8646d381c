//! Source maps: which place of which source a place of generated text came from.
//!
//! ECMA-426, first edition: lines and columns count from 0, columns in UTF-16 units. Mappings are deltas of
//! variable length; what lies between two of them has the place of the one before on the same line. They are kept as
//! they are written, with a mark every so often where decoding can begin: a map of 50 MB takes little more than its
//! own bytes, and a question decodes a few hundred of them.

mod fit;
mod index;
mod segments;
mod texts;
mod url;
mod written;

use std::fmt;

use index::Index;
use segments::Segment;
use texts::Texts;

pub use fit::{GeneratedText, Misfit};
pub use url::{data_url, last_url};

/// Bytes of a map that are read, at most.
pub const MAX_SOURCE_MAP: u64 = 128 << 20;

/// A source map.
#[derive(Debug)]
pub struct SourceMap {
    file: Option<String>,
    debug_id: Option<String>,
    /// In the order in which they begin; of an index map each has a section.
    sections: Vec<Section>,
}

/// A map, and where in the generated text it begins.
#[derive(Debug)]
struct Section {
    line: u32,
    column: u32,
    root: String,
    sources: Texts,
    /// Lines of each source whose text the map holds; 0 where it does not.
    source_lines: Vec<u32>,
    names: Texts,
    index: Index,
}

/// A place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginalPlace<'m> {
    /// The source as the map names it, behind the map's root.
    root: &'m str,
    source: &'m str,
    /// Line, from 0.
    pub line: u32,
    /// Column in UTF-16 units, from 0.
    pub column: u32,
    /// The name that stands there in the source, where that was told.
    pub name: Option<&'m str>,
    /// Whether the map tells of this very place, and not of one before it on the line.
    pub is_exact: bool,
}

/// Why a map cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceMapError {
    /// It is no JSON, or not of the form of a source map.
    Form(String),
    /// Its version is another one than 3.
    Version(u64),
    /// A mapping is damaged.
    Mapping {
        /// The line of the generated text that it is of, from 0.
        line: u32,
    },
    /// Its mappings are not in the order of the generated text.
    Order {
        /// The first line that is not, from 0.
        line: u32,
    },
    /// A section holds sections, or they are not in order.
    Sections,
}

impl fmt::Display for SourceMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(why) => write!(f, "it is no source map: {why}"),
            Self::Version(version) => {
                write!(f, "it is of version {version} of source maps, which is not known")
            }
            Self::Mapping { line } => {
                write!(f, "its mappings of line {} are damaged", u64::from(*line).saturating_add(1))
            }
            Self::Order { line } => write!(
                f,
                "its mappings of line {} are not in order",
                u64::from(*line).saturating_add(1)
            ),
            Self::Sections => f.write_str("its sections are not in order, or hold sections"),
        }
    }
}

impl std::error::Error for SourceMapError {}

impl SourceMap {
    /// Reads a map as it stands in a file. What comes before it against being read as a script (`)]}'`) is skipped.
    ///
    /// # Errors
    /// Where it is no map of version 3, or is damaged anywhere: a map that is half right would name wrong places.
    pub fn parse(bytes: &[u8]) -> Result<Self, SourceMapError> {
        written::parse(bytes)
    }

    /// The generated file, as the map names it.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// What tells builds apart, where the map has it: a UUID that stands in the generated text as well.
    pub fn debug_id(&self) -> Option<&str> {
        self.debug_id.as_deref()
    }

    /// What a place of the generated text came from: line and column from 0, the column in UTF-16 units. `None` where
    /// the map tells nothing of it, or says that it came from nowhere.
    pub fn original(&self, line: u32, column: u32) -> Option<OriginalPlace<'_>> {
        let after = self.sections.partition_point(|it| (it.line, it.column) <= (line, column));
        let section = self.sections.get(after.checked_sub(1)?)?;
        let (line, column) = section.within(line, column)?;
        let segment = section.index.at(line, column)?;
        section.place(&segment, segment.column == column)
    }
}

impl Section {
    /// A place of the generated text as the section counts it.
    fn within(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let below = line.checked_sub(self.line)?;
        let left = if below == 0 { column.checked_sub(self.column)? } else { column };
        Some((below, left))
    }

    fn place(&self, segment: &Segment, is_exact: bool) -> Option<OriginalPlace<'_>> {
        let origin = segment.origin?;
        Some(OriginalPlace {
            root: &self.root,
            source: self.sources.get(origin.source).filter(|source| !source.is_empty())?,
            line: origin.line,
            column: origin.column,
            name: origin.name.and_then(|name| self.names.get(name)),
            is_exact,
        })
    }
}

impl OriginalPlace<'_> {
    /// The source's path or URL: relative ones begin in `folder`, that of the map, where it is known.
    pub fn source(&self, folder: Option<&str>) -> String {
        url::resolved(folder, self.root, self.source)
    }
}

#[cfg(test)]
mod tests;
