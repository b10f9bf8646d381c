//! `.debug_frame` of the records `STACK CFI` (DWARF 5, 6.4.1).

use kcore_mem::{Svma, Target};

use super::{leb, records::Unwind, registers::Registers, rule};
use crate::target_bytes::TargetBytes;

const CFA_ADVANCE_LOC4: u8 = 0x04;
/// In the place of a pointer to it, says that an entry is one that others refer to.
const CIE: u32 = u32::MAX;

/// The entries so far.
pub struct Frames {
    base: Svma,
    registers: Option<Registers>,
    section: TargetBytes,
    /// The latest function.
    current: Option<Entry>,
}

/// The rules of a function.
struct Entry {
    start: u64,
    size: u64,
    /// Up to where rules are written.
    at: u64,
    instructions: TargetBytes,
}

impl Frames {
    pub fn new(target: Target, base: Svma) -> Self {
        let registers = Registers::of(target.arch);
        let mut section = TargetBytes::new(target);
        if let Some(registers) = registers {
            first_entry(&mut section, registers.return_address);
        }
        Self { base, registers, section, current: None }
    }

    /// Adds what a record says.
    pub fn add(&mut self, record: &Unwind<'_>) {
        let Some(registers) = self.registers else { return };
        if let Some(size) = record.size {
            self.end_entry();
            let instructions = self.section.empty();
            let start = record.start;
            self.current = Some(Entry { start, size, at: start, instructions });
        }
        let Some(mut entry) = self.current.take() else { return };
        // Nothing is known from a place on whose rules are not understood.
        match entry.add(record, &registers) {
            Some(()) => self.current = Some(entry),
            None => {
                entry.size = record.start.saturating_sub(entry.start).min(entry.size);
                self.current = Some(entry);
                self.end_entry();
            }
        }
    }

    fn end_entry(&mut self) {
        let Some(entry) = self.current.take().filter(|entry| entry.size > 0) else { return };
        let mut body = self.section.empty();
        body.u32(0).word(entry.start.wrapping_add(self.base.get())).word(entry.size);
        body.raw(&entry.instructions.finish()).align();
        append(&mut self.section, body);
    }

    /// The section; empty when there are no rules.
    pub fn finish(mut self) -> Vec<u8> {
        self.end_entry();
        self.section.finish()
    }
}

impl Entry {
    /// `None` of rules that are not understood.
    fn add(&mut self, record: &Unwind<'_>, registers: &Registers) -> Option<()> {
        let mut instructions = self.instructions.empty();
        let ahead = u32::try_from(record.start.checked_sub(self.at)?).ok()?;
        if ahead > 0 {
            instructions.raw(&[CFA_ADVANCE_LOC4]).u32(ahead);
        }
        rule::translate(record.rules, registers, &mut instructions)?;
        self.at = record.start;
        self.instructions.raw(&instructions.finish());
        Some(())
    }
}

/// The entry that all others refer to: version 3, both factors 1, no rules.
fn first_entry(section: &mut TargetBytes, return_address: u64) {
    let mut body = section.empty();
    body.u32(CIE).raw(&[3, 0]);
    leb::unsigned(&mut body, 1);
    leb::signed(&mut body, 1);
    leb::unsigned(&mut body, return_address);
    body.align();
    append(section, body);
}

/// Adds an entry behind its length.
fn append(section: &mut TargetBytes, body: TargetBytes) {
    section.u32(u32::try_from(body.len()).unwrap_or(0)).raw(&body.finish());
}
