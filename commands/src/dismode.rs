//! `::dismode`, `$V`, `::disasms`: the disassembler, which the target determines.

use kcore::{Arch, Core};
use kcore_dcmd::{
    Arg, Args, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

/// A disassembler: the architecture of its targets, its name and what it writes.
struct Mode {
    arch: Arch,
    name: &'static str,
    description: &'static str,
}

const MODES: &[Mode] = &[
    Mode { arch: Arch::X86_64, name: "amd64", description: "x86-64, AT&T syntax" },
    Mode { arch: Arch::Aarch64, name: "aarch64", description: "Arm A64" },
    Mode { arch: Arch::I386, name: "ia32", description: "i386, AT&T syntax" },
    Mode { arch: Arch::Arm, name: "arm", description: "Arm A32 and T32, as symbols tell" },
    Mode { arch: Arch::Riscv64, name: "riscv64", description: "RISC-V of 64 bits" },
    Mode { arch: Arch::Riscv32, name: "riscv32", description: "RISC-V of 32 bits" },
    Mode { arch: Arch::PowerPc64, name: "ppc64", description: "PowerPC of 64 bits" },
    Mode { arch: Arch::PowerPc, name: "ppc", description: "PowerPC of 32 bits" },
    Mode { arch: Arch::S390x, name: "s390x", description: "z/Architecture" },
    Mode { arch: Arch::S390, name: "s390", description: "ESA/390" },
    Mode { arch: Arch::Mips, name: "mips", description: "MIPS of 32 bits" },
    Mode { arch: Arch::Mips64, name: "mips64", description: "MIPS of 64 bits" },
    Mode { arch: Arch::Sparc64, name: "sparcv9", description: "SPARC V9" },
    Mode { arch: Arch::M68k, name: "m68k", description: "68040" },
];

/// Shows the disassembler.
pub struct Dismode;

impl Dcmd for Dismode {
    fn spec(&self) -> Spec {
        Spec::new("dismode", Group::Symbols, "show the disassembly mode")
            .aliases(&["$V"])
            .operands("[mode]", 0, 1)
            .help(
                "The target determines the mode, and you can set only that one. ::disasms lists \
                 all modes.",
            )
            .examples(&[Example { line: "::dismode", shows: "the mode of this target" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let mode = mode_of(cx.core())?;
        match args.first().map(Arg::to_text) {
            Some(name) if name != mode.name => Err(refused(&name)),
            _ => cx.emit(&Current(mode)),
        }
    }
}

/// Lists the disassemblers.
pub struct Disasms;

impl Dcmd for Disasms {
    fn spec(&self) -> Spec {
        Spec::new("disasms", Group::Symbols, "list the disassembly modes")
            .help("::dismode shows which mode belongs to the target.")
            .examples(&[Example { line: "::disasms", shows: "one line for each architecture" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        MODES.iter().try_for_each(|mode| cx.emit(mode))
    }
}

fn mode_of(core: &Core) -> Result<&'static Mode> {
    let arch = core.arch();
    let mode = MODES.iter().find(|mode| mode.arch == arch);
    mode.ok_or_else(|| DcmdError::failed(format!("no disassembler for {arch}")))
}

fn refused(name: &str) -> DcmdError {
    let reason = match MODES.iter().any(|mode| mode.name == name) {
        true => "the target is of another architecture",
        false => "unknown disassembler name",
    };
    DcmdError::failed(format!("failed to set disassembly mode: {reason} '{name}'"))
}

impl Record for Mode {
    fn kind(&self) -> &'static str {
        "disassembler"
    }

    fn view(&self) -> View {
        View::Line("{name:24} - {description}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name).text("description", self.description);
    }
}

/// The mode in use.
struct Current(&'static Mode);

impl Record for Current {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn view(&self) -> View {
        View::Line("disassembly mode is {name} ({description})")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        self.0.fields(out);
    }
}
