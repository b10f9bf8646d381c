//! `::vars`, `$v` — variables and registers.

use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, Variable, View,
};

const OPTIONS: &[Opt] = &[
    Opt { flag: 'n', value: None, help: "only variables that are not 0" },
    Opt {
        flag: 'p',
        value: None,
        help: "only variables that the session keeps, as commands that set them",
    },
    Opt { flag: 't', value: None, help: "only variables that ::typeset -t marked" },
];

const HELP: &str = "\
Variables and the registers of the current frame share one name space. <name reads one, and \
value>name sets a variable. Some variables exist from the start:

- b, d: start and length of the data of the executable
- e: its entry point
- m: its first four bytes
- t: the length of its text
- 0: the last value that a format showed
- thread: the current thread
- _: if it is not 0, the labels of formats are addresses";

/// Lists variables.
pub struct Vars;

/// Lists variables that are not 0.
pub struct NonzeroVars;

impl Dcmd for Vars {
    fn spec(&self) -> Spec {
        Spec::new("vars", Group::Language, "list variables and registers")
            .options(OPTIONS)
            .help(HELP)
            .examples(&[Example { line: "::vars -n", shows: "variables that are not 0" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        list(cx, args.has('p'), |variable| {
            (!args.has('n') || is_nonzero(variable)) && (!args.has('t') || variable.tagged)
        })
    }
}

impl Dcmd for NonzeroVars {
    fn spec(&self) -> Spec {
        Spec::new("$v", Group::Language, "list variables that are not 0")
            .help("Is the same as ::vars -n.")
            .examples(&[Example { line: "5>x; $v", shows: "x, among others" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        list(cx, false, is_nonzero)
    }
}

fn is_nonzero(variable: &Variable) -> bool {
    variable.value.is_some_and(|value| value != 0)
}

fn list(cx: &mut Cx<'_>, commands: bool, wanted: impl Fn(&Variable) -> bool) -> Result<()> {
    let mut variables = cx.shell().variables();
    variables.retain(|variable| wanted(variable) && (variable.kept || !commands));
    variables.into_iter().try_for_each(|variable| cx.emit(&VariableRecord { variable, commands }))
}

struct VariableRecord {
    variable: Variable,
    /// Whether it is shown as the command that sets it.
    commands: bool,
}

impl Record for VariableRecord {
    fn kind(&self) -> &'static str {
        "session_variable"
    }

    fn view(&self) -> View {
        match self.commands {
            true => View::Line("0x{value:x}>{name}"),
            false => View::Line("{name} = {value?{value}}{value^<not saved>}"),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let variable = &self.variable;
        out.text("name", variable.name.as_str())
            .put("value", Cell::or_null(variable.value, Cell::Hex))
            .flag("tagged", variable.tagged);
    }

    fn dot(&self) -> Option<Dot> {
        self.variable.value.map(Dot::Number)
    }
}
