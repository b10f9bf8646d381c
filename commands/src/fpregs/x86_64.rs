//! The registers of x86-64 and i386 as MDB lays them out: x87, its stack, SSE, then the wider vectors.

use kcore::{VectorRegister, X86FpRegisters, X87Register};
use kcore_dcmd::{Cell, Fields};

use super::{extended, flags, named, wide};

/// The layout.
pub const TEMPLATE: &str = "\
{chip}
cw     0x{cw_digits} ({cw_words})
sw     0x{sw_digits} (TOP=0t{top}) ({sw_words})

fop    0x{fop_digits}
{wide}ip    0x{rip_digits}
{wide}dp    0x{rdp_digits}
{st_lines*\n{.}}

mxcsr  0x{mxcsr_digits} ({mxcsr_words})
{vector_lines*\n{.}}{mask_lines?\n{mask_lines*\n{.}}}{pkru?\n\npkru   {pkru_digits}}";

/// Adds the cells.
pub fn fields<'a>(registers: &'a X86FpRegisters, out: &mut Fields<'a>) {
    facts(registers, out);
    words(registers, out);
    let list = |lines: Vec<String>| Cell::List(lines.into_iter().map(Cell::text).collect());
    out.display("st_lines", list(st_lines(registers)))
        .display("vector_lines", list(vector_lines(registers)))
        .display("mask_lines", list(mask_lines(registers)));
}

fn facts<'a>(registers: &'a X86FpRegisters, out: &mut Fields<'a>) {
    let vectors = (0..).zip(&registers.vectors).map(|(index, VectorRegister(bytes))| {
        named(format!("{}{index}", name_of_width(bytes.len())), wide(bytes))
    });
    let masks = registers.masks.into_iter().flatten().map(Cell::Hex);
    out.hex("control", u64::from(registers.control))
        .hex("status", u64::from(registers.status))
        .put("x87", x87_cell(registers))
        .hex("mxcsr", u64::from(registers.mxcsr))
        .put("vectors", Cell::List(vectors.collect()))
        .put("masks", Cell::List(masks.collect()))
        .hex("pkru", registers.pkru.map(u64::from));
}

fn x87_cell(registers: &X86FpRegisters) -> Cell<'static> {
    let stack = (0..).zip(&registers.st).map(|(index, register)| {
        let X87Register { exponent, significand } = register;
        Cell::Object(vec![
            ("name", Cell::text(format!("st{index}"))),
            ("bits", Cell::text(format!("0x{exponent:04x}{significand:016x}"))),
            ("value", Cell::text(extended::text(*register))),
            ("state", Cell::text(state(registers, index))),
        ])
    });
    Cell::Object(vec![
        ("opcode", Cell::Hex(u64::from(registers.opcode))),
        ("instruction", Cell::Addr(registers.instruction)),
        ("operand", Cell::Addr(registers.operand)),
        ("top", Cell::Num(u64::from(registers.top()))),
        ("stack", Cell::List(stack.collect())),
    ])
}

/// Digits and words that only the template shows.
fn words<'a>(registers: &'a X86FpRegisters, out: &mut Fields<'a>) {
    let (control, status) = (u32::from(registers.control), u32::from(registers.status));
    let precision = flags::choice(control, 8, ["SIG24", "SIG0", "SIG53", "SIG64"]);
    let rounding = flags::choice(control, 10, ROUNDING);
    // SSE rounds to the nearest by default. The mode is shown only if it is another one.
    let sse_rounding = flags::choice(registers.mxcsr, 13, ROUNDING);
    let sse_others: &[&str] = if sse_rounding == "RTN" { &[] } else { &[sse_rounding] };
    let text = |text: String| Cell::text(text);
    let (chip, wide) = match registers.is_i386 {
        true => ("80486 chip with SSE", "e"),
        false => ("AMD64 (80486 chip with SSE)", "r"),
    };
    out.display("chip", Cell::text(chip))
        .display("wide", Cell::text(wide))
        .display("cw_digits", text(format!("{control:04x}")))
        .display("cw_words", text(flags::words(control, flags::X87_MASKS, &[precision, rounding])))
        .display("sw_digits", text(format!("{status:04x}")))
        .display("sw_words", text(flags::words(status, flags::X87_STATUS, &[])))
        .display("top", Cell::Num(u64::from(registers.top())))
        .display("fop_digits", text(format!("{:x}", registers.opcode)))
        .display("rip_digits", text(format!("{:x}", registers.instruction)))
        .display("rdp_digits", text(format!("{:x}", registers.operand)))
        .display("mxcsr_digits", text(format!("{:04x}", registers.mxcsr)))
        .display("mxcsr_words", text(flags::words(registers.mxcsr, flags::MXCSR, sse_others)))
        .display("pkru_digits", text(format!("{:#010x}", registers.pkru.unwrap_or_default())));
}

const ROUNDING: [&str; 4] = ["RTN", "RD", "RU", "RTZ"];

fn st_lines(registers: &X86FpRegisters) -> Vec<String> {
    let lines = (0..).zip(&registers.st).map(|(index, register)| {
        let X87Register { exponent, significand } = register;
        let (value, state) = (extended::text(*register), state(registers, index));
        format!("%st{index}   0x{exponent:04x}.{significand:016x} = {value} {state}")
    });
    lines.collect()
}

/// The state of a register in the tag word.
fn state(registers: &X86FpRegisters, index: u8) -> &'static str {
    let register = registers.st.get(usize::from(index)).copied().unwrap_or_default();
    match (registers.is_used(index), register.exponent & 0x7fff, register.significand) {
        (false, ..) => "empty",
        (true, 0, 0) => "zero",
        (true, 1..0x7fff, significand) if significand >> 63 == 1 => "valid",
        (true, ..) => "special",
    }
}

/// The 16 registers of SSE; then, where they are in use, the same as wide as AVX has them, and as
/// wide as AVX-512 has them.
fn vector_lines(registers: &X86FpRegisters) -> Vec<String> {
    let used = registers.in_use;
    let mut lines = lines_of_width(registers, 16, 16);
    if used.ymm {
        lines.push(String::new());
        lines.extend(lines_of_width(registers, 16, 32));
    }
    if used.zmm || used.high {
        lines.push(String::new());
        lines.extend(lines_of_width(registers, if used.high { 32 } else { 16 }, 64));
    }
    lines
}

/// The first `count` registers, `width` bytes of each, at most 32 bytes in a line.
fn lines_of_width(registers: &X86FpRegisters, count: usize, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, VectorRegister(bytes)) in registers.vectors.iter().take(count).enumerate() {
        let name = format!("%{}{index}", name_of_width(width));
        let bytes = bytes.get(..width).unwrap_or(bytes);
        match bytes.split_at_checked(32).filter(|(_, high)| !high.is_empty()) {
            Some((low, high)) => {
                lines.push(format!("{name:6} [511:256] {}", wide(high)));
                lines.push(format!("{:6} [255:0]   {}", "", wide(low)));
            }
            None => lines.push(format!("{name:6} {}", wide(bytes))),
        }
    }
    lines
}

fn mask_lines(registers: &X86FpRegisters) -> Vec<String> {
    let masks = registers.masks.filter(|_| registers.in_use.masks);
    let lines = (0..).zip(masks.into_iter().flatten());
    lines.map(|(index, mask)| format!("%k{index}    {mask:#018x}")).collect()
}

const fn name_of_width(bytes: usize) -> &'static str {
    match bytes {
        16 => "xmm",
        32 => "ymm",
        _ => "zmm",
    }
}
