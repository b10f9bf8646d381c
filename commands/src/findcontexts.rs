//! `::findcontexts` — searches memory for saved contexts that are in no list.

use kcore::{FoundContext, TaskId};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    SymbolCell, View,
};

use crate::names::Names;

/// Searches memory for saved contexts.
pub struct Findcontexts;

const HELP: &str = "\
Searches memory for the registers that coroutines and fibers saved when they left their stacks. \
It finds those of libraries that keep no list. SHAPE says how they were saved:

- fcontext: Boost.Context saves them on the stack that it leaves.
- ucontext: swapcontext saves them in a ucontext_t.
- beside: libco, minicoro, libaco, Ruby and others save them in a structure of their own, or on \
the stack with its address in such a structure.

kcore knows no layout for the shape `beside`. Instead it looks for calls of functions whose code \
saves the stack pointer and switches to another stack. A word is a saved stack pointer if such a \
call returns to the stack there. CONTEXT is the lowest address to which that code saves \
registers. Contexts that the same functions made, but that did not run yet, are found if they \
hold the function that they begin with.

kcore accepts a context under three conditions. A stack unwinds from it to the place where stacks \
begin, by call frame information alone. No thread is on that stack. If it lies on its own stack, \
a pointer to it exists outside of that stack and of the 16 KiB below it.

The result comes from a search, so it may contain contexts that were overwritten in part, or that \
belong to a coroutine that ended. If several contexts share one stack, one is shown. ENTRY is the \
outermost function that another function called. PC is where the stack was left.

In a pipe, each context is a stack: ::findcontexts | ::stack. ::bthreads lists the contexts of \
bthreads, and ::fibers those of Boost.Fiber.";

impl Dcmd for Findcontexts {
    fn spec(&self) -> Spec {
        Spec::new("findcontexts", Group::Stacks, "search memory for saved contexts")
            .help(HELP)
            .examples(&[Example {
                line: "::findcontexts | ::stack",
                shows: "the stacks of coroutines that no list names",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let found = core.contexts().found().ok_or_else(|| {
            DcmdError::failed("the layout of saved contexts is not known on this machine")
        })?;
        let names = Names::new(cx);
        for context in found {
            cx.check_interrupt()?;
            let pc = names.cell(context.pc.lookup());
            cx.emit(&Row { context, pc, entry: names.cell(context.entry) })?;
        }
        Ok(())
    }
}

struct Row<'a> {
    context: &'a FoundContext,
    pc: SymbolCell<'a>,
    entry: SymbolCell<'a>,
}

const COLUMNS: &[Column] = &[
    Column::right("address", "CONTEXT", 16),
    Column::left("shape", "SHAPE", 8),
    Column::left("state", "STATE", 7),
    Column::right("frames", "FRAMES", 6),
    Column::left("entry_symbol", "ENTRY", 32),
    Column::left("pc_symbol", "PC", 0),
];

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "found_context"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let context = self.context;
        let stack = context.task.stack;
        out.addr("address", context.at)
            .text("shape", context.shape.as_str())
            .text("state", &*context.task.state)
            .addr("held_at", context.held_at)
            .addr("pc", context.pc.addr())
            .opt_text("function", self.pc.name.as_deref())
            .addr("entry", context.entry)
            .opt_text("entry_function", self.entry.name.as_deref())
            .num("frames", context.frames as u64)
            .addr("stack_start", stack.map(|stack| stack.start))
            .addr("stack_end", stack.map(|stack| stack.end))
            .display("pc_symbol", Cell::Symbol(self.pc.clone()))
            .display("entry_symbol", Cell::Symbol(self.entry.clone()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Task(TaskId::of(&self.context.task)))
    }
}
