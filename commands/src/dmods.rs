//! `::dmods`: the modules that dcmds come from. Every dcmd of kcore is built in.

use kcore_dcmd::{
    Arg, Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

/// The module of all that is built in.
pub const BUILT_IN: &str = "kcore";

/// Lists the modules.
pub struct Dmods;

impl Dcmd for Dmods {
    fn spec(&self) -> Spec {
        Spec::new("dmods", Group::Language, "list the modules of dcmds and what they hold")
            .options(&[Opt { flag: 'l', value: None, help: "also list their dcmds and walkers" }])
            .operands("[module]", 0, 1)
            .help("Every dcmd and walker is built in, so there is one module.")
            .examples(&[
                Example { line: "::dmods", shows: "the name of the module" },
                Example { line: "::dmods -l", shows: "the contents of the module" },
            ])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let name = args.first().map(Arg::to_text);
        if let Some(name) = name.filter(|name| name != BUILT_IN) {
            return Err(DcmdError::failed(format!("{name}: specified module is not loaded")));
        }
        cx.emit(&Module::new(cx, args.has('l')))
    }
}

/// A module, and each dcmd and walker of it with its summary.
struct Module {
    dcmds: Vec<(&'static str, &'static str)>,
    walkers: Vec<(&'static str, &'static str)>,
    long: bool,
}

impl Module {
    fn new(cx: &Cx<'_>, long: bool) -> Self {
        let specs = cx.shell().dcmds().iter().map(|dcmd| dcmd.spec());
        let mut dcmds: Vec<_> = specs.map(|spec| (spec.name, spec.summary)).collect();
        let specs = cx.shell().walkers().iter().map(|walker| walker.spec());
        let mut walkers: Vec<_> = specs.map(|spec| (spec.name, spec.summary)).collect();
        dcmds.sort_unstable();
        walkers.sort_unstable();
        Self { dcmds, walkers, long }
    }

    fn listing(&self) -> String {
        let line = |word, (name, summary): &(&str, &str)| format!("  {word} {name:20} - {summary}");
        let dcmds = self.dcmds.iter().map(|it| line("dcmd", it));
        let walkers = self.walkers.iter().map(|it| line("walk", it));
        dcmds.chain(walkers).collect::<Vec<_>>().join("\n")
    }
}

impl Record for Module {
    fn kind(&self) -> &'static str {
        "dmod"
    }

    fn view(&self) -> View {
        View::Line(if self.long { "{name:!}\n{listing:m}" } else { "{name}" })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let names = |list: &[(&'static str, _)]| {
            Cell::List(list.iter().map(|(name, _)| Cell::text(*name)).collect())
        };
        out.text("name", BUILT_IN)
            .put("dcmds", names(&self.dcmds))
            .put("walkers", names(&self.walkers))
            .display("listing", Cell::text(self.listing()));
    }
}
