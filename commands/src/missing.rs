//! `::missing` — the files that would have to be fetched for full answers.

use kcore::{MissingFile, MissingUse};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

const COLUMNS: &[Column] = &[
    Column::left("what", "WHAT", 13),
    Column::left("shown_id", "BUILD-ID", 40),
    Column::right("shown_size", "BYTES", 10),
    Column::right("frames", "FRAMES", 6),
    Column::left("path", "NAME", 24),
];

const OPTIONS: &[Opt] = &[Opt {
    flag: 'a',
    value: None,
    help: "also list debug information of modules that are on no stack",
}];

const EXAMPLES: &[Example] = &[
    Example { line: "::missing", shows: "what to fetch, the most useful file first" },
    Example { line: "::missing -a", shows: "all that could be fetched" },
];

const HELP: &str = "\
Lists the files that belong to the process and were not found, with the build-ids by which to ask \
for them. Those of modules with the most frames on stacks come first.

- executable: the module itself. Its code, and often its unwind information, are in no other file.
- debuginfo: lines, variables and types. A module may have them in a file of their own.
- supplementary: what dwz moved out of the debug information of several modules.
- split: the debug information of one unit, a .dwo file that its compiler left where it ran.

BYTES is what the file has at least. A core does not tell the size of debug information. \
::objects -v shows where each file was looked for, and why others were refused.";

/// Lists the files that are missing.
pub struct Missing;

impl Dcmd for Missing {
    fn spec(&self) -> Spec {
        Spec::new("missing", Group::Symbols, "list the files to fetch for full answers")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let missing = cx.core().files().missing(args.has('a'));
        let core = cx.core();
        if missing.is_empty() && core.modules().exe().is_none() && core.file().is_some() {
            return cx.note("nothing in the core tells which files the process had");
        }
        missing.into_iter().try_for_each(|file| cx.emit(&MissingRecord(file)))
    }
}

struct MissingRecord(MissingFile);

impl Record for MissingRecord {
    fn kind(&self) -> &'static str {
        "missing_file"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let file = &self.0;
        let id = file.build_id.as_ref().map(ToString::to_string);
        let size = file.at_least.map(|bytes| format!(">={bytes}"));
        let is_own = matches!(file.is_for, MissingUse::Executable | MissingUse::DebugInfo);
        let unknown = if is_own { "not known" } else { "-" };
        out.text("what", file.is_for.as_str())
            .text("module", file.module.as_str())
            .text("path", file.path.as_str())
            .addr("base", file.base)
            .opt_text("build_id", id.clone())
            .num("size_at_least", file.at_least)
            .num("frames", file.frames)
            .display("shown_id", Cell::text(id.unwrap_or_else(|| unknown.to_owned())))
            .display("shown_size", Cell::text(size.unwrap_or_else(|| "-".to_owned())));
    }

    fn dot(&self) -> Option<Dot> {
        self.0.base.map(Dot::Addr)
    }
}
