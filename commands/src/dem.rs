//! `::dem` — demangles names.

use kcore::demangle;
use kcore_dcmd::{Args, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View};

const EXAMPLES: &[Example] =
    &[Example { line: "::dem _ZN3app4ViewC2Ei", shows: "the constructor `app::View::View(int)`" }];

/// Demangles names.
pub struct Dem;

impl Dcmd for Dem {
    fn spec(&self) -> Spec {
        Spec::new("dem", Group::Symbols, "demangle names")
            .operands("name...", 1, usize::MAX)
            .help(
                "Shows names of C++ and D with their parameters. Names of Rust keep the hash of \
                 their crate, names of OCaml their number, and names of Haskell their package \
                 and closure. Names of Ada are recognized only together with their code. A name \
                 that is not mangled stays as it is.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        args.operands().iter().try_for_each(|name| cx.emit(&Name(name.to_text())))
    }
}

struct Name(String);

impl Record for Name {
    fn kind(&self) -> &'static str {
        "demangled"
    }

    fn view(&self) -> View {
        View::Line("{linkage_name} == {name}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let names = demangle(self.0.as_bytes());
        let function = names.function.clone();
        out.text("linkage_name", &self.0).text("name", names.whole()).text("function", function);
    }
}
