//! `::jsfunctions` — what functions of JavaScript there are.

use kcore::v8::census::Definition;
use kcore::{Addr, AddrRange};
use kcore_dcmd::{
    Arg, Args, Cell, Column, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::counted::{Counted, tagged, watched};
use crate::operand;

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'l',
        value: None,
        help: "only functions that use variables of enclosing functions",
    },
    Opt { flag: 'X', value: None, help: "show the addresses of their machine code" },
    Opt { flag: 'n', value: Some("name"), help: "only functions whose name contains this text" },
    Opt {
        flag: 's',
        value: Some("file"),
        help: "only functions whose script name contains this text",
    },
    Opt {
        flag: 'x',
        value: Some("instr"),
        help: "only the function whose code holds this address",
    },
];

const HELP: &str = "\
Prints one line for each function definition: the address of one closure, the number of closures, \
the name, and the place of the definition. Functions without a closure are not shown. -X shows \
the first machine code of each function. A function that was never compiled to machine code has \
none.";

const EXAMPLES: &[Example] = &[
    Example { line: "::jsfunctions -s main.js", shows: "the functions of a script" },
    Example { line: "::jsfunctions -X -n emit", shows: "the addresses of the code of functions" },
];

/// Lists functions.
pub struct Jsfunctions;

impl Dcmd for Jsfunctions {
    fn spec(&self) -> Spec {
        Spec::new("jsfunctions", Group::Runtimes, "list JavaScript functions")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let wanted = DefinitionFilter {
            name: args.value('n').map(Arg::to_text).map(|text| text.to_string()),
            file: args.value('s').map(Arg::to_text).map(|text| text.to_string()),
            code: args.value('x').map(|word| operand::number(cx, word)).transpose()?.map(Addr::new),
            only_closures: args.has('l'),
        };
        let columns = if args.has('X') { WITH_CODE } else { PLAIN };
        for counted in Counted::all(cx)? {
            let (v8, core) = (counted.v8, counted.core);
            let definitions = watched(cx, |watch| v8.definitions(core, &counted.census, watch))?;
            let mut shown = definitions.iter().filter(|definition| wanted.holds(definition));
            shown.try_for_each(|definition| cx.emit(&DefinitionRecord { definition, columns }))?;
        }
        Ok(())
    }
}

struct DefinitionFilter {
    name: Option<String>,
    file: Option<String>,
    code: Option<Addr>,
    only_closures: bool,
}

impl DefinitionFilter {
    fn holds(&self, definition: &Definition) -> bool {
        let has = |text: &Option<std::sync::Arc<str>>, part: &Option<String>| {
            part.as_deref()
                .is_none_or(|part| text.as_deref().is_some_and(|text| text.contains(part)))
        };
        let ranges = || definition.code.iter().chain(definition.bytecode.as_ref());
        has(&definition.name, &self.name)
            && has(&definition.file, &self.file)
            && (definition.is_closure || !self.only_closures)
            && self.code.is_none_or(|at| ranges().any(|range| range.contains(at)))
    }
}

const PLAIN: &[Column] = &[
    Column::right("function", "FUNC", 16).spec("x"),
    Column::right("closures", "#FUNCS", 8),
    Column::left("shown_name", "NAME", 40),
    Column::left("from", "FROM", 0),
];

const WITH_CODE: &[Column] = &[
    Column::right("function", "FUNC", 16).spec("x"),
    Column::right("closures", "#FUNCS", 8),
    Column::right("start", "START", 16).spec("x"),
    Column::right("end", "END", 16).spec("x"),
    Column::left("shown_name", "NAME", 40),
    Column::left("from", "FROM", 0),
];

struct DefinitionRecord<'d> {
    definition: &'d Definition,
    columns: &'static [Column],
}

impl DefinitionRecord<'_> {
    fn from(&self) -> String {
        let definition = self.definition;
        match (definition.file.as_deref(), definition.line) {
            (Some(file), Some(line)) => format!("{file} line {line}"),
            (Some(file), None) => file.to_owned(),
            (None, _) => "<unknown>".to_owned(),
        }
    }
}

impl Record for DefinitionRecord<'_> {
    fn kind(&self) -> &'static str {
        "js_function_definition"
    }

    fn view(&self) -> View {
        View::Table(self.columns)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let definition = self.definition;
        let code = definition.code.first();
        let name = definition.name.as_deref();
        out.addr("function", tagged(definition.function))
            .num("closures", definition.count)
            .opt_text("name", name)
            .opt_text("file", definition.file.as_deref())
            .num("line", definition.line.map(u64::from))
            .num("column", definition.column.map(u64::from))
            .flag("captures", definition.is_closure)
            .put("code", Cell::List(definition.code.iter().map(range).collect()))
            .put("bytecode", Cell::or_null(definition.bytecode.as_ref(), range))
            .display("shown_name", Cell::text(name.unwrap_or("<anonymous>")))
            .display("from", Cell::text(self.from()))
            .display("start", Cell::or_null(code, |code| Cell::Addr(code.start)))
            .display("end", Cell::or_null(code, |code| Cell::Addr(code.end)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(tagged(self.definition.function)))
    }
}

fn range(range: &AddrRange) -> Cell<'static> {
    Cell::Object(vec![("base", Cell::Addr(range.start)), ("limit", Cell::Addr(range.end))])
}
