//! The registers of aarch64: status and control, then the vectors.

use kcore::Aarch64FpRegisters;
use kcore_dcmd::{Cell, Fields};

use super::{flags, named, wide};

/// The layout.
pub const TEMPLATE: &str = "\
fpsr   0x{fpsr_digits} ({fpsr_words})
fpcr   0x{fpcr_digits} ({fpcr_words})
{vector_lines*\n{.}}";

/// Adds the cells.
pub fn fields<'a>(registers: &'a Aarch64FpRegisters, out: &mut Fields<'a>) {
    let Aarch64FpRegisters { vectors, fpsr, fpcr } = registers;
    let bits: Vec<String> = vectors.iter().map(|vector| wide(&vector.to_le_bytes())).collect();
    let lines = (0..).zip(&bits).map(|(index, bits)| {
        let name = format!("%v{index}");
        Cell::text(format!("{name:6} {bits}"))
    });
    let lines = lines.collect();
    let rounding = flags::choice(*fpcr, 22, ["RN", "RP", "RM", "RZ"]);
    let vectors = (0..).zip(bits).map(|(index, bits)| named(format!("v{index}"), bits));
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
