//! `::jsclosure` — what a function captured.

use kcore::Addr;
use kcore::v8::Variable;
use kcore::v8::script_tree::Tree;
use kcore::v8::value::Limits;
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Dialect, Dot, Example, Fields, Group, Record, Result,
    ScriptCell, ScriptNode, ScriptStyle, Spec, View,
};

use super::subject::Subject;

/// Lists the variables that a function captured.
pub struct Jsclosure;

impl Dcmd for Jsclosure {
    fn spec(&self) -> Spec {
        let summary = "list the variables that a JavaScript function captured";
        Spec::new("jsclosure", Group::Runtimes, summary)
            .addr(AddrUse::Required)
            .help(
                "Lists the variables of the enclosing scopes that any inner function uses, \
                 innermost scope first. Of several variables with the same name, the first one \
                 counts. The address before each variable is one that ::jsprint takes. A \
                 variable that no inner function uses is not in the heap.",
            )
            .examples(&[Example {
                line: "::jsstack -f Array.map -p arg1 | ::jsclosure",
                shows: "what a callback captured",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let limits = Limits { depth: 1, entries: 20, units: 256 };
        let scopes = subject.v8.scopes(subject.core, Addr::new(subject.word), limits);
        let scopes = scopes.ok_or_else(|| subject.not_an("function"))?;
        let tree = Tree { host: subject.core, v8: subject.v8 };
        for (scope, number) in scopes.iter().zip(0..) {
            let context = Addr::new(scope.context.get() | 1);
            for variable in &scope.variables {
                let node = tree.node(&variable.value);
                cx.emit(&Captured { number, context, variable, node })?;
            }
        }
        Ok(())
    }
}

struct Captured<'v> {
    number: u64,
    context: Addr,
    variable: &'v Variable,
    node: ScriptNode,
}

const STYLE: ScriptStyle =
    ScriptStyle { dialect: Dialect::JavaScript, addresses: false, indent: 4 };

impl Record for Captured<'_> {
    fn kind(&self) -> &'static str {
        "js_variable"
    }

    fn view(&self) -> View {
        View::Line("    \"{name}\": {address?{address}: }{value}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let cell = ScriptCell { node: std::borrow::Cow::Borrowed(&self.node), style: STYLE };
        out.num("scope", self.number)
            .addr("context", self.context)
            .text("name", &*self.variable.name)
            .addr("address", self.variable.value.word.map(Addr::new))
            .put("value", Cell::Script(Box::new(cell)));
    }

    fn dot(&self) -> Option<Dot> {
        self.variable.value.word.map(|word| Dot::Addr(Addr::new(word)))
    }
}
