//! `::dis` — disassembles a function, or what lies around an address.

use kcore::{Addr, AddrRange, AddressSpace, Core, Instruction};
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Dot, Example, Group, Opt, Result, Spec};

use crate::dis_record::{InstructionRecord, Labels};
use crate::instruction::{Decoder, NoInstruction};
use crate::names::Names;
use crate::operand;

/// Instructions before and after the address by default.
const DEFAULT: u64 = 10;
/// Instructions before an address, at most; there is no bound to those after it.
const MAX_BEFORE: u64 = 4096;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show addresses instead of symbols" },
    Opt { flag: 'b', value: None, help: "show addresses and symbols" },
    Opt { flag: 'f', value: None, help: "read the object file instead of memory" },
    Opt {
        flag: 'w',
        value: None,
        help: "show the code around the address, even if a function begins there",
    },
    Opt {
        flag: 'n',
        value: Some("count"),
        help: "instructions to show after the address, and before it too around an address (default 10)",
    },
];

const EXAMPLES: &[Example] = &[
    Example { line: "main::dis", shows: "the whole function" },
    Example { line: "<rip::dis -n 3", shows: "where the thread stands, marked by >" },
    Example { line: "::dis -b main", shows: "addresses beside the labels" },
];

/// Disassembles a function, or what lies around an address.
pub struct Dis;

impl Dcmd for Dis {
    fn spec(&self) -> Spec {
        Spec::new("dis", Group::Symbols, "disassemble a function, or around an address")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[address|symbol]", 0, 1)
            .help(
                "At the beginning of a function, disassembles the whole function. Elsewhere it \
                 shows the instructions before the address, the one at the address in bold, and \
                 those after it. Without an address or an argument, it starts at dot, or, \
                 before dot was set, where the current frame stands.\n\n\
                 A > before an instruction marks where the current frame of the current thread \
                 stands: the instruction that runs, or the call that waits. A direct jump shows \
                 its distance and its target. An instruction that reads memory relative to \
                 itself shows the symbol there.\n\n\
                 In a whole function bytes that are no instruction are shown as .byte or .inst; other \
                 listings end there. Dot is left behind the last \
                 instruction. Instructions before an address that lies in no known function are \
                 a guess.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let file = core.file_space();
        let space: &dyn AddressSpace =
            if args.has('f') || core.file().is_none() { &file } else { core.space() };
        let decoder = Decoder::new(core)?;
        let mut printer = Printer::new(cx, args);
        let plan = Plan::new(cx, args)?;
        for instruction in decoder.before(core, space, plan.at, plan.before) {
            printer.emit(cx, instruction)?;
        }
        let last = printer.list(cx, &decoder, space, &plan)?;
        cx.shell_mut().set_dot(Dot::Addr(last), 0);
        Ok(())
    }
}

/// What is disassembled.
struct Plan {
    at: Addr,
    before: usize,
    /// From `at` on: instructions, or all that begin in a range.
    extent: Extent,
}

enum Extent {
    Count(u64),
    Range(AddrRange),
}

impl Plan {
    fn new(cx: &Cx<'_>, args: &Args) -> Result<Self> {
        let stated = match args.first() {
            Some(word) => Some(Addr::new(operand::number(cx, word)?)),
            None => cx.addr().map(Dot::addr),
        };
        let at = stated.unwrap_or_else(|| dot_or_pc(cx));
        let count = operand::count_option(cx, args, 'n', DEFAULT)?;
        let function = stated.and_then(|at| function_that_begins(cx.core(), at));
        let is_window = args.has('w') || (stated.is_some() && function.is_none());
        let extent = match function {
            Some(function) if !args.has('w') && args.value('n').is_none() => {
                Extent::Range(function)
            }
            _ => Extent::Count(count.saturating_add(1)),
        };
        let before = if is_window && !cx.input().looped { count.min(MAX_BEFORE) } else { 0 };
        Ok(Self { at, before: usize::try_from(before).unwrap_or(0), extent })
    }

    /// Whether all of a function is shown, with the data that stands in it.
    const fn is_function(&self) -> bool {
        matches!(self.extent, Extent::Range(_))
    }

    fn goes_on(&self, done: u64, next: Addr) -> bool {
        match self.extent {
            Extent::Count(count) => done < count,
            Extent::Range(range) => range.contains(next),
        }
    }
}

/// Dot, or, before it is set, the place where the current frame stands.
fn dot_or_pc(cx: &Cx<'_>) -> Addr {
    let dot = cx.dot().addr();
    if dot != Addr::new(0) {
        return dot;
    }
    let tid = cx.shell().current_thread();
    let frame = tid.and_then(|tid| cx.core().registers().of_frame(tid, cx.shell().current_frame()));
    frame.map_or(dot, |(frame, _)| frame.pc.addr())
}

/// The function that has its first instruction at `at`.
fn function_that_begins(core: &Core, at: Addr) -> Option<AddrRange> {
    let module = core.modules().at(at)?;
    let svma = module.svma(at)?;
    let symbol = module.symbols().table().find(svma)?;
    let begins = symbol.kind().is_function() && symbol.value() == svma && symbol.extent() > 0;
    begins.then(|| AddrRange::with_len(at, symbol.extent()))
}

/// Emits instructions.
struct Printer<'c> {
    names: Names<'c>,
    labels: Labels,
    /// The instruction of the current frame holds this address.
    current: Option<Addr>,
    /// The instruction that was asked for.
    at: Option<Addr>,
}

impl<'c> Printer<'c> {
    fn new(cx: &Cx<'c>, args: &Args) -> Self {
        let labels = match (args.has('a'), args.has('b')) {
            (_, true) => Labels::Both,
            (true, false) => Labels::Addresses,
            (false, false) => Labels::Symbols,
        };
        Self { names: Names::new(cx), labels, current: current_address(cx), at: None }
    }

    /// Emits the instructions of the plan, from its address on. Returns the address after the last one.
    fn list(
        &mut self,
        cx: &mut Cx<'_>,
        decoder: &Decoder<'_>,
        space: &dyn AddressSpace,
        plan: &Plan,
    ) -> Result<Addr> {
        self.at = (plan.before > 0).then_some(plan.at);
        let mut next = plan.at;
        let mut done: u64 = 0;
        while plan.goes_on(done, next) {
            match decoder.at(space, next) {
                Ok(instruction) => {
                    next = instruction.end();
                    self.emit(cx, instruction)?;
                }
                Err(NoInstruction::Invalid(_)) if plan.is_function() => {
                    let Some(data) = decoder.data(space, next) else { break };
                    next = data.end();
                    self.emit(cx, data)?;
                }
                Err(why) if done == 0 => return Err(why.into()),
                Err(_) => break,
            }
            done = done.saturating_add(1);
        }
        Ok(next)
    }

    fn emit(&self, cx: &mut Cx<'_>, instruction: Instruction) -> Result<()> {
        let current = self.current.is_some_and(|at| instruction.range().contains(at));
        let record = InstructionRecord {
            names: &self.names,
            labels: self.labels,
            current,
            bold: current || self.at == Some(instruction.addr),
            instruction,
        };
        cx.emit(&record)
    }
}

/// An address within the instruction at which the current frame stands.
fn current_address(cx: &Cx<'_>) -> Option<Addr> {
    let tid = cx.shell().current_thread()?;
    let (frame, _) = cx.core().registers().of_frame(tid, cx.shell().current_frame())?;
    Some(frame.pc.lookup())
}
