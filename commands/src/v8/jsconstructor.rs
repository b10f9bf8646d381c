//! `::jsconstructor` — what made an object.

use kcore::Addr;
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::subject::Subject;

/// Names the constructor of an object.
pub struct Jsconstructor;

impl Dcmd for Jsconstructor {
    fn spec(&self) -> Spec {
        Spec::new("jsconstructor", Group::Runtimes, "name the constructor of a JavaScript object")
            .addr(AddrUse::Required)
            .options(&[Opt {
                flag: 'v',
                value: None,
                help: "also show the address of the function",
            }])
            .help(
                "Prints the name of the constructor, as V8 itself determines it. If the object \
                 has its own Symbol.toStringTag, prints that. In a pipe, ::jsconstructor passes \
                 the function.",
            )
            .examples(&[Example {
                line: "::jsstack -f waitFor -p this | ::jsconstructor -v",
                shows: "the class of the receiver of a method",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let found = subject.v8.constructor(subject.core, subject.word);
        let (name, function) = found.ok_or_else(|| subject.not_an("object"))?;
        let function = function.map(|at| Addr::new(at.get() | 1));
        cx.emit(&Constructor { name, function, is_verbose: args.has('v') })
    }
}

struct Constructor {
    name: String,
    function: Option<Addr>,
    is_verbose: bool,
}

impl Record for Constructor {
    fn kind(&self) -> &'static str {
        "js_constructor"
    }

    fn view(&self) -> View {
        View::Line(match self.is_verbose {
            true => "{name}{function? (JSFunction: {function})}",
            false => "{name}",
        })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name.as_str()).addr("function", self.function);
    }

    fn dot(&self) -> Option<Dot> {
        self.function.map(Dot::Addr)
    }
}
