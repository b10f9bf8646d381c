//! `::findcontexts` — saved contexts that no list names, by a search of memory.

use kcore::{FoundContext, TaskId};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    SymbolCell, View,
};

use crate::names::Names;

/// Searches memory for saved contexts.
pub struct Findcontexts;

const HELP: &str = "\
Coroutines and fibers of libraries that keep no list leave their registers in memory: Boost.Context on the stack \
that was left (fcontext), swapcontext in a ucontext_t, and libco, minicoro, libaco, Ruby and their like in a \
structure of their own or, with its address there, on the stack (beside). Of the last kind no layout is known \
beforehand: a word is taken for a saved stack pointer if a call returns there whose function, by its code, saves one \
just so and goes to another stack; CONTEXT is the lowest of what that code saves. Those that were made by the same \
functions and did not run are found too, if they hold the function that they begin with. All are taken for contexts \
if a stack unwinds from them, by call frame information alone, to where stacks begin; if no thread is on that stack; \
and, where they lie on their own stacks, if somebody points to them from elsewhere than that stack and the 16 KiB \
below it. What was overwritten in part, or is kept by a coroutine that ended, may be among them: they are found, and \
not known. Where several use one stack in turns, one is shown. ENTRY is the outermost function that another one \
called, PC where the stack was left. In a pipe they are handed on as stacks: ::findcontexts | ::stack. Those of \
bthreads are with ::bthreads, those of Boost.Fiber with ::fibers.";

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
            DcmdError::failed("what saved contexts look like is not known on this machine")
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
