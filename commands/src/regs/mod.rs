//! `::regs`, `$r`: the registers of a thread, or of one of its frames.

mod aarch64;
mod others;
mod x86_64;

use kcore::{Addr, Arch, Core, Tid};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record,
    Result, Spec, SymbolCell, View,
};

use crate::{
    frame_operand::FrameOperand, names::Names, operand, thread_operand::thread_of_dot,
    ucontext::saved_context,
};

/// Prints registers.
pub struct Regs;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'u', value: None, help: "the registers in the ucontext_t at the address" },
    Opt {
        flag: 'f',
        value: Some("frame"),
        help: "the registers of this frame (decimal; the innermost frame is 0)",
    },
];

const HELP: &str = "\
Prints the registers of the current thread and frame. The address is another thread, by its id or \
from a pipe, or a frame from a pipe. For an outer frame, only the registers that its callees \
preserved are known; the others are <unknown>. A Linux core does not hold trapno and err.";

impl Dcmd for Regs {
    fn spec(&self) -> Spec {
        Spec::new("regs", Group::Stacks, "print the registers of a thread or frame")
            .aliases(&["$r"])
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(&[
                Example { line: "$r", shows: "the registers of the current thread" },
                Example {
                    line: "::regs -f 1",
                    shows: "the registers of the innermost frame's caller",
                },
                Example {
                    line: "::walk ucontext | ::regs -u",
                    shows: "the registers at the time of each signal",
                },
            ])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        if args.has('u') {
            return emit_context(cx);
        }
        let core = cx.core();
        let (tid, chosen) = self.place(cx)?;
        let frame = match args.value('f') {
            Some(value) => physical_frame(core, tid, value)?,
            None => chosen,
        };
        emit_registers(cx, tid, frame)
    }
}

/// Emits the registers of a physical frame of a thread.
///
/// # Errors
/// When the core does not hold them.
pub fn emit_registers(cx: &mut Cx<'_>, tid: Tid, frame: usize) -> Result<()> {
    cx.emit(&RegsRecord::load(Names::new(cx), tid, frame)?)
}

/// Emits the registers that the `ucontext_t` at the address holds. All others are unknown.
fn emit_context(cx: &mut Cx<'_>) -> Result<()> {
    let registers = saved_context(cx, operand::context(cx)?)?.registers;
    let values = registers.iter().map(|register| (register.name, Some(register.value)));
    let record = RegsRecord { names: Names::new(cx), place: None, values: values.collect() };
    cx.emit(&record)
}

impl Regs {
    /// The thread and the physical frame that are meant.
    fn place(&self, cx: &Cx<'_>) -> Result<(Tid, usize)> {
        match cx.addr() {
            None => Ok((cx.current_thread()?, cx.shell().current_frame())),
            // A frame pointer that was typed is that of a frame.
            Some(dot) if operand::memory(cx.core(), dot).is_some() => {
                chosen(&FrameOperand::of(cx)?)
            }
            Some(Dot::Frame { tid, index, .. }) => Ok((tid, index)),
            Some(dot) => Ok((thread_of_dot(cx, dot)?, 0)),
        }
    }
}

fn chosen(frame: &FrameOperand) -> Result<(Tid, usize)> {
    let tid = frame.tid().ok_or_else(|| DcmdError::failed("no thread runs the frame"))?;
    Ok((tid, frame.index))
}

/// The physical frame that the named frame of this number is in.
fn physical_frame(core: &Core, tid: Tid, value: &Arg) -> Result<usize> {
    let number = operand::as_decimal(value)
        .ok_or_else(|| DcmdError::usage(format!("invalid frame -- {}", value.to_text())))?;
    let stack = core.stacks().of_thread(tid, number.saturating_add(1));
    let frame = core.stacks().named_frames(&stack).nth(number);
    let frame =
        frame.ok_or_else(|| DcmdError::failed(format!("thread {tid} has no frame {number}")))?;
    match frame.is_tail_call() {
        true => Err(DcmdError::failed(format!(
            "frame {number} of thread {tid} ended by a tail call: its registers were not kept"
        ))),
        false => Ok(frame.physical),
    }
}

struct RegsRecord<'c> {
    names: Names<'c>,
    /// Thread and physical frame; `None` for those of a saved context.
    place: Option<(Tid, usize)>,
    values: Vec<(&'static str, Option<u64>)>,
}

impl<'c> RegsRecord<'c> {
    fn load(names: Names<'c>, tid: Tid, frame: usize) -> Result<Self> {
        let core = names.core();
        let registers = core.registers().user(tid).into_iter().map(|register| register.name);
        let values: Vec<_> = registers
            .map(|name| {
                let value = core.registers().named(tid, frame, name);
                value
                    .map(|value| (name, value))
                    .map_err(|error| DcmdError::failed(error.to_string()))
            })
            .collect::<Result<_>>()?;
        if values.is_empty() {
            return Err(DcmdError::failed(format!("no register set available for thread {tid}")));
        }
        Ok(Self { names, place: Some((tid, frame)), values })
    }

    fn value(&self, name: &str) -> Option<u64> {
        self.values.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value)
    }

    fn pc_symbol(&self) -> Option<SymbolCell<'static>> {
        let pc = self.names.core().machine().and_then(|machine| self.value(machine.pc_name()))?;
        let symbol = self.names.cell(Addr::new(pc));
        symbol.name.is_some().then_some(symbol)
    }
}

/// How the registers of an architecture are laid out.
struct Layout {
    template: &'static str,
    /// Adds cells that only the template shows. They come first, so they hide registers of the same name.
    derived: for<'a> fn(&'a RegsRecord<'_>, &mut Fields<'a>),
}

const fn layout(arch: Arch) -> &'static Layout {
    match arch {
        Arch::X86_64 => &x86_64::LAYOUT,
        Arch::Aarch64 => &aarch64::LAYOUT,
        _ => &others::LAYOUT,
    }
}

impl Record for RegsRecord<'_> {
    fn kind(&self) -> &'static str {
        "registers"
    }

    fn view(&self) -> View {
        View::Line(layout(self.names.core().arch()).template)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let cell = |value: Option<u64>| Cell::or_null(value, Cell::Hex);
        let registers = self.values.iter().map(|(name, value)| (*name, cell(*value)));
        out.num("tid", self.place.map(|(tid, _)| u64::from(tid.get())))
            .num("frame", self.place.map(|(_, frame)| frame as u64))
            .put("registers", Cell::Object(registers.collect()))
            .display("symbol", Cell::or_null(self.pc_symbol(), Cell::Symbol));
        (layout(self.names.core().arch()).derived)(self, out);
        for (name, value) in &self.values {
            out.display(name, cell(*value));
        }
    }
}
