//! The registers of aarch64: status and control, then the vectors.

use kcore::{Aarch64FpRegisters, ScalableRegisters, VectorRegister};
use kcore_dcmd::{Cell, Fields};

use super::{flags, lines_of, named, wide};

/// The layout.
pub const TEMPLATE: &str = "\
fpsr   0x{fpsr_digits} ({fpsr_words})
fpcr   0x{fpcr_digits} ({fpcr_words})
{vector_lines*\n{.}}";

/// Adds the cells.
pub fn fields<'a>(registers: &'a Aarch64FpRegisters, out: &mut Fields<'a>) {
    let Aarch64FpRegisters { fpsr, fpcr, .. } = registers;
    let registers = all(registers);
    let lines = registers.iter().flat_map(|(name, bytes)| lines_of(name, bytes));
    let lines = lines.map(Cell::text).collect();
    let rounding = flags::choice(*fpcr, 22, ["RN", "RP", "RM", "RZ"]);
    let vectors = registers.iter().map(|(name, bytes)| named(name.clone(), wide(bytes)));
    out.hex("control", u64::from(*fpcr))
        .hex("status", u64::from(*fpsr))
        .put("x87", Cell::Null)
        .put("mxcsr", Cell::Null)
        .put("vectors", Cell::List(vectors.collect()))
        .put("masks", Cell::List(Vec::new()))
        .put("pkru", Cell::Null)
        .display("fpsr_digits", Cell::text(format!("{fpsr:08x}")))
        .display("fpsr_words", Cell::text(flags::words(*fpsr, flags::FPSR, &[])))
        .display("fpcr_digits", Cell::text(format!("{fpcr:08x}")))
        .display("fpcr_words", Cell::text(flags::words(*fpcr, flags::FPCR, &[rounding])))
        .display("vector_lines", Cell::List(lines));
}

/// All vectors by name, lowest byte first: those of SVE in the place of v0 to v31, which they hold.
fn all(registers: &Aarch64FpRegisters) -> Vec<(String, Vec<u8>)> {
    let numbered = |prefix: &'static str| {
        move |(index, bytes): (usize, Vec<u8>)| (format!("{prefix}{index}"), bytes)
    };
    let bytes = |registers: &[VectorRegister]| -> Vec<Vec<u8>> {
        registers.iter().map(|it| it.0.clone()).collect()
    };
    let Some(ScalableRegisters { vectors, predicates, first_fault, .. }) = &registers.scalable
    else {
        let vectors = registers.vectors.iter().map(|it| it.to_le_bytes().to_vec());
        return vectors.enumerate().map(numbered("v")).collect();
    };
    let vectors = bytes(vectors).into_iter().enumerate().map(numbered("z"));
    let predicates = bytes(predicates).into_iter().enumerate().map(numbered("p"));
    let first_fault = ("ffr".to_owned(), first_fault.0.clone());
    vectors.chain(predicates).chain([first_fault]).collect()
}
