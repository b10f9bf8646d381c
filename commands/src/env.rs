//! `::env`, `::getenv` — the environment that the program was started with.

use kcore::{Fault, InitialString};
use kcore_dcmd::{
    Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

const OPTIONS: &[Opt] = &[Opt {
    flag: 't',
    value: None,
    help: "the environment as the program has it now, not as it was at the start",
}];

const EXAMPLES: &[Example] = &[
    Example { line: "::env", shows: "every variable" },
    Example { line: "::getenv PATH", shows: "the value of one variable" },
    Example { line: "::getenv -t", shows: "every variable as the program has it now" },
];

/// Lists the environment, or the value of one variable.
pub struct Env;

impl Dcmd for Env {
    fn spec(&self) -> Spec {
        Spec::new("env", Group::Process, "list the environment of the program, or one variable")
            .aliases(&["getenv"])
            .options(OPTIONS)
            .operands("[name]", 0, 1)
            .help(
                "kcore reads the environment from the initial stack. Variables that the program \
                 set later appear only with -t, which follows the variable `environ` of the C \
                 library. If a variable was not dumped, its address is shown instead. For a \
                 variable that is not set, nothing is shown.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        cx.current_thread()?;
        let strings = if args.has('t') { now(cx)? } else { given(cx)? };
        let wanted = args.first().map(Arg::to_text);
        let alone = wanted.is_some();
        let variables = strings.iter().map(|string| Variable::new(string, alone));
        variables
            .filter(|variable| wanted.as_deref().is_none_or(|wanted| variable.name == Some(wanted)))
            .try_for_each(|variable| cx.emit(&variable))
    }
}

/// The environment that the program was given.
fn given(cx: &Cx<'_>) -> Result<Vec<InitialString>> {
    let core = cx.core();
    let stack = core.process().initial_stack();
    stack.map(|stack| stack.env).ok_or_else(|| not_found(core.process().initial_stack_fault()))
}

/// The environment that it has now.
fn now(cx: &Cx<'_>) -> Result<Vec<InitialString>> {
    cx.core()
        .process()
        .environment_now()
        .map_err(|error| DcmdError::failed(format!("failed to read environ: {error}")))
}

fn not_found(fault: Option<Fault>) -> DcmdError {
    match fault {
        Some(fault) => {
            let (at, reason) = (fault.addr(), fault.reason());
            DcmdError::at(at, format!("failed to read the environment at {at:x}: {reason}"))
        }
        None => DcmdError::failed("failed to find the environment on the stack"),
    }
}

/// One string of the environment.
struct Variable<'s> {
    string: &'s InitialString,
    name: Option<&'s str>,
    value: Option<&'s str>,
    /// Whether the user named it. Then only its value is shown.
    alone: bool,
}

impl<'s> Variable<'s> {
    fn new(string: &'s InitialString, alone: bool) -> Self {
        let text = string.text.as_deref();
        let parts = text.and_then(|text| text.split_once('='));
        Self {
            string,
            name: parts.map(|(name, _)| name).or(text),
            value: parts.map(|(_, value)| value),
            alone,
        }
    }
}

impl Record for Variable<'_> {
    fn kind(&self) -> &'static str {
        "variable"
    }

    fn view(&self) -> View {
        if self.alone {
            View::Line("{value}")
        } else {
            View::Line("{name^<{address:#x}>}{name}{value?={value}}")
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.string.at)
            .opt_text("name", self.name)
            .opt_text("value", self.value);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.string.at))
    }
}
