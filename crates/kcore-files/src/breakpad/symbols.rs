//! The symbol table: functions with their sizes, and other symbols without.

use kcore_mem::{Svma, Target};

use super::{names::plain, records::Record, strings::Strings};
use crate::target_bytes::TargetBytes;

/// A function that other files may refer to: `STB_GLOBAL`, `STT_FUNC`.
const GLOBAL_FUNCTION: u8 = 0x12;
/// The section of all code.
const TEXT: u16 = 1;

/// Symbols so far: name, start and size.
#[derive(Default)]
pub struct Symbols(Vec<(u32, u64, u64)>);

impl Symbols {
    /// Adds what a record says.
    pub fn add<'a>(&mut self, record: &Record<'a>, strings: &mut Strings<'a>) {
        match record {
            Record::Function { start, size, name } => {
                self.0.push((strings.add(plain(name)), *start, *size));
            }
            Record::Public { start, name } => self.0.push((strings.add(plain(name)), *start, 0)),
            _ => {}
        }
    }

    /// The section (`Elf64_Sym`, `Elf32_Sym`), the first entry being empty.
    pub fn finish(self, target: Target, base: Svma) -> Vec<u8> {
        let mut section = TargetBytes::new(target);
        let is_wide = target.word_size() == 8;
        section.zeros_to(Self::entry_size(target));
        for (name, start, size) in self.0 {
            let start = start.wrapping_add(base.get());
            section.u32(name);
            if is_wide {
                section.raw(&[GLOBAL_FUNCTION, 0]).u16(TEXT).word(start).word(size);
            } else {
                section.word(start).word(size).raw(&[GLOBAL_FUNCTION, 0]).u16(TEXT);
            }
        }
        section.finish()
    }

    /// Bytes of an entry.
    pub const fn entry_size(target: Target) -> usize {
        if target.word_size() == 8 { 24 } else { 16 }
    }
}
