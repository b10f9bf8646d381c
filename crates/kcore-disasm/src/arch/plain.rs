//! Machines whose instructions are shown, and followed where they jump, but not looked into: which data they use is
//! not told.

use capstone::{Arch, Capstone, CsResult, Endian, ExtraMode, Insn, Mode, Syntax};
use kcore_mem::{self as mem, Access, Addr, AddrRange, JumpSource, MemoryOperand, Target};

use crate::{Reference, arch::Machine, register_write::RegisterWrite};

/// A machine, as Capstone knows it.
pub struct Plain {
    arch: Arch,
    mode: Mode,
    extra: Option<ExtraMode>,
    endian: Option<Endian>,
    syntax: Option<Syntax>,
    /// Bytes of the shortest and of the longest instruction.
    lengths: [usize; 2],
    /// What jumps are called that are always taken.
    jumps: &'static [&'static str],
    /// What instructions are called that stop the program.
    traps: &'static [&'static str],
    /// Other names of registers than Capstone's: both without the dollar sign.
    names: &'static [(&'static str, &'static str)],
    /// Whether jumps state how far they lead, and not where.
    relative: bool,
}

const BASE: Plain = Plain {
    arch: Arch::RISCV,
    mode: Mode::RiscV64,
    extra: None,
    endian: None,
    syntax: None,
    lengths: [4, 4],
    jumps: &[],
    traps: &[],
    names: &[],
    relative: false,
};

/// Capstone has the names of o32 alone.
const NAMES_OF_O32: &[(&str, &str)] = &[("fp", "s8")];
const NAMES_OF_N64: &[(&str, &str)] = &[
    ("t0", "a4"),
    ("t1", "a5"),
    ("t2", "a6"),
    ("t3", "a7"),
    ("t4", "t0"),
    ("t5", "t1"),
    ("t6", "t2"),
    ("t7", "t3"),
    ("fp", "s8"),
];

/// In AT&T syntax.
static I386: Plain = Plain {
    arch: Arch::X86,
    mode: Mode::Mode32,
    syntax: Some(Syntax::Att),
    lengths: [1, 15],
    jumps: &["jmp", "jmpl", "ljmp", "ljmpl"],
    traps: &["ud0", "ud1", "ud2", "int3", "int1", "hlt"],
    ..BASE
};

static RISCV64: Plain = Plain {
    extra: Some(ExtraMode::RiscVC),
    lengths: [2, 4],
    jumps: &["j", "c.j", "jr", "c.jr"],
    traps: &["ebreak", "c.ebreak", "unimp", "c.unimp"],
    relative: true,
    ..BASE
};

static RISCV32: Plain = Plain {
    mode: Mode::RiscV32,
    extra: Some(ExtraMode::RiscVC),
    lengths: [2, 4],
    jumps: &["j", "c.j", "jr", "c.jr"],
    traps: &["ebreak", "c.ebreak", "unimp", "c.unimp"],
    relative: true,
    ..BASE
};

/// Code is little-endian in programs of either order (BE8).
static ARM: Plain = Plain {
    arch: Arch::ARM,
    mode: Mode::Arm,
    endian: Some(Endian::Little),
    jumps: &["b", "bx"],
    traps: &["udf", "bkpt"],
    ..BASE
};

/// The other instruction set of 32-bit Arm.
pub static THUMB: Plain = Plain {
    arch: Arch::ARM,
    mode: Mode::Thumb,
    endian: Some(Endian::Little),
    lengths: [2, 4],
    jumps: &["b", "b.w", "bx"],
    traps: &["udf", "udf.w", "bkpt"],
    ..BASE
};

static POWERPC64_LITTLE: Plain = powerpc(Mode::Mode64, Endian::Little);
static POWERPC64_BIG: Plain = powerpc(Mode::Mode64, Endian::Big);
static POWERPC32_BIG: Plain = powerpc(Mode::Mode32, Endian::Big);
static MIPS_BIG: Plain = mips(Mode::Mips32, Endian::Big, NAMES_OF_O32);
static MIPS_LITTLE: Plain = mips(Mode::Mips32, Endian::Little, NAMES_OF_O32);
static MIPS64_BIG: Plain = mips(Mode::Mips64, Endian::Big, NAMES_OF_N64);
static MIPS64_LITTLE: Plain = mips(Mode::Mips64, Endian::Little, NAMES_OF_N64);

static S390: Plain = Plain {
    arch: Arch::SYSZ,
    mode: Mode::Default,
    endian: Some(Endian::Big),
    lengths: [2, 6],
    jumps: &["j", "jg", "br"],
    ..BASE
};

static SPARC64: Plain = Plain {
    arch: Arch::SPARC,
    mode: Mode::V9,
    endian: Some(Endian::Big),
    jumps: &["ba", "jmp"],
    traps: &["unimp"],
    ..BASE
};

static M68K: Plain = Plain {
    arch: Arch::M68K,
    mode: Mode::M68k040,
    endian: Some(Endian::Big),
    lengths: [2, 22],
    jumps: &["bra", "bra.b", "bra.w", "bra.l", "jmp"],
    traps: &["illegal"],
    ..BASE
};

const fn powerpc(mode: Mode, endian: Endian) -> Plain {
    let (jumps, traps): (&[_], &[_]) = (&["b", "ba", "bctr", "blr"], &["trap"]);
    Plain { arch: Arch::PPC, mode, endian: Some(endian), jumps, traps, ..BASE }
}

const fn mips(mode: Mode, endian: Endian, names: &'static [(&'static str, &'static str)]) -> Plain {
    let (jumps, traps): (&[_], &[_]) = (&["b", "j", "jr"], &["break"]);
    Plain { arch: Arch::MIPS, mode, endian: Some(endian), jumps, traps, names, ..BASE }
}

/// The machine of a target. Code of 32-bit Arm is in either of two instruction sets, of which [`THUMB`] is the other.
pub fn machine(target: Target) -> Option<&'static Plain> {
    use mem::{Arch, Endian};
    Some(match (target.arch, target.endian) {
        (Arch::I386, _) => &I386,
        (Arch::Arm, _) => &ARM,
        (Arch::Riscv64, _) => &RISCV64,
        (Arch::Riscv32, _) => &RISCV32,
        (Arch::PowerPc64, Endian::Little) => &POWERPC64_LITTLE,
        (Arch::PowerPc64, Endian::Big) => &POWERPC64_BIG,
        (Arch::PowerPc, Endian::Big) => &POWERPC32_BIG,
        (Arch::S390x | Arch::S390, Endian::Big) => &S390,
        (Arch::Mips, Endian::Big) => &MIPS_BIG,
        (Arch::Mips, Endian::Little) => &MIPS_LITTLE,
        (Arch::Mips64, Endian::Big) => &MIPS64_BIG,
        (Arch::Mips64, Endian::Little) => &MIPS64_LITTLE,
        (Arch::Sparc64, _) => &SPARC64,
        (Arch::M68k, _) => &M68K,
        _ => return None,
    })
}

impl Machine for Plain {
    fn open(&self) -> CsResult<Capstone> {
        let extra = self.extra.into_iter();
        let mut capstone = Capstone::new_raw(self.arch, self.mode, extra, self.endian)?;
        capstone.set_detail(true)?;
        if let Some(syntax) = self.syntax {
            capstone.set_syntax(syntax)?;
        }
        Ok(capstone)
    }

    fn shortest(&self) -> usize {
        let [shortest, _] = self.lengths;
        shortest
    }

    fn longest(&self) -> usize {
        let [_, longest] = self.lengths;
        longest
    }

    fn junk_word(&self) -> &'static str {
        if self.shortest() == 1 { ".byte" } else { ".inst" }
    }

    fn finds_references(&self) -> bool {
        false
    }

    fn spelled(&self, operands: &str) -> String {
        let mut parts = operands.split('$');
        let mut spelled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(part.len());
            let (name, rest) = part.split_at_checked(end).unwrap_or((part, ""));
            let known = self.names.iter().find(|(theirs, _)| *theirs == name);
            spelled += "$";
            spelled += known.map_or(name, |(_, ours)| ours);
            spelled += rest;
        }
        spelled
    }

    fn is_unconditional(&self, mnemonic: &str) -> bool {
        self.jumps.contains(&mnemonic)
    }

    fn is_trap(&self, mnemonic: &str) -> bool {
        self.traps.contains(&mnemonic)
    }

    /// The last operand, where it is a number.
    fn target(&self, _capstone: &Capstone, decoded: &Insn<'_>) -> Option<Addr> {
        let last = decoded.op_str()?.rsplit(',').next()?.trim();
        let (digits, is_negative) = match last.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (last, false),
        };
        let number = match digits.trim_start_matches(['$', '#']).strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None if self.relative => digits.parse().ok()?,
            None => return None,
        };
        let number = if is_negative { number.wrapping_neg() } else { number };
        Some(match self.relative {
            true => Addr::new(decoded.address()).wrapping_offset(number.cast_signed()),
            false => Addr::new(number),
        })
    }

    fn reference(&self, _capstone: &Capstone, _decoded: &Insn<'_>) -> Option<Addr> {
        None
    }

    fn accesses(
        &self,
        _capstone: &Capstone,
        _decoded: &Insn<'_>,
        _reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<Access> {
        Vec::new()
    }

    fn memory_operands(
        &self,
        _capstone: &Capstone,
        _decoded: &Insn<'_>,
        _reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<MemoryOperand> {
        Vec::new()
    }

    fn jump_source(
        &self,
        _capstone: &Capstone,
        _decoded: &Insn<'_>,
        _reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Option<JumpSource> {
        None
    }

    fn write_to(
        &self,
        _capstone: &Capstone,
        _decoded: &Insn<'_>,
        _register: &str,
    ) -> Option<RegisterWrite> {
        None
    }

    fn may_refer(&self, _addr: Addr, _code: &[u8], _wanted: AddrRange) -> bool {
        false
    }

    fn references(
        &self,
        _capstone: &Capstone,
        _addr: Addr,
        _code: &[u8],
        _wanted: &[AddrRange],
    ) -> Vec<Reference> {
        Vec::new()
    }
}
