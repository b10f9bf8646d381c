//! `::files`, `$f`: the source files that symbol tables name.

use kcore::{Module, SymbolKind};
use kcore_dcmd::{
    Arg, Args, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

const EXAMPLES: &[Example] = &[
    Example { line: "::files", shows: "the source files of every object" },
    Example { line: "::files a.out", shows: "the source files of the executable" },
];

/// Lists the file symbols of every object, or of one.
pub struct Files;

impl Dcmd for Files {
    fn spec(&self) -> Spec {
        Spec::new("files", Group::Symbols, "list the source files that symbol tables name")
            .aliases(&["$f"])
            .operands("[object]", 0, 1)
            .help(
                "The compiler puts the name of each source file into the full symbol table. A \
                 stripped object has none.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let mut index = 0_u64;
        for module in chosen(cx, args)? {
            for name in file_names(module) {
                index = index.saturating_add(1);
                cx.emit(&FileRecord { index, name, object: module.name() })?;
            }
        }
        Ok(())
    }
}

fn chosen<'a>(cx: &Cx<'a>, args: &Args) -> Result<Vec<&'a Module>> {
    let modules = cx.core().modules();
    let Some(name) = args.first().map(Arg::to_text) else {
        return Ok(modules.in_scope_order().collect());
    };
    let named: Vec<_> = modules.named(&name).collect();
    if named.is_empty() {
        let reason = "unknown object file name";
        return Err(DcmdError::failed(format!("failed to obtain object: {reason} '{name}'")));
    }
    Ok(named)
}

/// The names in the order of the table. The linker closes its own symbols with a nameless one.
fn file_names(module: &Module) -> impl Iterator<Item = String> {
    let files = module.symbols().table().iter().filter(|it| it.kind() == SymbolKind::File);
    let names = files.map(|symbol| String::from_utf8_lossy(symbol.name()).into_owned());
    names.filter(|name| !name.is_empty())
}

struct FileRecord<'m> {
    index: u64,
    name: String,
    object: &'m str,
}

impl Record for FileRecord<'_> {
    fn kind(&self) -> &'static str {
        "source_file"
    }

    fn view(&self) -> View {
        View::Line("{index}\t{name}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("index", self.index).text("name", &self.name).text("object", self.object);
    }
}
