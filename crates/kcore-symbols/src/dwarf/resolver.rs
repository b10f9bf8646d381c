//! From an address to its functions and lines.

use std::sync::Arc;

use gimli::Error;

use super::{
    Result, UnitOffset, inlined::FunctionAt, names, ranges::Claims, rows::Place, scan::scan,
    unit::Unit, units::Files,
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

    /// The entry of the function that holds `pc`, which may have others inlined, and its unit.
    pub fn find_function(&mut self, pc: u64) -> Result<Option<(Arc<Unit>, UnitOffset)>> {
        if let Some(found) = self.function_among(self.files.aranges.claims.find(pc), pc)? {
            return Ok(Some(found));
        }
        let (units, _) = self.others_at(pc);
        self.function_among(units, pc)
    }

    fn function_among(
        &self,
        units: Vec<usize>,
        pc: u64,
    ) -> Result<Option<(Arc<Unit>, UnitOffset)>> {
        let file = &self.files.main.file;
        for start in units {
            let unit = self.files.main.at(start)?;
            if let Some(entry) = unit.functions(file)?.find(file, &unit, pc)? {
                return Ok(Some((unit, entry)));
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
        let unit = self.files.main.at(start)?;
        let file = &self.files.main.file;
        let function = unit.functions(file)?.find(file, &unit, pc)?;
        let place = unit.rows(file)?.find(pc);
        match (function, place) {
            (Some(entry), place) => {
                let function = FunctionAt::read(file, &unit, entry, pc)?;
                self.frames(&unit, function, place.unwrap_or_default())
            }
            (None, Some(place)) => Ok(vec![self.frame(&unit, None, place, false)?]),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// The innermost frame is at `place`; each of the others is where the call stands that was
    /// inlined into it.
    fn frames(
        &mut self,
        unit: &Arc<Unit>,
        function: FunctionAt,
        mut place: Place,
    ) -> Result<Vec<LineFrame>> {
        let mut frames = Vec::with_capacity(function.inlined.len().saturating_add(1));
        for call in function.inlined.into_iter().rev() {
            let outside = call.place();
            let name = names::name(&self.files, unit, call.names)?;
            frames.push(self.frame(unit, name, place, true)?);
            place = outside;
        }
        let name = names::name(&self.files, unit, function.names)?;
        frames.push(self.frame(unit, name, place, false)?);
        Ok(frames)
    }

    fn frame(
        &self,
        unit: &Unit,
        function: Option<String>,
        place: Place,
        inline: bool,
    ) -> Result<LineFrame> {
        let file = &self.files.main.file;
        let rows = unit.rows(file)?;
        let path = place.file.map_or(Ok(None), |number| rows.path(file, unit, number))?;
        Ok(LineFrame {
            function,
            file: path,
            line: place.line,
            column: place.column,
            language: unit.language,
            inline,
        })
    }
}
