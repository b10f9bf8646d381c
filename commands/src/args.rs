//! `::args` — the arguments of the program.

use kcore::InitialString;
use kcore_dcmd::{
    Args as Words, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec, View,
};

const EXAMPLES: &[Example] = &[Example { line: "::args", shows: "each argument on a line" }];

/// Lists the arguments as the kernel put them on the initial stack.
pub struct Args;

impl Dcmd for Args {
    fn spec(&self) -> Spec {
        Spec::new("args", Group::Process, "list the arguments of the program")
            .help(
                "kcore reads the arguments from the initial stack, where the program may have \
                 changed them. If the kernel's note has others, kcore shows those too, and a note \
                 says so. If an argument was not dumped, its address is shown instead. If the \
                 stack is lost, kcore shows the first 80 bytes, which the kernel keeps, and a note \
                 says so.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _words: &Words) -> Result<()> {
        let core = cx.core();
        if let Some(stack) = core.process().initial_stack() {
            let noted = core.process().overwritten_args();
            (0..)
                .zip(&stack.args)
                .try_for_each(|(index, string)| cx.emit(&Argument { index, string }))?;
            let Some(noted) = noted else { return Ok(()) };
            cx.note(
                "the program has overwritten its arguments; these are the first 80 bytes that the \
                 kernel noted, joined by blanks",
            )?;
            return cx.emit(&ShortArguments(noted));
        }
        let short =
            core.process().short_args().ok_or_else(|| DcmdError::failed("no process active"))?;
        let why = match core.process().initial_stack_fault() {
            Some(fault) => format!("cannot be read at {:x} ({})", fault.addr(), fault.reason()),
            None => "was not found".to_owned(),
        };
        cx.note(&format!(
            "the initial stack {why}; these are the first 80 bytes of the arguments, joined by blanks"
        ))?;
        cx.emit(&ShortArguments(short))
    }
}

struct Argument<'s> {
    index: u64,
    string: &'s InitialString,
}

impl Record for Argument<'_> {
    fn kind(&self) -> &'static str {
        "argument"
    }

    fn view(&self) -> View {
        View::Line("argv[{index}] = {value}{value^<{address:#x}>}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("index", self.index)
            .addr("address", self.string.at)
            .opt_text("value", self.string.text.as_deref());
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.string.at))
    }
}

struct ShortArguments(String);

impl Record for ShortArguments {
    fn kind(&self) -> &'static str {
        "short_arguments"
    }

    fn view(&self) -> View {
        View::Line("{value}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("value", self.0.as_str());
    }
}
