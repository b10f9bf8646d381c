//! From an address to its functions and lines.

use std::sync::Arc;

use gimli::Error;

use super::{
    Result, UnitOffset,
    file::DwarfFile,
    files::{Files, Which},
    inlined::FunctionAt,
    names,
    ranges::Claims,
    rows::Place,
    scan::scan,
    unit::{SplitName, Unit},
};
use crate::LineFrame;

/// The DWARF of one module.
pub struct Resolver {
    files: Arc<Files>,
    /// The units that `.debug_aranges` leaves out, once they were needed.
    others: Option<Claims>,
}

/// What was found, and the first error on the way.
pub type Answer = (Vec<LineFrame>, Option<Error>);

impl Resolver {
    /// Answers from the debug information of a module.
    pub const fn new(files: Arc<Files>) -> Self {
        Self { files, others: None }
    }

    /// The functions that hold `pc`, the innermost inlined one first.
    pub fn find(&mut self, pc: u64) -> Answer {
        let (frames, problem) = self.find_among(self.files.aranges.claims.find(pc), pc);
        if !frames.is_empty() {
            return (frames, problem);
        }
        let (units, missed) = self.others_at(pc);
        let (frames, other) = self.find_among(units, pc);
        (frames, problem.or(missed).or(other))
    }

    /// Where the entry of the function is that holds `pc`, which may have others inlined.
    pub fn find_function(&mut self, pc: u64) -> Result<Option<(Which, usize)>> {
        if let Some(found) = self.function_among(self.files.aranges.claims.find(pc), pc)? {
            return Ok(Some(found));
        }
        let (units, _) = self.others_at(pc);
        self.function_among(units, pc)
    }

    /// Where the unit that holds `pc` was split off to, if nothing was found there.
    pub fn missing_split(&mut self, pc: u64) -> Option<SplitName> {
        let listed = self.files.aranges.claims.find(pc);
        let missing = listed.into_iter().find_map(|start| self.missing_half(start));
        missing.or_else(|| {
            let (others, _) = self.others_at(pc);
            others.into_iter().find_map(|start| self.missing_half(start))
        })
    }

    fn missing_half(&self, skeleton: usize) -> Option<SplitName> {
        let unit = self.files.main.at(skeleton).ok()?;
        let name = unit.split.clone()?;
        self.files.split_of(&unit).is_none().then_some(name)
    }

    fn function_among(&self, units: Vec<usize>, pc: u64) -> Result<Option<(Which, usize)>> {
        for start in units {
            let Some(code) = self.code_of(&self.files.main.at(start)?) else { continue };
            if let Some(entry) = code.entry(pc)? {
                return Ok(Some((code.which, code.unit.start.saturating_add(entry.0))));
            }
        }
        Ok(None)
    }

    /// The units that claim `pc` and are not in `.debug_aranges`.
    fn others_at(&mut self, pc: u64) -> (Vec<usize>, Option<Error>) {
        if let Some(others) = &self.others {
            return (others.find(pc), None);
        }
        let (others, problem) = scan(&self.files);
        (self.others.insert(others).find(pc), problem)
    }

    /// The answer of the first unit that has one: claims are sometimes too wide.
    fn find_among(&mut self, units: Vec<usize>, pc: u64) -> Answer {
        let mut problem = None;
        for start in units {
            match self.find_in(start, pc) {
                Ok(frames) if frames.is_empty() => {}
                Ok(frames) => return (frames, problem),
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        (Vec::new(), problem)
    }

    fn find_in(&mut self, start: usize, pc: u64) -> Result<Vec<LineFrame>> {
        let lines = self.files.main.at(start)?;
        let place = lines.rows(&self.files.main.file)?.find(pc);
        let Some(code) = self.code_of(&lines) else { return Ok(Vec::new()) };
        match (code.find(pc)?, place) {
            (Some(function), place) => {
                self.frames(&lines, &code, function, place.unwrap_or_default())
            }
            (None, Some(place)) => Ok(vec![self.frame(&lines, &code, None, place, false)?]),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Where the functions of a unit are: in itself, or in what was split off from it.
    fn code_of(&self, unit: &Arc<Unit>) -> Option<Code<'_>> {
        let split = self.files.split_of(unit);
        let (which, unit) = split.unwrap_or_else(|| (Which::Main, Arc::clone(unit)));
        Some(Code { which, file: &self.files.units(which)?.file, unit })
    }

    /// The innermost frame is at `place`; each of the others is where the call stands that was
    /// inlined into it.
    fn frames(
        &self,
        lines: &Unit,
        code: &Code<'_>,
        function: FunctionAt,
        mut place: Place,
    ) -> Result<Vec<LineFrame>> {
        let mut frames = Vec::with_capacity(function.inlined.len().saturating_add(1));
        for call in function.inlined.into_iter().rev() {
            let outside = call.place();
            let name = names::name(&self.files, code.which, &code.unit, call.names)?;
            frames.push(self.frame(lines, code, name, place, true)?);
            place = outside;
        }
        let name = names::name(&self.files, code.which, &code.unit, function.names)?;
        frames.push(self.frame(lines, code, name, place, false)?);
        Ok(frames)
    }

    fn frame(
        &self,
        lines: &Unit,
        code: &Code<'_>,
        function: Option<String>,
        place: Place,
        inline: bool,
    ) -> Result<LineFrame> {
        let file = &self.files.main.file;
        let rows = lines.rows(file)?;
        let path = place.file.map_or(Ok(None), |number| rows.path(file, lines, number))?;
        Ok(LineFrame {
            function,
            file: path,
            line: place.line,
            column: place.column,
            language: code.unit.language.or(lines.language),
            inline,
        })
    }
}

/// A unit that has functions, and its file.
struct Code<'a> {
    which: Which,
    file: &'a DwarfFile,
    unit: Arc<Unit>,
}

impl Code<'_> {
    /// The function that holds `pc`.
    fn find(&self, pc: u64) -> Result<Option<FunctionAt>> {
        self.entry(pc)?.map(|entry| FunctionAt::read(self.file, &self.unit, entry, pc)).transpose()
    }

    /// The entry of that function.
    fn entry(&self, pc: u64) -> Result<Option<UnitOffset>> {
        self.unit.functions(self.file)?.find(self.file, &self.unit, pc)
    }
}
