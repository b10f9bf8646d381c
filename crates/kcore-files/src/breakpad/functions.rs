//! Functions and inlined calls as debug information (DWARF 4, 3.3), with their lines.

use std::collections::HashMap;

use kcore_mem::{Svma, Target};

use super::{
    leb,
    lines::{Lines, Row},
    names::plain,
    records::{Inline, Record},
    strings::Strings,
};
use crate::target_bytes::TargetBytes;

/// Inlined calls within each other, at most.
const MAX_DEPTH: usize = 128;

/// `.debug_abbrev`: number, tag, whether there are children, attributes with their forms, 0, 0.
pub const ABBREVIATIONS: &[u8] = &[
    UNIT, 0x11, 1, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    FUNCTION, 0x2e, 1, 0x03, 0x0e, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    ORIGIN, 0x2e, 0, 0x03, 0x0e, 0x20, 0x0b, 0, 0, //
    NAMELESS, 0x2e, 0, 0x20, 0x0b, 0, 0, //
    INLINED, 0x1d, 1, 0x31, 0x13, 0x55, 0x17, 0x58, 0x0f, 0x59, 0x0f, 0, 0, //
    0,
];
/// `DW_TAG_compile_unit`: its lines, start and length.
const UNIT: u8 = 1;
/// `DW_TAG_subprogram`: name, start, length.
const FUNCTION: u8 = 2;
/// `DW_TAG_subprogram`: name, inlined.
const ORIGIN: u8 = 3;
/// The same without a name, where the file has none.
const NAMELESS: u8 = 4;
/// `DW_TAG_inlined_subroutine`: origin, ranges, file and line of the call.
const INLINED: u8 = 5;
/// Bytes before the first entry of a unit.
const UNIT_HEADER: usize = 11;

/// The sections about functions.
pub struct FunctionSections {
    pub info: Vec<u8>,
    pub ranges: Vec<u8>,
    pub lines: Vec<u8>,
    /// Behind the last byte of code, from the first address of the file on.
    pub end: u64,
}

/// Entries so far.
pub struct Functions<'a> {
    base: Svma,
    target: Target,
    lines: Lines,
    /// The names of what was inlined.
    origins: HashMap<u32, u32>,
    entries: TargetBytes,
    /// Where entries refer to an origin.
    references: Vec<(usize, u32)>,
    ranges: TargetBytes,
    current: Option<Function<'a>>,
    start: u64,
    end: u64,
}

struct Function<'a> {
    start: u64,
    size: u64,
    name: &'a [u8],
    inlined: Vec<Inline>,
    rows: Vec<Row>,
}

impl<'a> Functions<'a> {
    pub fn new(target: Target, base: Svma) -> Self {
        Self {
            base,
            target,
            lines: Lines::new(target, base),
            origins: HashMap::new(),
            entries: TargetBytes::new(target),
            references: Vec::new(),
            ranges: TargetBytes::new(target),
            current: None,
            start: u64::MAX,
            end: 0,
        }
    }

    /// Adds what a record says.
    pub fn add(&mut self, record: Record<'a>, strings: &mut Strings<'a>) {
        match record {
            Record::File { number, name } => self.lines.add_file(number, name),
            Record::Origin { number, name } => {
                self.origins.entry(number).or_insert_with(|| strings.add(plain(name)));
            }
            Record::Function { start, size, name } => {
                self.end_function(strings);
                let (inlined, rows) = (Vec::new(), Vec::new());
                self.current = Some(Function { start, size, name, inlined, rows });
            }
            Record::Line { start, size, line, file } => {
                if let Some(function) = &mut self.current {
                    function.rows.push(Row { start, size, line, file });
                }
            }
            Record::Inline(inline) => {
                if let Some(function) = &mut self.current {
                    function.inlined.push(inline);
                }
            }
            Record::Public { start, .. } => self.end = self.end.max(start.saturating_add(1)),
            Record::Unwind(_) => {}
        }
    }

    fn end_function(&mut self, strings: &mut Strings<'a>) {
        let Some(function) = self.current.take() else { return };
        self.start = self.start.min(function.start);
        self.end = self.end.max(function.start.saturating_add(function.size));
        self.lines.add_function(&function.rows);
        let name = strings.add(plain(function.name));
        let start = function.start.wrapping_add(self.base.get());
        self.entries.raw(&[FUNCTION]).u32(name).word(start).uint(function.size, 8);
        let mut depth = 0;
        for inline in function.inlined.into_iter().filter(|inline| inline.depth < MAX_DEPTH) {
            // One that skips a level lies in the last that is open.
            while depth > inline.depth {
                self.entries.raw(&[0]);
                depth = depth.saturating_sub(1);
            }
            self.begin_inlined(&inline);
            depth = depth.saturating_add(1);
        }
        // The ends of all that are open, and of the function.
        self.entries.raw(&vec![0; depth.saturating_add(1)]);
    }

    fn begin_inlined(&mut self, inline: &Inline) {
        self.entries.raw(&[INLINED]);
        self.references.push((self.entries.len(), inline.origin));
        self.entries.u32(0).u32(u32::try_from(self.ranges.len()).unwrap_or(0));
        leb::unsigned(&mut self.entries, self.lines.place(inline.file));
        leb::unsigned(&mut self.entries, inline.line.into());
        // The first pair says that those behind it count from 0.
        self.ranges.word(u64::MAX).word(0);
        for (start, size) in &inline.ranges {
            let start = start.wrapping_add(self.base.get());
            self.ranges.word(start).word(start.wrapping_add(*size));
        }
        self.ranges.word(0).word(0);
    }

    /// The sections.
    pub fn finish(mut self, strings: &mut Strings<'a>) -> FunctionSections {
        self.end_function(strings);
        let start = self.start.min(self.end);
        let mut unit = TargetBytes::new(self.target);
        unit.raw(&[UNIT]).u32(0).word(start.wrapping_add(self.base.get()));
        unit.uint(self.end.saturating_sub(start), 8);
        let first = unit.len().saturating_add(UNIT_HEADER);
        self.add_origins(first);
        unit.raw(&self.entries.finish()).raw(&[0]);
        let mut info = TargetBytes::new(self.target);
        let len = unit.len().saturating_add(UNIT_HEADER).saturating_sub(4);
        info.u32(u32::try_from(len).unwrap_or(0)).u16(4).u32(0).uint(self.target.word.into(), 1);
        info.raw(&unit.finish());
        let (ranges, lines) = (self.ranges.finish(), self.lines.finish());
        FunctionSections { info: info.finish(), ranges, lines, end: self.end }
    }

    /// Adds what was inlined, and fills in who refers to it. `first` is where the entries begin in the unit.
    fn add_origins(&mut self, first: usize) {
        let mut places = HashMap::new();
        for (at, number) in std::mem::take(&mut self.references) {
            let place = *places.entry(number).or_insert_with(|| {
                let place = self.entries.len().saturating_add(first);
                match self.origins.get(&number) {
                    Some(name) => self.entries.raw(&[ORIGIN]).u32(*name),
                    None => self.entries.raw(&[NAMELESS]),
                };
                self.entries.raw(&[1]);
                place
            });
            self.entries.put_u32(at, u32::try_from(place).unwrap_or(0));
        }
    }
}
