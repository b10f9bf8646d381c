//! `::typelist` — the types that are known.

use std::ops::ControlFlow;

use kcore::Module;
use kcore_dcmd::{
    Arg, Args, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

/// Lists the names of types.
pub struct Typelist;

const HELP: &str = "\
Lists the named types that debug information describes, of all objects or of the named one, \
sorted by name within each object. The types of the session follow. A type with several different \
descriptions is listed once.";

const EXAMPLES: &[Example] = &[
    Example { line: "::typelist ! grep -c .", shows: "the number of known types" },
    Example {
        line: "::typedef int myint; ::typelist ! tail -1",
        shows: "the session's own come last",
    },
];

impl Dcmd for Typelist {
    fn spec(&self) -> Spec {
        Spec::new("typelist", Group::Types, "list the names of types")
            .operands("[object]", 0, 1)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let object = args.first().map(Arg::to_text);
        let modules: Vec<&Module> = match &object {
            None => core.modules().in_scope_order().collect(),
            Some(name) => core.modules().named(name).collect(),
        };
        if let (Some(name), true) = (&object, modules.is_empty()) {
            return Err(DcmdError::failed(format!(
                "failed to obtain object: unknown object file name '{name}'"
            )));
        }
        modules.into_iter().try_for_each(|module| list(cx, module))?;
        if object.is_none() { list_own(cx) } else { Ok(()) }
    }
}

/// Emits the types of a module, by name.
fn list(cx: &mut Cx<'_>, module: &Module) -> Result<()> {
    let mut types = types_of(cx, module)?;
    types.sort_unstable();
    types.dedup_by(|later, first| later.0 == first.0);
    types.iter().try_for_each(|(name, size)| {
        cx.emit(&Listed { object: Some(module.name()), name, size: *size })
    })
}

/// The name and size of each type of a module.
fn types_of(cx: &Cx<'_>, module: &Module) -> Result<Vec<(String, Option<u64>)>> {
    let Some(info) = module.symbols().debug_info() else { return Ok(Vec::new()) };
    let mut types = Vec::new();
    let mut stopped = Ok(());
    info.each_type(|id, _| {
        stopped = cx.check_interrupt();
        if let Ok(ty) = info.type_at(id) {
            types.push((ty.spelled(), ty.size()));
        }
        if stopped.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    stopped.map(|()| types)
}

fn list_own(cx: &mut Cx<'_>) -> Result<()> {
    let types = cx.shell().types().clone();
    types
        .iter()
        .try_for_each(|(name, ty)| cx.emit(&Listed { object: None, name, size: ty.ty.size() }))
}

/// A type.
struct Listed<'a> {
    object: Option<&'a str>,
    name: &'a str,
    size: Option<u64>,
}

impl Record for Listed<'_> {
    fn kind(&self) -> &'static str {
        "listed_type"
    }

    fn view(&self) -> View {
        View::Line("{name}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.opt_text("object", self.object).text("name", self.name).num("size", self.size);
    }
}
