//! Scripts: their names, and lines of positions in them.

use kcore_mem::Addr;

use super::{Heap, function::Shared, heap::Object};

/// Names are read to this many units.
const MAX_NAME: u64 = 4096;
/// Source text is searched for line ends to this many units.
const MAX_SOURCE: u64 = 64 << 20;

// `src/objects/script.tq`.
const SOURCE: u64 = 8;
const NAME: u64 = 16;
const LINE_OFFSET: u64 = 24;
const COLUMN_OFFSET: u64 = 32;
const LINE_ENDS: u64 = 56;
const NUMBER: u64 = 64;
const EVAL_FROM: u64 = 72;
const EVAL_POSITION: u64 = 80;
const AFTER_EVAL: u64 = 88;

/// A script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Script {
    at: Addr,
}

/// A line and column, both from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineColumn {
    /// The line.
    pub line: u32,
    /// The column in UTF-16 units.
    pub column: u32,
}

impl Script {
    /// The script that an object is, if it is one.
    pub fn load(heap: &Heap<'_>, object: Object) -> Option<Self> {
        (object.kind == heap.layout.types.script).then_some(Self { at: object.at })
    }

    /// Where it lies, without tag.
    pub const fn at(self) -> Addr {
        self.at
    }

    /// Its name: a path, a URL, `node:` and a module; `None` for what `eval` made.
    pub fn name(self, heap: &Heap<'_>) -> Option<String> {
        let name = heap.field(self.at, NAME)?;
        heap.text(name, MAX_NAME).filter(|name| !name.is_empty())
    }

    /// Whether `eval` or `new Function` made it: it says which function called them.
    pub fn is_eval(self, heap: &Heap<'_>) -> bool {
        self.eval_from(heap).is_some()
    }

    /// The function that called `eval` or `new Function`, and a Smi that says where, if they made it.
    pub fn eval_from(self, heap: &Heap<'_>) -> Option<(Shared, i32)> {
        let from = heap.field_of(self.at, EVAL_FROM, heap.layout.types.shared)?;
        Some((Shared::load(heap, from)?, heap.smi(self.at, EVAL_POSITION).unwrap_or_default()))
    }

    /// The name that its text has for it, `//# sourceURL=`.
    pub fn source_url(self, heap: &Heap<'_>) -> Option<String> {
        let url = heap.field(self.at, self.behind_flags(heap)?)?;
        heap.text(url, MAX_NAME).filter(|url| !url.is_empty())
    }

    /// What its text has for its source map, `//# sourceMappingURL=`: a string.
    pub fn source_mapping_url(self, heap: &Heap<'_>) -> Option<Object> {
        let url = heap.field(self.at, self.behind_flags(heap)?.checked_add(8)?)?;
        heap.is_string(url).then_some(url)
    }

    /// The offset of its URLs. They stand behind the flags, before which other versions have more.
    fn behind_flags(self, heap: &Heap<'_>) -> Option<u64> {
        let mut offsets = (AFTER_EVAL..AFTER_EVAL + 40).step_by(8);
        offsets.find(|offset| heap.smi(self.at, *offset).is_some())?.checked_add(8)
    }

    /// Its number, which no other script of its isolate has or had.
    pub fn number(self, heap: &Heap<'_>) -> Option<i32> {
        heap.smi(self.at, NUMBER)
    }

    /// Whether its text is counted from its own first line and column: it is no part of another one.
    pub fn begins_its_file(self, heap: &Heap<'_>) -> bool {
        [LINE_OFFSET, COLUMN_OFFSET].iter().all(|offset| heap.smi(self.at, *offset) == Some(0))
    }

    /// Its source text.
    pub fn source(self, heap: &Heap<'_>) -> Option<Object> {
        heap.field(self.at, SOURCE).filter(|source| heap.is_string(*source))
    }

    /// The line and column of an offset in the source, in UTF-16 units.
    pub fn place(self, heap: &Heap<'_>, offset: u64) -> Option<LineColumn> {
        let (line, start) =
            self.place_by_table(heap, offset).or_else(|| self.place_by_source(heap, offset))?;
        self.place_in(heap, offset, line, start)
    }

    /// The line and column of an offset in a line, counted from 0, that begins at `start`.
    pub fn place_in(
        self,
        heap: &Heap<'_>,
        offset: u64,
        line: u64,
        start: u64,
    ) -> Option<LineColumn> {
        let first_line = u64::try_from(heap.smi(self.at, LINE_OFFSET)?).ok()?;
        let first_column = if line == 0 { heap.smi(self.at, COLUMN_OFFSET)?.max(0) } else { 0 };
        let column = offset.checked_sub(start)?.checked_add(u64::try_from(first_column).ok()?)?;
        Some(LineColumn {
            line: from_one(line.checked_add(first_line)?)?,
            column: from_one(column)?,
        })
    }

    /// The line from 0, and the offset of its first unit, by the table of line ends: each is the
    /// offset of the last unit of its line's terminator.
    pub fn place_by_table(self, heap: &Heap<'_>, offset: u64) -> Option<(u64, u64)> {
        let ends = heap.field_of(self.at, LINE_ENDS, heap.layout.types.fixed_array)?;
        let end = |line: u64| u64::try_from(heap.element(ends, line)?.smi()?).ok();
        let (mut low, mut high) = (0, heap.length(ends).filter(|count| *count > 0)?);
        while low < high {
            let middle = low.midpoint(high);
            if end(middle)? < offset { low = middle.checked_add(1)? } else { high = middle }
        }
        let start = low.checked_sub(1).map_or(Some(0), |before| end(before)?.checked_add(1))?;
        Some((low, start))
    }

    fn place_by_source(self, heap: &Heap<'_>, offset: u64) -> Option<(u64, u64)> {
        (offset <= MAX_SOURCE).then_some(())?;
        // One more, to see whether a carriage return before the offset ends the line.
        let units = heap.units(self.source(heap)?, 0, offset.checked_add(1)?)?;
        let before = units.get(..usize::try_from(offset).ok()?)?;
        let ends = before.iter().enumerate().filter(|(at, unit)| {
            let next = units.get(at.saturating_add(1)).copied();
            is_line_end(**unit, next)
        });
        let (mut line, mut start) = (0_u64, 0_u64);
        for (at, _) in ends {
            line = line.saturating_add(1);
            start = (at as u64).saturating_add(1);
        }
        Some((line, start))
    }
}

/// Where the lines of a script begin, for those that ask for many places in it.
pub struct Lines {
    script: Script,
    /// Beginnings of lines, the first one left out; `None` where V8 has a table.
    starts: Option<Vec<u64>>,
}

impl Lines {
    /// The lines of a script: its text is read once, unless V8 did that.
    pub fn of(heap: &Heap<'_>, script: Script) -> Self {
        let has_table = script.place_by_table(heap, 0).is_some();
        let source = script.source(heap).filter(|_| !has_table);
        let units = source.and_then(|source| heap.units(source, 0, MAX_SOURCE));
        let starts = units.map(|units| {
            let next = |at: usize| units.get(at.saturating_add(1)).copied();
            let ends = units.iter().enumerate().filter(|(at, unit)| is_line_end(**unit, next(*at)));
            ends.map(|(at, _)| (at as u64).saturating_add(1)).collect()
        });
        Self { script, starts }
    }

    /// The line and column of an offset in the source, in UTF-16 units.
    pub fn place(&self, heap: &Heap<'_>, offset: u64) -> Option<LineColumn> {
        let Some(starts) = self.starts.as_ref().filter(|_| offset <= MAX_SOURCE) else {
            let (line, start) = self.script.place_by_table(heap, offset)?;
            return self.script.place_in(heap, offset, line, start);
        };
        let line = starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|line| starts.get(line)).copied().unwrap_or(0);
        self.script.place_in(heap, offset, line as u64, start)
    }
}

/// ECMAScript's line terminators; of `\r\n` the second counts.
pub const fn is_line_end(unit: u16, next: Option<u16>) -> bool {
    match unit {
        0x0a | 0x2028 | 0x2029 => true,
        0x0d => !matches!(next, Some(0x0a)),
        _ => false,
    }
}

fn from_one(zero_based: u64) -> Option<u32> {
    u32::try_from(zero_based.checked_add(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_the_language_says() {
        assert!(is_line_end(0x0a, None) && is_line_end(0x2028, Some(0x0a)));
        assert!(is_line_end(0x0d, Some(0x41)) && !is_line_end(0x0d, Some(0x0a)));
        assert!(!is_line_end(0x0b, None));
    }
}
