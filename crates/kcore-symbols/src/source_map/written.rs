//! A map as its JSON is written. Keys that are not known are skipped.

use serde::Deserialize;

use super::{
    Section, SourceMap, SourceMapError,
    index::Index,
    texts::{LineCount, Texts},
};

/// A map, or an index map.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    version: Option<u64>,
    file: Option<String>,
    #[serde(alias = "debug_id")]
    debug_id: Option<String>,
    source_root: Option<String>,
    sources: Option<Texts>,
    sources_content: Option<Vec<LineCount>>,
    names: Option<Texts>,
    mappings: Option<String>,
    sections: Option<Vec<WrittenSection>>,
}

#[derive(Deserialize)]
struct WrittenSection {
    offset: Offset,
    map: Box<Written>,
}

#[derive(Deserialize)]
struct Offset {
    line: u32,
    column: u32,
}

/// What servers put before JSON so that no page can run it as a script.
const GUARD: &[u8] = b")]}";

/// See [`SourceMap::parse`].
pub fn parse(bytes: &[u8]) -> Result<SourceMap, SourceMapError> {
    let mut written = read(unguarded(bytes))?;
    if let Some(version) = written.version.filter(|version| *version != 3) {
        return Err(SourceMapError::Version(version));
    }
    let (file, debug_id) = (written.file.take(), written.debug_id.take());
    let sections = match written.sections.take() {
        Some(sections) => sections.into_iter().map(section).collect::<Result<Vec<_>, _>>()?,
        None => vec![Section::of(written, 0, 0)?],
    };
    let starts = sections.iter().map(|section| (section.line, section.column));
    if !starts.is_sorted() {
        return Err(SourceMapError::Sections);
    }
    Ok(SourceMap { file, debug_id, sections })
}

fn unguarded(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !bytes.starts_with(GUARD) {
        return bytes;
    }
    let line = bytes.iter().position(|byte| *byte == b'\n');
    line.and_then(|end| bytes.get(end..)).unwrap_or_default()
}

fn read(bytes: &[u8]) -> Result<Written, SourceMapError> {
    serde_json::from_slice(bytes).map_err(|error| {
        // The words of the parser without what it quotes: that is the file's.
        let place = format!("line {}, column {}", error.line(), error.column());
        SourceMapError::Form(match error.classify() {
            serde_json::error::Category::Eof => format!("its JSON ends at {place}"),
            serde_json::error::Category::Data => format!("a key is of another type at {place}"),
            _ => format!("its JSON is damaged at {place}"),
        })
    })
}

fn section(written: WrittenSection) -> Result<Section, SourceMapError> {
    if written.map.sections.is_some() {
        return Err(SourceMapError::Sections);
    }
    Section::of(*written.map, written.offset.line, written.offset.column)
}

impl Section {
    fn of(written: Written, line: u32, column: u32) -> Result<Self, SourceMapError> {
        let missing = || SourceMapError::Form("it has no mappings".to_owned());
        let mappings = written.mappings.ok_or_else(missing)?;
        let counts = written.sources_content.unwrap_or_default();
        Ok(Self {
            line,
            column,
            root: written.source_root.unwrap_or_default(),
            sources: written.sources.unwrap_or_default(),
            source_lines: counts.into_iter().map(|LineCount(count)| count).collect(),
            names: written.names.unwrap_or_default(),
            index: Index::new(mappings.into())?,
        })
    }
}
