//! Functions of Lua: `Proto` of `lobject.h`, lines as `luaG_getfuncline` of `ldebug.c` finds them.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{layout::Series, memory::Memory};

/// No function has more instructions, lines, variables or constants.
const MAX_SIZE: u64 = 1 << 26;
/// Bytes of a local variable's description, and where its name, beginning and end lie.
const LOCAL: u64 = 16;
const START: u64 = 8;
const END: u64 = 12;
/// Bytes of a line that others are counted from.
const ABSOLUTE: u64 = 8;
/// Bytes of a source as messages have it, at most: `LUA_IDSIZE` without a zero.
const SHOWN: usize = 59;

/// The code of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proto {
    /// It.
    pub at: Addr,
    /// Where its instructions lie.
    pub code: Addr,
    /// How many it has.
    pub size: u64,
    /// What it was read from, as Lua has it: `@file`, `=name`, or text.
    pub source: Arc<str>,
    /// The line where it begins; 0 of a file's.
    pub first_line: u64,
    /// How many parameters it names.
    pub parameters: u64,
}

/// A local variable that is seen at an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalName {
    /// Its name.
    pub name: String,
    /// Its register.
    pub register: u64,
}

impl Proto {
    /// The code at an address, if it is code.
    pub fn load(memory: &Memory<'_>, at: Addr) -> Option<Self> {
        let layout = &memory.layout.proto;
        let code = memory.pointer_to_words(at, layout.code.0)?;
        let size =
            memory.uint(at, layout.code.1, 4).filter(|size| (1..=MAX_SIZE).contains(size))?;
        // A function without debug information has no source.
        let source = match memory.word(at, layout.source)? {
            0 => "=?".to_owned(),
            _ => memory.source(memory.pointer(at, layout.source)?)?,
        };
        Some(Self {
            at,
            code,
            size,
            source: source.into(),
            first_line: memory.uint(at, layout.first_line, 4)?,
            parameters: memory.uint(at, layout.parameters, 1)?,
        })
    }

    /// The index of the instruction before an address, which is the one that runs.
    pub fn index(&self, saved: u64) -> Option<u64> {
        let offset = saved.checked_sub(self.code.get()).filter(|offset| offset % 4 == 0)?;
        let index = offset.checked_div(4)?.checked_sub(1)?;
        (index < self.size).then_some(index)
    }

    /// An instruction.
    pub fn instruction(&self, memory: &Memory<'_>, index: u64) -> Option<u32> {
        let word = memory.uint(self.code, index.checked_mul(4)?, 4).filter(|_| index < self.size);
        word.and_then(|word| u32::try_from(word).ok())
    }

    /// The line of an instruction; `None` where the function has no lines.
    pub fn line(&self, memory: &Memory<'_>, index: u64) -> Option<u32> {
        let layout = &memory.layout.proto;
        let count = memory.uint(self.at, layout.lines.1, 4).filter(|count| index < *count)?;
        let lines = memory.pointer_to_words(self.at, layout.lines.0).filter(|_| count > 0)?;
        let line = match layout.absolute_lines {
            None => memory.uint(lines, index.checked_mul(4)?, 4)?,
            Some(absolute) => self.counted_line(memory, lines, absolute, index)?,
        };
        u32::try_from(line).ok().filter(|line| *line > 0)
    }

    /// Since 5.4 most instructions have but the difference to the line before.
    fn counted_line(
        &self,
        memory: &Memory<'_>,
        lines: Addr,
        (absolute, count): (u64, u64),
        index: u64,
    ) -> Option<u64> {
        let count = memory.uint(self.at, count, 4).filter(|count| *count <= MAX_SIZE)?;
        let entry = |number: u64| {
            let at = memory.pointer(self.at, absolute)?;
            let at = at.checked_add(number.checked_mul(ABSOLUTE)?)?;
            Some((memory.uint(at, 0, 4)?, memory.uint(at, 4, 4)?))
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.checked_add(high)?.checked_div(2)?;
            match entry(middle)?.0 <= index {
                true => low = middle.checked_add(1)?,
                false => high = middle,
            }
        }
        let base = match low.checked_sub(1) {
            Some(number) => entry(number)?,
            None => (u64::MAX, self.first_line),
        };
        let from = base.0.wrapping_add(1);
        let len = index.checked_add(1)?.checked_sub(from)?;
        let bytes = memory.space.read_held(lines.checked_add(from)?, len);
        (bytes.len() as u64 == len).then_some(())?;
        let sum: i64 = bytes.iter().map(|byte| i64::from(byte.cast_signed())).sum();
        base.1.checked_add_signed(sum)
    }

    /// The local variables that are seen at an instruction, in the order of their registers.
    pub fn locals(&self, memory: &Memory<'_>, index: u64) -> Vec<LocalName> {
        let layout = &memory.layout.proto;
        let count = memory.uint(self.at, layout.locals.1, 4).unwrap_or_default().min(MAX_SIZE);
        let Some(first) = memory.pointer(self.at, layout.locals.0) else { return Vec::new() };
        let (mut names, mut register) = (Vec::new(), 0_u64);
        for number in 0..count {
            let Some(at) = first.checked_add(number.saturating_mul(LOCAL)) else { break };
            let range = memory.uint(at, START, 4).zip(memory.uint(at, END, 4));
            // They are sorted by where they begin.
            let Some((start, end)) = range.filter(|(start, _)| *start <= index) else { break };
            if index < end && start <= index {
                let name = memory.pointer(at, 0).and_then(|name| memory.text(name));
                names.extend(name.map(|name| LocalName { name, register }));
                register = register.saturating_add(1);
            }
        }
        names
    }

    /// The name of an upvalue.
    pub fn upvalue(&self, memory: &Memory<'_>, index: u64) -> Option<String> {
        let layout = &memory.layout.proto;
        let count = memory.uint(self.at, layout.upvalues.1, 4)?;
        (index < count).then_some(())?;
        let names = memory.pointer(self.at, layout.upvalues.0)?;
        memory.text(memory.pointer(names, index.checked_mul(layout.upvalue_size)?)?)
    }

    /// A constant that is text.
    pub fn constant(&self, memory: &Memory<'_>, index: u64) -> Option<String> {
        let layout = &memory.layout.proto;
        let count = memory.uint(self.at, layout.constants.1, 4)?;
        let first = memory.pointer(self.at, layout.constants.0).filter(|_| index < count)?;
        let value = memory.value(first.checked_add(index.checked_mul(super::memory::VALUE)?)?)?;
        memory.text(value.object(super::memory::STRING)?)
    }

    /// The file name, or the name that the program gave to code that is from no file.
    pub fn file(&self) -> Arc<str> {
        match self.source.strip_prefix(['@', '=']) {
            Some(name) => name.into(),
            None => short_source(&self.source, Series::V54).into(),
        }
    }

    /// What a message calls a function that has no name.
    pub fn place(&self, series: Series) -> String {
        match self.first_line {
            0 => "main chunk".to_owned(),
            line => format!("function <{}:{line}>", short_source(&self.source, series)),
        }
    }
}

impl Memory<'_> {
    /// What a function was read from. Of long text its beginning is enough.
    fn source(&self, at: Addr) -> Option<String> {
        let (bytes, length) = self.text_bytes(at)?;
        let held = self.space.read_held(bytes, length.min(4096));
        Some(String::from_utf8_lossy(&held).into_owned())
    }

    fn pointer_to_words(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.word(at, offset).filter(|word| *word >= 0x1000 && word % 4 == 0).map(Addr::new)
    }
}

/// A source as messages have it: `luaO_chunkid` of `lobject.c`.
fn short_source(source: &str, series: Series) -> String {
    const DOTS: &str = "...";
    let is_old = series == Series::V51;
    if let Some(name) = source.strip_prefix('=') {
        return cut(name, SHOWN).to_owned();
    }
    if let Some(name) = source.strip_prefix('@') {
        let (most, left) = if is_old { (52, 52) } else { (SHOWN, 56) };
        return match name.len() > most {
            true => format!("{DOTS}{}", tail(name, left)),
            false => name.to_owned(),
        };
    }
    let (most, left) = if is_old { (43, 43) } else { (44, 45) };
    let first = source.split('\n').next().unwrap_or_default();
    match source.contains('\n') || first.len() > most {
        true => format!("[string \"{}{DOTS}\"]", cut(first, left)),
        false => format!("[string \"{first}\"]"),
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
    fn sources_are_spelled_as_messages_spell_them() {
        let short = |source: &str| short_source(source, Series::V54);
        assert_eq!((short("=stdin"), short("@a/b.lua")), ("stdin".into(), "a/b.lua".into()));
        assert_eq!(short("return 1"), "[string \"return 1\"]");
        assert_eq!(short("return 1\n"), "[string \"return 1...\"]");
        let long = format!("@/{}/x.lua", "d".repeat(80));
        assert_eq!(short(&long), format!("...{}/x.lua", "d".repeat(50)));
        assert_eq!(short_source(&long, Series::V51), format!("...{}/x.lua", "d".repeat(46)));
        assert_eq!(short(&"x".repeat(99)), format!("[string \"{}...\"]", "x".repeat(45)));
        assert_eq!(
            short_source(&"x".repeat(99), Series::V51),
            format!("[string \"{}...\"]", "x".repeat(43))
        );
    }
}
