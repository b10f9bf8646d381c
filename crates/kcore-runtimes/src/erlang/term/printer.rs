//! A term as `io:format("~p")` prints it, on one line.

use kcore_mem::Addr;

use super::{
    TermKind, Terms, bignum,
    binary::{Bits, subtag},
    map::{self, Entries},
};
use crate::erlang::{
    atoms::{escaped, quoted},
    code::Mfa,
    layout::TermForm,
    missing::{Missing, Noting},
};

/// How much of a term is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermLimits {
    /// Terms inside of each other.
    pub depth: u32,
    /// Elements of one list, tuple or map.
    pub elements: usize,
    /// Characters of one text, and bytes of one binary.
    pub text: usize,
    /// Bytes of all that is printed.
    pub whole: usize,
}

/// A term as Erlang prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintedTerm {
    /// Its text.
    pub text: String,
    /// Whether a limit cut it.
    pub is_cut: bool,
    /// Why some of it cannot be read, if so: that it was not copied stands before other reasons.
    pub missing: Option<Missing>,
}

const CUT: &str = "...";
/// Kinds of objects, by their headers.
const TUPLE: u64 = 0;
const EXTERNAL_FUN: u64 = 1;
const POSITIVE: u64 = 2;
const NEGATIVE: u64 = 3;
const REFERENCE: u64 = 4;
const FUN: u64 = 5;
const FLOAT: u64 = 6;
const REMOTE_PID: u64 = 12;
const REMOTE_PORT: u64 = 13;
const REMOTE_REFERENCE: u64 = 14;
const ARITY_SHIFT: u32 = 6;
/// Words of an integer, at most: longer ones take long to print.
const MAX_WORDS: u64 = 64;
/// `ErlFunEntry`: its module, and the numbers that are printed.
const FUN_MODULE: u64 = 32;
const FUN_UNIQUE: u64 = 68;
const FUN_INDEX: u64 = 72;
/// The atom that to 26 stands in a fun which names an exported function.
const EXTERNAL: &str = "external";
const CREATOR: u64 = 32;

impl Terms<'_> {
    /// Prints a term. `noting` is the memory that these read.
    pub fn print(&self, term: u64, limits: TermLimits, noting: &Noting<'_>) -> PrintedTerm {
        let mut printer = Printer { terms: self, noting, limits, out: PrintedTerm::default() };
        printer.term(term, limits.depth);
        printer.out
    }
}

struct Printer<'a> {
    terms: &'a Terms<'a>,
    noting: &'a Noting<'a>,
    limits: TermLimits,
    out: PrintedTerm,
}

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.out.text.push_str(text);
    }

    fn cut(&mut self) {
        self.put(CUT);
        self.out.is_cut = true;
    }

    fn damaged(&mut self) {
        let missing = self.noting.missing();
        self.put(missing.shown());
        self.out.missing = self.out.missing.into_iter().chain([missing]).min();
    }

    fn is_full(&self) -> bool {
        self.out.text.len() >= self.limits.whole
    }

    fn term(&mut self, term: u64, depth: u32) {
        let Some(depth) = depth.checked_sub(1).filter(|_| !self.is_full()) else {
            return self.cut();
        };
        // What failed before was of another term, and may not have mattered.
        self.noting.forget();
        match TermKind::of(term) {
            TermKind::Atom => match self.terms.atom(term) {
                Some(text) => self.put(&quoted(&text)),
                None => self.damaged(),
            },
            TermKind::Small(number) => self.put(&number.to_string()),
            TermKind::Identifier => self.identifier(term),
            TermKind::Nil => self.put("[]"),
            TermKind::List(_) => self.list(term, depth),
            TermKind::Boxed(at) => {
                if self.boxed(at, depth).is_none() {
                    self.damaged();
                }
            }
            TermKind::Catch | TermKind::Other => self.damaged(),
        }
    }

    fn identifier(&mut self, term: u64) {
        if let Some(pid) = self.terms.ids.pid(term) {
            self.put(&pid.to_string());
        } else if let Some(port) = self.terms.ports.port(term) {
            self.put(&format!("#Port<0.{port}>"));
        } else {
            self.damaged();
        }
    }

    fn list(&mut self, list: u64, depth: u32) {
        if let Some(text) = self.characters(list) {
            return self.put(&text);
        }
        self.put("[");
        let mut rest = list;
        let mut count: usize = 0;
        while let TermKind::List(cell) = TermKind::of(rest) {
            if count > 0 {
                self.put(",");
            }
            if count >= self.limits.elements || self.is_full() {
                self.cut();
                return self.put("]");
            }
            count = count.saturating_add(1);
            let (Some(head), Some(tail)) =
                (self.terms.memory.word(cell, 0), self.terms.memory.word(cell, 8))
            else {
                self.damaged();
                return self.put("]");
            };
            self.term(head, depth);
            rest = tail;
        }
        if TermKind::of(rest) != TermKind::Nil {
            self.put("|");
            self.term(rest, depth);
        }
        self.put("]");
    }

    /// A list of nothing but characters that can be printed.
    fn characters(&mut self, list: u64) -> Option<String> {
        let mut text = String::new();
        let mut rest = list;
        let mut is_cut = false;
        while let TermKind::List(cell) = TermKind::of(rest) {
            let TermKind::Small(code) = TermKind::of(self.terms.memory.word(cell, 0)?) else {
                return None;
            };
            text.push(printable(u32::try_from(code).ok()?)?);
            rest = self.terms.memory.word(cell, 8)?;
            if text.len() >= self.limits.text {
                is_cut = TermKind::of(rest) != TermKind::Nil;
                break;
            }
        }
        (is_cut || TermKind::of(rest) == TermKind::Nil).then_some(())?;
        self.out.is_cut |= is_cut;
        Some(format!("\"{}\"{}", escaped(&text, '"'), if is_cut { CUT } else { "" }))
    }

    fn boxed(&mut self, at: Addr, depth: u32) -> Option<()> {
        let memory = self.terms.memory;
        let header = memory.word(at, 0)?;
        let kind = subtag(header)?;
        let count = header >> ARITY_SHIFT;
        let map = match memory.layout.terms {
            TermForm::Binaries => map::OLD_SUBTAG,
            TermForm::BitStrings => map::NEW_SUBTAG,
        };
        match kind {
            _ if kind == map => self.map(at, depth)?,
            TUPLE => self.tuple(at, count, depth)?,
            POSITIVE | NEGATIVE => self.integer(at, count, kind == NEGATIVE)?,
            REFERENCE => self.reference(at, count)?,
            FUN | EXTERNAL_FUN => self.fun(at, header)?,
            FLOAT => {
                let number = f64::from_bits(memory.word(at, 8)?);
                self.put(&float(number));
            }
            REMOTE_PID => {
                let pid = self.terms.ids.pid_of(memory.word(at, 16)?);
                self.put(&format!("#Pid<remote.{}.{}>", pid.number, pid.serial));
            }
            REMOTE_PORT => self.put(&format!("#Port<remote.{}>", memory.word(at, 16)?)),
            REMOTE_REFERENCE => self.put("#Ref<remote>"),
            _ => self.binary(at)?,
        }
        Some(())
    }

    fn tuple(&mut self, at: Addr, count: u64, depth: u32) -> Option<()> {
        self.put("{");
        for index in 0..count {
            if index > 0 {
                self.put(",");
            }
            if index >= self.limits.elements as u64 || self.is_full() {
                self.cut();
                break;
            }
            let element = self.terms.memory.element(at, index.checked_add(1)?)?;
            self.term(element, depth);
        }
        self.put("}");
        Some(())
    }

    fn map(&mut self, at: Addr, depth: u32) -> Option<()> {
        let found = Entries::load(&self.terms.memory, at, self.limits.elements)?;
        self.put("#{");
        for (index, (key, value)) in found.entries.iter().enumerate() {
            if index > 0 {
                self.put(",");
            }
            self.term(*key, depth);
            self.put(" => ");
            self.term(*value, depth);
        }
        if (found.entries.len() as u64) < found.count {
            if !found.entries.is_empty() {
                self.put(",");
            }
            self.cut();
        }
        self.put("}");
        Some(())
    }

    fn integer(&mut self, at: Addr, count: u64, is_negative: bool) -> Option<()> {
        if count > MAX_WORDS {
            self.put(&format!("#Integer<{count} words>"));
            self.out.is_cut = true;
            return Some(());
        }
        let word = |index: u64| self.terms.memory.element(at, index.checked_add(1)?);
        let words: Option<Vec<u64>> = (0..count).map(word).collect();
        self.put(&bignum::decimal(&words?, is_negative));
        Some(())
    }

    /// Its numbers, as they are printed: the last comes first.
    fn reference(&mut self, at: Addr, count: u64) -> Option<()> {
        let memory = &self.terms.memory;
        let number = |offset| memory.uint(at, offset, 4);
        // One that stands for memory of a library has no numbers of its own here.
        if number(8)? != 0xffff_ffff && count < 3 {
            self.put("#Ref<magic>");
            return Some(());
        }
        let (first, second, third) = (number(12)?, number(16)?, number(20)?);
        let (low, high) = (first & 0x3_ffff, first >> 18);
        self.put(&format!("#Ref<0.{third}.{second}.{low}>"));
        // Only 18 bits of the first number are in use.
        (high == 0).then_some(())
    }

    fn fun(&mut self, at: Addr, header: u64) -> Option<()> {
        let memory = self.terms.memory;
        let entry = memory.pointer(at, 8)?;
        let is_external = match memory.layout.terms {
            TermForm::Binaries => {
                let creator = memory.word(at, CREATOR)?;
                self.terms.atom(creator).as_deref() == Some(EXTERNAL)
            }
            TermForm::BitStrings => header >> 16 == 0,
        };
        if is_external {
            let mfa = Mfa::load(&memory, entry.checked_add(memory.layout.export)?)?;
            let (module, function) = (self.terms.atom(mfa.module)?, self.terms.atom(mfa.function)?);
            self.put(&format!("fun {}:{}/{}", quoted(&module), quoted(&function), mfa.arity));
            return Some(());
        }
        let module = self.terms.atom(memory.word(entry, FUN_MODULE)?)?;
        let (index, unique) =
            (memory.uint(entry, FUN_INDEX, 4)?, memory.uint(entry, FUN_UNIQUE, 4)?);
        self.put(&format!("#Fun<{}.{index}.{unique}>", quoted(&module)));
        Some(())
    }

    fn binary(&mut self, at: Addr) -> Option<()> {
        let bits = Bits::load(&self.terms.memory, at)?;
        let most = self.limits.text as u64;
        let held = bits.bytes(&self.terms.memory, most);
        let count = bits.count.div_ceil(8);
        (held.len() as u64 == count.min(most)).then_some(())?;
        let is_cut = count > most;
        self.out.is_cut |= is_cut;
        let more = if is_cut { CUT } else { "" };
        let is_whole = bits.count.is_multiple_of(8);
        let text = std::str::from_utf8(&held).ok().filter(|text| is_whole && !text.is_empty());
        if let Some(text) =
            text.filter(|text| text.chars().all(|it| printable(it.into()).is_some()))
        {
            let kind = if text.is_ascii() { "" } else { "/utf8" };
            self.put(&format!("<<\"{}\"{kind}{more}>>", escaped(text, '"')));
            return Some(());
        }
        let mut parts: Vec<String> = held.iter().map(u8::to_string).collect();
        if let (false, false, Some(last)) = (is_whole, is_cut, held.last()) {
            let left = u32::try_from(bits.count % 8).ok()?;
            parts.pop();
            parts.push(format!("{}:{left}", last.checked_shr(8_u32.checked_sub(left)?)?));
        }
        self.put(&format!("<<{}{more}>>", parts.join(",")));
        Some(())
    }
}

/// A character that `~p` shows as such.
fn printable(code: u32) -> Option<char> {
    let is_plain = matches!(code, 0x20..=0x7e | 0xa0.. | 8..=13 | 27);
    is_plain.then(|| char::from_u32(code)).flatten()
}

/// A number as Erlang writes it: always with a point.
fn float(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{number:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
            _ => text,
        };
    }
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_point() {
        assert_eq!(float(1.0), "1.0");
        assert_eq!(float(-0.5), "-0.5");
        assert_eq!(float(1e22), "1.0e22");
        assert_eq!(float(1.5e-7), "1.5e-7");
    }
}
