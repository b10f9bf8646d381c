//! `::regs`, `$r`: the registers of a thread, or of one of its frames.

use kcore::{Addr, Arch, Core, Tid};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record,
    Result, Spec, SymbolCell, View,
};

use crate::{stack_start::known_thread, symbol_cell::symbol_cell};

/// Prints registers.
pub struct Regs;

const OPTIONS: &[Opt] =
    &[Opt { flag: 'f', value: Some("frame"), help: "of this frame (decimal, innermost 0)" }];

const HELP: &str = "\
Of the current thread and frame; of another thread by its id or from a pipe; of a frame from a pipe \
of frames. In an outer frame only the registers are known that the functions it called preserved: the \
others are <unknown>. trapno and err are not in a core of Linux.";

impl Dcmd for Regs {
    fn spec(&self) -> Spec {
        Spec::new("regs", Group::Stacks, "print the registers of a thread or frame")
            .aliases(&["$r"])
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(&[
                Example { line: "$r", shows: "the registers of the current thread" },
                Example { line: "::regs -f 1", shows: "those of the innermost frame's caller" },
            ])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let (tid, chosen) = self.place(cx)?;
        let frame = match args.value('f') {
            Some(value) => physical_frame(core, tid, value)?,
            None => chosen,
        };
        cx.emit(&RegsRecord::load(core, tid, frame)?)
    }
}

impl Regs {
    /// The thread and the physical frame that are meant.
    fn place(&self, cx: &Cx<'_>) -> Result<(Tid, usize)> {
        match cx.addr() {
            None => Ok((cx.current_thread()?, cx.shell().current_frame())),
            Some(Dot::Frame { tid, index, .. }) => Ok((tid, index)),
            Some(Dot::Thread(tid)) => Ok((known_thread(cx.core(), tid)?, 0)),
            Some(dot) => {
                let id = u32::try_from(dot.number()).unwrap_or(u32::MAX);
                Ok((known_thread(cx.core(), Tid::new(id))?, 0))
            }
        }
    }
}

/// The physical frame that the named frame of this number is in.
fn physical_frame(core: &Core, tid: Tid, value: &Arg) -> Result<usize> {
    let number = match value {
        Arg::Number(number) => usize::try_from(*number).ok(),
        Arg::Text(text) => text.parse().ok(),
    };
    let number =
        number.ok_or_else(|| DcmdError::usage(format!("invalid frame -- {}", value.to_text())))?;
    let stack = core.stack(tid, number.saturating_add(1));
    let frame = core.named_frames(&stack.frames).nth(number);
    frame
        .map(|frame| frame.physical)
        .ok_or_else(|| DcmdError::failed(format!("thread {tid} has no frame {number}")))
}

struct RegsRecord<'c> {
    core: &'c Core,
    tid: Tid,
    frame: usize,
    values: Vec<(&'static str, Option<u64>)>,
}

impl<'c> RegsRecord<'c> {
    fn load(core: &'c Core, tid: Tid, frame: usize) -> Result<Self> {
        let names = core.user_registers(tid).into_iter().map(|register| register.name);
        let values: Vec<_> = names
            .map(|name| {
                let value = core.register(tid, frame, name);
                value
                    .map(|value| (name, value))
                    .map_err(|error| DcmdError::failed(error.to_string()))
            })
            .collect::<Result<_>>()?;
        if values.is_empty() {
            return Err(DcmdError::failed(format!("no register set available for thread {tid}")));
        }
        Ok(Self { core, tid, frame, values })
    }

    fn value(&self, name: &str) -> Option<u64> {
        self.values.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value)
    }

    fn pc_symbol(&self) -> Option<SymbolCell<'static>> {
        let pc = self.core.machine().and_then(|machine| self.value(machine.pc_name()))?;
        let symbol = symbol_cell(self.core, Addr::new(pc));
        symbol.name.is_some().then_some(symbol)
    }

    /// The flags in MDB's words, those that are set in capitals.
    fn flag_words(&self) -> Option<String> {
        const STATUS: [(u32, &str); 9] = [
            (11, "of"),
            (10, "df"),
            (9, "if"),
            (8, "tf"),
            (7, "sf"),
            (6, "zf"),
            (4, "af"),
            (2, "pf"),
            (0, "cf"),
        ];
        let flags = self.value("rflags")?;
        let is_set = |bit: u32| flags.checked_shr(bit).is_some_and(|flags| flags & 1 == 1);
        let words = STATUS.map(|(bit, word)| match is_set(bit) {
            true => word.to_uppercase(),
            false => word.to_owned(),
        });
        Some(words.join(","))
    }

    fn flag_bits(&self) -> Option<String> {
        const SYSTEM: [(u32, &str); 7] =
            [(21, "id"), (20, "vip"), (19, "vif"), (18, "ac"), (17, "vm"), (16, "rf"), (14, "nt")];
        let flags = self.value("rflags")?;
        let bits = SYSTEM.map(|(bit, word)| {
            let set = flags.checked_shr(bit).is_some_and(|flags| flags & 1 == 1);
            format!("{word}={}", u8::from(set))
        });
        Some(format!("{} iopl={:#x}", bits.join(" "), (flags >> 12) & 3))
    }
}

const X86_64: &str = "\
%rax = {rax?0x{rax:0}}{rax^<unknown>         }\t%r8  = {r8?0x{r8:0}}{r8^<unknown>}
%rbx = {rbx?0x{rbx:0}}{rbx^<unknown>         }\t%r9  = {r9?0x{r9:0}}{r9^<unknown>}
%rcx = {rcx?0x{rcx:0}}{rcx^<unknown>         }\t%r10 = {r10?0x{r10:0}}{r10^<unknown>}
%rdx = {rdx?0x{rdx:0}}{rdx^<unknown>         }\t%r11 = {r11?0x{r11:0}}{r11^<unknown>}
%rsi = {rsi?0x{rsi:0}}{rsi^<unknown>         }\t%r12 = {r12?0x{r12:0}}{r12^<unknown>}
%rdi = {rdi?0x{rdi:0}}{rdi^<unknown>         }\t%r13 = {r13?0x{r13:0}}{r13^<unknown>}
                         \t%r14 = {r14?0x{r14:0}}{r14^<unknown>}
                         \t%r15 = {r15?0x{r15:0}}{r15^<unknown>}

{segments?%cs = 0x{cs}\t%fs = 0x{fs}\t%gs = 0x{gs}
%ds = 0x{ds}\t%es = 0x{es}\t%ss = 0x{ss}

}%rip = {rip?0x{rip:0}}{rip^<unknown>}{symbol? {symbol}}
%rbp = {rbp?0x{rbp:0}}{rbp^<unknown>}
%rsp = {rsp?0x{rsp:0}}{rsp^<unknown>}

{flag_bits?%rflags = 0x{flags}
  {flag_bits}
  status=<{flag_words}>

}%gsbase = {gsbase?0x{gsbase:0}}{gsbase^<unknown>}
%fsbase = {fsbase?0x{fsbase:0}}{fsbase^<unknown>}";

impl Record for RegsRecord<'_> {
    fn kind(&self) -> &'static str {
        "registers"
    }

    fn view(&self) -> View {
        match self.core.arch() {
            Arch::X86_64 => View::Line(X86_64),
            _ => View::Line("{registers}"),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let cell = |value: Option<u64>| Cell::or_null(value, Cell::Hex);
        let registers = self.values.iter().map(|(name, value)| (*name, cell(*value)));
        out.num("tid", u64::from(self.tid.get()))
            .num("frame", self.frame as u64)
            .put("registers", Cell::Object(registers.collect()))
            .display("symbol", Cell::or_null(self.pc_symbol(), Cell::Symbol))
            .display("segments", Cell::Bool(self.value("cs").is_some()))
            .display("flag_words", Cell::or_null(self.flag_words(), Cell::text))
            .display("flag_bits", Cell::or_null(self.flag_bits(), Cell::text));
        let padded = |name, digits| {
            let value = self.value(name).map(|value| format!("{value:0digits$x}"));
            Cell::or_null(value, Cell::text)
        };
        out.display("flags", padded("rflags", 8));
        for (name, value) in &self.values {
            match *name {
                "cs" | "ds" | "es" | "fs" | "gs" | "ss" => out.display(name, padded(name, 4)),
                _ => out.display(name, cell(*value)),
            };
        }
    }
}
