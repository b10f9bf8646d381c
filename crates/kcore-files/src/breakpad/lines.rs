//! The line program (DWARF 4, 6.2).

use std::collections::HashMap;

use kcore_mem::{Svma, Target};

use super::leb;
use crate::target_bytes::TargetBytes;

const COPY: u8 = 1;
const ADVANCE_PC: u8 = 2;
const ADVANCE_LINE: u8 = 3;
const SET_FILE: u8 = 4;
/// How many operands each of the standard opcodes has.
const OPERANDS: [u8; 12] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

/// A line and its code.
#[derive(Clone, Copy)]
pub struct Row {
    pub start: u64,
    pub size: u64,
    pub line: u32,
    pub file: u32,
}

/// Files and rows so far.
pub struct Lines {
    base: Svma,
    names: TargetBytes,
    /// The place of each file in the table, from 1 on, by its number in the symbol file.
    places: HashMap<u32, u64>,
    program: TargetBytes,
}

/// The registers of the machine that runs a line program.
struct State {
    at: u64,
    line: u32,
    file: u64,
}

impl Lines {
    pub fn new(target: Target, base: Svma) -> Self {
        let (names, program) = (TargetBytes::new(target), TargetBytes::new(target));
        Self { base, names, places: HashMap::new(), program }
    }

    /// Adds a file. Of two with one number the first counts.
    pub fn add_file(&mut self, number: u32, name: &[u8]) {
        let place = (self.places.len() as u64).saturating_add(1);
        if self.places.contains_key(&number) || name.contains(&0) {
            return;
        }
        self.places.insert(number, place);
        // No folder, no time, no length.
        self.names.raw(name).raw(&[0, 0, 0, 0]);
    }

    /// The place of a file in the table; 0 of one that is not known.
    pub fn place(&self, number: Option<u32>) -> u64 {
        number.and_then(|number| self.places.get(&number).copied()).unwrap_or(0)
    }

    /// Adds the lines of a function, which come in the order of addresses.
    pub fn add_function(&mut self, rows: &[Row]) {
        let mut state: Option<State> = None;
        for row in rows {
            if state.as_ref().is_some_and(|state| state.at != row.start) {
                self.end_sequence();
                state = None;
            }
            let mut now = state.unwrap_or_else(|| self.begin_sequence(row.start));
            self.add_row(&mut now, row);
            state = Some(now);
        }
        if state.is_some() {
            self.end_sequence();
        }
    }

    /// `DW_LNE_set_address`.
    fn begin_sequence(&mut self, start: u64) -> State {
        let mut operand = self.program.empty();
        operand.word(start.wrapping_add(self.base.get()));
        self.program.raw(&[0]);
        leb::unsigned(&mut self.program, (operand.len() as u64).saturating_add(1));
        self.program.raw(&[2]).raw(&operand.finish());
        State { at: start, line: 1, file: 1 }
    }

    /// `DW_LNE_end_sequence`.
    fn end_sequence(&mut self) {
        self.program.raw(&[0, 1, 1]);
    }

    fn add_row(&mut self, state: &mut State, row: &Row) {
        let file = self.place(Some(row.file));
        let ahead = i64::from(row.line).saturating_sub(i64::from(state.line));
        let program = &mut self.program;
        if file != state.file {
            program.raw(&[SET_FILE]);
            leb::unsigned(program, file);
        }
        program.raw(&[ADVANCE_LINE]);
        leb::signed(program, ahead);
        program.raw(&[COPY, ADVANCE_PC]);
        leb::unsigned(program, row.size);
        *state = State { at: row.start.wrapping_add(row.size), line: row.line, file };
    }

    /// The section.
    pub fn finish(self) -> Vec<u8> {
        let mut header = self.names.empty();
        // Bytes in an instruction, operations in one, statements, and the special opcodes, which are not used.
        header.raw(&[1, 1, 1, 0xfb, 14, 13]).raw(&OPERANDS).raw(&[0]);
        header.raw(&self.names.finish()).raw(&[0]);
        let mut unit = header.empty();
        unit.u16(4).u32(u32::try_from(header.len()).unwrap_or(0));
        unit.raw(&header.finish()).raw(&self.program.finish());
        let mut section = unit.empty();
        section.u32(u32::try_from(unit.len()).unwrap_or(0)).raw(&unit.finish());
        section.finish()
    }
}
