//! Functions of Lua: `GCproto` of `lj_obj.h`, lines and variables as `lj_debug.c` finds them.

use kcore_mem::Addr;

use super::memory::{Memory, PROTO};

/// `numparams`, `sizebc`, `k`, `sizeuv`, `chunkname`, `firstline`, `numline`, `lineinfo`, `uvinfo` and `varinfo`.
const PARAMETERS: u64 = 10;
const COUNT: u64 = 12;
const CONSTANTS: u64 = 32;
const UPVALUES: u64 = 60;
const CHUNK: u64 = 64;
const FIRST_LINE: u64 = 72;
const LINE_COUNT: u64 = 76;
const LINES: u64 = 80;
const UPVALUE_NAMES: u64 = 88;
const VARIABLES: u64 = 96;
/// No function has more instructions.
const MAX_SIZE: u64 = 1 << 26;
/// `startins` and `startpc` of `GCtrace`.
const TRACE_INSTRUCTION: u64 = 80;
const TRACE_START: u64 = 72;
/// Names that the compiler gives to what it makes for itself: `VARNAMEDEF` of `lj_debug.h`.
const OWN_NAMES: [&str; 6] =
    ["(for index)", "(for limit)", "(for step)", "(for generator)", "(for state)", "(for control)"];
/// Bytes of names of variables, and variables, that are looked at, at most.
const MAX_NAMES: u64 = 1 << 20;
const MAX_VARIABLES: usize = 1 << 12;
/// Bytes of a source as messages have it: `LUA_IDSIZE`.
const SHOWN: usize = 60;

/// The code of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proto {
    /// It.
    pub at: Addr,
    /// How many instructions it has.
    pub size: u64,
    /// What it was read from, as Lua has it: `@file`, `=name`, or text.
    pub source: String,
    /// The line where it begins; 0 of a file's.
    pub first_line: u64,
    /// How many parameters it names.
    pub parameters: u64,
}

/// A variable that is seen at an instruction: its name, and its slot.
pub type Slot = (String, u64);

impl Proto {
    /// The code at an address, if it is code.
    pub fn load(memory: &Memory<'_>, at: Addr) -> Option<Self> {
        /// `~LJ_TPROTO`.
        const TAG: u8 = 7;
        (memory.byte(at, super::memory::TAG)? == TAG).then_some(())?;
        Some(Self {
            at,
            size: memory.uint(at, COUNT, 4).filter(|size| (1..=MAX_SIZE).contains(size))?,
            source: memory.text_start(memory.pointer(at, CHUNK)?)?,
            first_line: memory.uint(at, FIRST_LINE, 4)?,
            parameters: memory.uint(at, PARAMETERS, 1)?,
        })
    }

    fn code(&self) -> Option<Addr> {
        self.at.checked_add(PROTO)
    }

    /// The index of the instruction before an address, which is the one that runs.
    pub fn index(&self, memory: &Memory<'_>, pc: u64) -> Option<u64> {
        let before = |pc: u64| {
            let offset = pc.checked_sub(self.code()?.get()).filter(|offset| offset % 4 == 0)?;
            let index = offset.checked_div(4)?.checked_sub(1)?;
            (index <= self.size).then_some(index)
        };
        // A loop that was compiled has its instruction in the trace.
        let in_trace = || {
            let trace = Addr::new(pc.checked_sub(4)?.checked_sub(TRACE_INSTRUCTION)?);
            before(memory.word(trace, TRACE_START)?.checked_add(4)?)
        };
        before(pc).or_else(in_trace)
    }

    /// An instruction.
    pub fn instruction(&self, memory: &Memory<'_>, index: u64) -> Option<u32> {
        let word =
            memory.uint(self.code()?, index.checked_mul(4)?, 4).filter(|_| index < self.size);
        word.and_then(|word| u32::try_from(word).ok())
    }

    /// The line of an instruction: `lj_debug_line`.
    pub fn line(&self, memory: &Memory<'_>, index: u64) -> Option<u32> {
        let lines = memory.word(self.at, LINES).filter(|at| *at >= 0x1000).map(Addr::new)?;
        let count = memory.uint(self.at, LINE_COUNT, 4)?;
        let width: usize = match count {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        let line = match index.checked_sub(1) {
            None => self.first_line,
            Some(_) if index == self.size => self.first_line.checked_add(count)?,
            Some(place) => {
                let ahead = memory.uint(lines, place.checked_mul(width as u64)?, width)?;
                self.first_line.checked_add(ahead)?
            }
        };
        u32::try_from(line).ok().filter(|line| *line > 0)
    }

    /// The variables that are seen at an instruction, in the order of their slots: `debug_varname`. What the compiler made
    /// for itself has a name in parentheses.
    pub fn slots(&self, memory: &Memory<'_>, index: u64) -> Vec<Slot> {
        let mut slots = Vec::new();
        let at = memory.word(self.at, VARIABLES).filter(|at| *at >= 0x1000);
        if let Some(at) = at.map(Addr::new) {
            let held = memory.space.read_held(at, MAX_NAMES);
            let _ = fill(&mut slots, &held, index);
        }
        slots
    }

    /// The name of an upvalue.
    pub fn upvalue(&self, memory: &Memory<'_>, index: u64) -> Option<String> {
        (index < self.upvalues(memory)).then_some(())?;
        let names = memory.word(self.at, UPVALUE_NAMES).filter(|at| *at >= 0x1000)?;
        let held = memory.space.read_held(Addr::new(names), MAX_NAMES);
        let name = held.split(|byte| *byte == 0).nth(usize::try_from(index).ok()?)?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// How many upvalues it has.
    pub fn upvalues(&self, memory: &Memory<'_>) -> u64 {
        memory.uint(self.at, UPVALUES, 1).unwrap_or_default()
    }

    /// A constant that is text: they lie before the numbers.
    pub fn constant(&self, memory: &Memory<'_>, index: u64) -> Option<String> {
        let middle = memory.word(self.at, CONSTANTS).map(Addr::new)?;
        let back = index.checked_add(1)?.checked_mul(8)?;
        let at = middle.get().checked_sub(back).map(Addr::new)?;
        memory.text(super::memory::Value(memory.word(at, 0)?).address())
    }

    /// The file name, or the name that the program gave to code that is from no file.
    pub fn file(&self) -> String {
        match self.source.strip_prefix(['@', '=']) {
            Some(name) => name.to_owned(),
            None => short_source(&self.source),
        }
    }

    /// What a message calls a function that has no name.
    pub fn place(&self) -> String {
        match self.first_line {
            0 => "main chunk".to_owned(),
            line => format!("function <{}:{line}>", short_source(&self.source)),
        }
    }
}

/// Reads names of variables, each with where it begins from the one before, and how far it is seen.
fn fill(slots: &mut Vec<Slot>, held: &[u8], index: u64) -> Option<()> {
    let mut rest = held;
    let mut start = 0_u64;
    while slots.len() < MAX_VARIABLES {
        let (name, after) = match *rest.first()? {
            0 => return Some(()),
            own if usize::from(own) <= OWN_NAMES.len() => {
                let name = OWN_NAMES.get(usize::from(own).checked_sub(1)?)?;
                ((*name).to_owned(), rest.get(1..)?)
            }
            _ => {
                let end = rest.iter().position(|byte| *byte == 0)?;
                let name = String::from_utf8_lossy(rest.get(..end)?).into_owned();
                (name, rest.get(end.checked_add(1)?..)?)
            }
        };
        let (ahead, after) = number(after)?;
        let (length, after) = number(after)?;
        rest = after;
        start = start.checked_add(ahead)?;
        if start > index {
            return Some(());
        }
        if index < start.checked_add(length)? {
            let slot = slots.len() as u64;
            slots.push((name, slot));
        }
    }
    Some(())
}

/// A number of seven bits a byte, the lowest first.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (place, byte) in bytes.iter().enumerate().take(5) {
        let shift = u32::try_from(place).ok()?.checked_mul(7)?;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(place.checked_add(1)?..)?));
        }
    }
    None
}

/// A source as messages have it: `lj_debug_shortname`.
fn short_source(source: &str) -> String {
    const DOTS: &str = "...";
    if let Some(name) = source.strip_prefix('=') {
        return cut(name, SHOWN.saturating_sub(1)).to_owned();
    }
    if let Some(name) = source.strip_prefix('@') {
        return match name.len() >= SHOWN {
            true => format!("{DOTS}{}", tail(name, SHOWN.saturating_sub(4))),
            false => name.to_owned(),
        };
    }
    let first = source.split(|sign: char| sign < ' ').next().unwrap_or_default();
    let shown = cut(first, SHOWN.saturating_sub(12));
    match shown.len() < source.len() {
        true => format!("[string \"{}{DOTS}\"]", cut(shown, SHOWN.saturating_sub(15))),
        false => format!("[string \"{shown}\"]"),
    }
}

/// At most so many bytes of the end of a text.
fn tail(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from = from.saturating_add(1);
    }
    text.get(from..).unwrap_or_default()
}

/// At most so many bytes of a text.
fn cut(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_seen_from_where_they_begin_to_where_they_end() {
        // `a` from 1 for 300 instructions, one of the compiler's from 2 for 4, `b` from 3 for 2.
        let held = [b'a', 0, 1, 0xac, 2, 1, 1, 4, b'b', 0, 1, 2, 0];
        let at = |index| {
            let mut slots = Vec::new();
            assert_eq!(fill(&mut slots, &held, index), Some(()));
            slots.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(at(0), [""; 0]);
        assert_eq!(at(4), ["a", "(for index)", "b"]);
        assert_eq!(at(5), ["a", "(for index)"]);
        assert_eq!((at(300).len(), at(301).len()), (1, 0));
        let mut slots = Vec::new();
        assert_eq!(fill(&mut slots, &held[..4], 2), None);
    }

    #[test]
    fn sources_are_spelled_as_messages_spell_them() {
        assert_eq!(
            (short_source("=stdin"), short_source("@a/b.lua")),
            ("stdin".into(), "a/b.lua".into())
        );
        assert_eq!(short_source("return 1"), "[string \"return 1\"]");
        assert_eq!(short_source("return 1\n"), "[string \"return 1...\"]");
        assert_eq!(short_source(&"x".repeat(99)), format!("[string \"{}...\"]", "x".repeat(45)));
    }
}
