//! Source text of functions, as V8 keeps it.

use std::{ops::RangeInclusive, sync::Arc};

use kcore_mem::Addr;

use super::{
    Function, V8,
    script::{LineColumn, is_line_end},
    value::{Limits, Text},
};
use crate::Host;

/// Source text is read to this many units.
const MAX_SOURCE: u64 = 64 << 20;

/// The source text of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its script.
    pub file: Option<Arc<str>>,
    /// The line of its first letter, from 1.
    pub line: Option<u32>,
    /// The line of its last letter.
    pub last_line: Option<u32>,
    /// Its text.
    pub text: Text,
}

/// A line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Its number, from 1.
    pub number: u32,
    /// Its text.
    pub text: String,
    /// Whether it is one of those that were asked for, and not round them.
    pub is_current: bool,
}

/// Units of source text that are told at once, at most: no function is longer.
const MAX_UNITS: u64 = 1 << 25;

impl V8 {
    /// The source text of a function.
    pub fn source(&self, host: &dyn Host, function: Addr, limits: Limits) -> Option<Source> {
        let heap = self.decodable(host)?;
        let function = Function::load(&heap, heap.object_or_tagged(function))?;
        let script = function.shared.script(&heap)?;
        let (start, end) = function.source_range(&heap)?;
        let line = |at| script.place(&heap, at).map(|place| place.line);
        let text = script.source(&heap)?;
        Some(Source {
            file: script.name(&heap).map(Arc::from),
            line: line(start),
            last_line: line(end.saturating_sub(1).max(start)),
            text: heap.told_text(
                text,
                start,
                end.checked_sub(start)?,
                limits.units.min(MAX_UNITS),
            )?,
        })
    }

    /// Where a function begins, as stack traces have it.
    pub fn defined(&self, host: &dyn Host, function: Addr) -> Option<LineColumn> {
        let heap = self.decodable(host)?;
        let function = Function::load(&heap, heap.object_or_tagged(function))?;
        function.shared.first_place(&heap)
    }

    /// Lines of the script of a function, and as many as `around` before and after them.
    pub fn source_lines(
        &self,
        host: &dyn Host,
        function: Addr,
        wanted: RangeInclusive<u32>,
        around: u32,
    ) -> Option<Vec<SourceLine>> {
        let heap = self.decodable(host)?;
        let function = Function::load(&heap, heap.object_or_tagged(function))?;
        let script = function.shared.script(&heap)?;
        let first = script.place(&heap, 0)?.line;
        let shown = wanted.start().saturating_sub(around)..=wanted.end().saturating_add(around);
        let units = heap.units(script.source(&heap)?, 0, MAX_SOURCE)?;
        let numbered = (first..).zip(lines(&units));
        let within = numbered.skip_while(|(number, _)| number < shown.start());
        let lines = within.take_while(|(number, _)| shown.contains(number));
        let told = lines.map(|(number, line)| SourceLine {
            number,
            text: String::from_utf16_lossy(line),
            is_current: wanted.contains(&number),
        });
        Some(told.collect())
    }
}

/// The lines of a source text, without what ends them.
fn lines(units: &[u16]) -> impl Iterator<Item = &[u16]> {
    let mut rest = Some(units);
    std::iter::from_fn(move || {
        let units = rest?;
        let ends = units.iter().enumerate().position(|(at, unit)| {
            let next = units.get(at.saturating_add(1)).copied();
            is_line_end(*unit, next)
        });
        let line = units.get(..ends.unwrap_or(units.len()))?;
        rest = ends.and_then(|end| units.get(end.saturating_add(1)..));
        Some(line.strip_suffix(&[0x0d]).unwrap_or(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_language() {
        let units: Vec<u16> = "a\r\nb\u{2028}\nc".encode_utf16().collect();
        let lines: Vec<String> = lines(&units).map(String::from_utf16_lossy).collect();
        assert_eq!(lines, ["a", "b", "", "c"]);
    }
}
