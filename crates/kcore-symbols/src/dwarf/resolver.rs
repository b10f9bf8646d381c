//! From an address to its functions and lines.

use std::{fmt, sync::Arc};

use gimli::Error;

use super::{
    Result, UnitOffset,
    file::DwarfFile,
    files::{Files, Which},
    inlined::FunctionAt,
    names,
    ranges::Claims,
    rows::SourcePosition,
    scan::scan,
    unit::{SplitName, Unit},
};
use crate::{LineFrame, meter::HALTED};

/// Calls inlined into one another that are told of every address.
const SHALLOW: usize = 64;
/// Calls that lie deeper, of all addresses of a module together: each of any number of addresses may lie in the
/// same thousand calls.
const MAX_DEEP: usize = 1 << 16;

/// The DWARF of one module.
pub struct Resolver {
    files: Arc<Files>,
    /// The units that `.debug_aranges` leaves out, once they were needed.
    others: Option<Claims>,
    /// How many deep calls may still be told of.
    deep_left: usize,
}

/// What was found, and the first problem on the way.
pub type Answer = (Vec<LineFrame>, Option<Problem>);

/// Why an answer is not whole.
#[derive(Clone, Copy, Debug)]
pub enum Problem {
    /// The debug information is damaged.
    Damaged(Error),
    /// Functions and calls have more ranges in all than are read.
    TooManyRanges,
    /// There are more calls inlined into one another than are told of.
    TooDeep,
    /// The command had to end before all was read.
    Halted,
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::TooManyIterations => Self::TooManyRanges,
            HALTED => Self::Halted,
            error => Self::Damaged(error),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(error) => error.fmt(f),
            Self::TooManyRanges => f.write_str(
                "functions and inlined calls share or overlap in too many ranges: some were not read",
            ),
            Self::Halted => f.write_str("the command had to end before all was read"),
            Self::TooDeep => write!(
                f,
                "more than {SHALLOW} calls are inlined into one another at many addresses: the inner ones are left out"
            ),
        }
    }
}

impl Resolver {
    /// Answers from the debug information of a module.
    pub const fn new(files: Arc<Files>) -> Self {
        Self { files, others: None, deep_left: MAX_DEEP }
    }

    /// The functions that hold `pc`, the innermost inlined one first.
    pub fn find(&mut self, pc: u64) -> Answer {
        let (frames, problem) = self.find_among(self.files.aranges.claims.find(pc), pc);
        if !frames.is_empty() {
            return (frames, problem);
        }
        let (units, missed) = self.others_at(pc);
        let (frames, other) = self.find_among(units, pc);
        (frames, problem.or(missed.map(Problem::from)).or(other))
    }

    /// Where the entry of the function is that holds `pc`, which may have others inlined.
    pub fn find_function(&mut self, pc: u64) -> Result<Option<(Which, usize)>> {
        if let Some(found) = self.function_among(self.files.aranges.claims.find(pc), pc)? {
            return Ok(Some(found));
        }
        let (units, problem) = self.others_at(pc);
        if problem == Some(HALTED) {
            return Err(HALTED);
        }
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
            let Some(code) = code_of(&self.files, &self.files.main.at(start)?) else { continue };
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
        if problem == Some(HALTED) {
            return (others.find(pc), problem);
        }
        (self.others.insert(others).find(pc), problem)
    }

    /// The answer of the first unit that has one: claims are sometimes too wide.
    fn find_among(&mut self, units: Vec<usize>, pc: u64) -> Answer {
        let mut problem = None;
        for start in units {
            match self.find_in(start, pc) {
                Ok((frames, _)) if frames.is_empty() => {}
                Ok((frames, cut)) => return (frames, problem.or(cut)),
                Err(error) => problem = problem.or(Some(error.into())),
            }
        }
        (Vec::new(), problem)
    }

    fn find_in(&mut self, start: usize, pc: u64) -> Result<Answer> {
        let lines = self.files.main.at(start)?;
        let place = lines.rows(&self.files.main.file)?.find(pc);
        let files = Arc::clone(&self.files);
        let Some(code) = code_of(&files, &lines) else { return Ok((Vec::new(), None)) };
        let whole = |frames| (frames, None);
        match (code.find(pc)?, place) {
            (Some(mut function), place) => {
                let mut place = place.unwrap_or_default();
                let cut = cut_deep(&mut self.deep_left, &mut function, &mut place);
                Ok((self.frames(&lines, &code, function, place)?, cut))
            }
            (None, Some(place)) => {
                self.frame(&lines, &code, None, place, false).map(|frame| whole(vec![frame]))
            }
            (None, None) => Ok(whole(Vec::new())),
        }
    }

    /// The innermost frame is at `place`; each of the others is where the call stands that was
    /// inlined into it.
    fn frames(
        &self,
        lines: &Unit,
        code: &Code<'_>,
        function: FunctionAt,
        mut place: SourcePosition,
    ) -> Result<Vec<LineFrame>> {
        let mut frames = Vec::with_capacity(function.inlined.len().saturating_add(1));
        for (names, outside) in function.inlined.into_iter().rev() {
            let name = names::name(&self.files, code.which, &code.unit, names)?;
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
        function: Option<Arc<str>>,
        place: SourcePosition,
        inline: bool,
    ) -> Result<LineFrame> {
        let file = &self.files.main.file;
        let path = place.file.map_or(Ok(None), |number| lines.path(file, number))?;
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

/// Where the functions of a unit are: in itself, or in what was split off from it.
fn code_of<'a>(files: &'a Files, unit: &Arc<Unit>) -> Option<Code<'a>> {
    let split = files.split_of(unit);
    let (which, unit) = split.unwrap_or_else(|| (Which::Main, Arc::clone(unit)));
    Some(Code { which, file: &files.units(which)?.file, unit })
}

/// Leaves deep calls out, if no more of them may be told of: then the innermost one that is left stands at the
/// place of the next one.
fn cut_deep(
    left: &mut usize,
    function: &mut FunctionAt,
    place: &mut SourcePosition,
) -> Option<Problem> {
    let (_, next) = function.inlined.get(SHALLOW)?;
    let deep = function.inlined.len().saturating_sub(SHALLOW);
    if let Some(rest) = left.checked_sub(deep) {
        *left = rest;
        return None;
    }
    *place = *next;
    function.inlined.truncate(SHALLOW);
    Some(Problem::TooDeep)
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
        self.entry(pc)?.map(|entry| self.unit.function_at(self.file, entry, pc)).transpose()
    }

    /// The entry of that function.
    fn entry(&self, pc: u64) -> Result<Option<UnitOffset>> {
        self.unit.functions(self.file)?.find(self.file, &self.unit, pc)
    }
}
