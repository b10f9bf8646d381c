//! `::fpregs`, `$x`, `$X`, `$y`, `$Y`: the floating-point and vector registers of a thread.

mod aarch64;
mod extended;
mod flags;
mod plain;
mod x86_64;

use kcore::{FpRegisters, Tid};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use crate::thread_operand::thread_of;

/// Prints floating-point registers.
pub struct Fpregs;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'd', value: None, help: "as doubles; has no effect on this machine" },
    Opt { flag: 'q', value: None, help: "as quads; has no effect on this machine" },
    Opt { flag: 's', value: None, help: "as singles; has no effect on this machine" },
];

const HELP: &str = "\
Prints the registers of the current thread, or of the thread given as address, as they were when \
the core was made. On x86-64 and i386 these are x87 and SSE; on aarch64, v0 to v31, or those of SVE; on \
other machines, what NT_FPREGSET has. The names of the flags \
that are set follow their register. Of the AVX and AVX-512 registers, only the parts that the \
processor marked as in use are shown. JSON has everything that was saved. The registers of outer \
frames are not kept.";

const EXAMPLES: &[Example] = &[
    Example { line: "::fpregs", shows: "the floating-point registers of the current thread" },
    Example {
        line: "::walk thread | ::head -1 | ::fpregs",
        shows: "the floating-point registers of the first thread",
    },
];

impl Dcmd for Fpregs {
    fn spec(&self) -> Spec {
        Spec::new("fpregs", Group::Stacks, "print the floating-point registers of a thread")
            .aliases(&["$x", "$X", "$y", "$Y"])
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        if let Some(Dot::Frame { tid, index: index @ 1.., .. }) = cx.addr() {
            return Err(DcmdError::failed(format!(
                "floating-point registers of frame {index} of thread {tid} were not saved: \
                 only those of frame 0 were"
            )));
        }
        let tid = thread_of(cx)?;
        let registers = cx.core().registers().floating_point(tid).ok_or_else(|| {
            DcmdError::failed(format!(
                "failed to get floating point register set: no register set available for thread \
                 {tid}"
            ))
        })?;
        cx.emit(&FpRecord { tid, registers })
    }
}

struct FpRecord {
    tid: Tid,
    registers: FpRegisters,
}

impl Record for FpRecord {
    fn kind(&self) -> &'static str {
        "fp_registers"
    }

    fn view(&self) -> View {
        View::Line(match &self.registers {
            FpRegisters::X86(_) => x86_64::TEMPLATE,
            FpRegisters::Aarch64(_) => aarch64::TEMPLATE,
            FpRegisters::Plain(_) => plain::TEMPLATE,
        })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("tid", u64::from(self.tid.get()));
        match &self.registers {
            FpRegisters::X86(registers) => x86_64::fields(registers, out),
            FpRegisters::Aarch64(registers) => aarch64::fields(registers, out),
            FpRegisters::Plain(registers) => plain::fields(registers, out),
        }
    }
}

/// The digits of a register of which `bytes` are given, lowest first, with the prefix of JSON.
fn wide(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// The lines of a register of which `bytes` are given, lowest first: 32 bytes in each, the highest first.
fn lines_of(name: &str, bytes: &[u8]) -> Vec<String> {
    const LINE: usize = 32;
    let name = format!("%{name}");
    let parts = bytes.chunks(LINE).rev().map(wide).enumerate();
    let line = |(index, part): (usize, String)| {
        let name = if index == 0 { &name } else { "" };
        format!("{name:6} {part}")
    };
    parts.map(line).collect()
}

/// A register by its name, for JSON.
fn named(name: String, bits: String) -> Cell<'static> {
    Cell::Object(vec![("name", Cell::text(name)), ("bits", Cell::text(bits))])
}
