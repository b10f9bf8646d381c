//! `::which`, `::whence` — what a name is.

use kcore::PrinterFile;
use kcore_dcmd::{
    Arg, Args, Cx, Dcmd, DcmdError, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

const OPTIONS: &[Opt] =
    &[Opt { flag: 'v', value: None, help: "also show the list of definitions" }];

const EXAMPLES: &[Example] = &[
    Example { line: "::which $m", shows: "the dcmd behind an alias" },
    Example { line: "::which object objects", shows: "a walker and a dcmd" },
];

/// Says whether names are those of dcmds or walkers.
pub struct Which;

impl Dcmd for Which {
    fn spec(&self) -> Spec {
        Spec::new("which", Group::Language, "show whether a name is a dcmd or a walker")
            .aliases(&["whence"])
            .options(OPTIONS)
            .operands("name...", 1, usize::MAX)
            .help("Prints one line for each meaning of each name. You may leave out a leading ::.")
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let verbose = args.has('v');
        for name in args.operands().iter().map(Arg::to_text) {
            let meanings = meanings(cx, &name, verbose);
            if meanings.is_empty() {
                cx.report(&DcmdError::failed(format!("{name} not found")))?;
            }
            meanings.iter().try_for_each(|meaning| cx.emit(meaning))?;
        }
        Ok(())
    }
}

fn meanings(cx: &Cx<'_>, name: &str, verbose: bool) -> Vec<Meaning> {
    let bare = name.strip_prefix("::").unwrap_or(name);
    let dcmds = cx.shell().dcmds().iter().map(|dcmd| dcmd.spec());
    let dcmds = dcmds.filter(|spec| spec.is_called(name));
    let walkers = cx.shell().walkers().iter().map(|walker| walker.spec().name);
    let meaning = |what, defined: &'static str| {
        let alias_of = (defined != bare).then_some(defined);
        Meaning { name: name.to_owned(), what, defined, alias_of, verbose, file: None }
    };
    let printers = cx.shell().printers();
    let own = |what, file: &PrinterFile| Meaning {
        name: name.to_owned(),
        what,
        defined: "",
        alias_of: None,
        verbose: false,
        file: Some(file.name.to_string()),
    };
    let mut meanings: Vec<_> = dcmds.map(|spec| meaning("dcmd", spec.name)).collect();
    meanings
        .extend(walkers.filter(|walker| *walker == bare).map(|walker| meaning("walker", walker)));
    meanings.extend(printers.dcmd(bare).map(|(file, _)| own("dcmd", file)));
    meanings.extend(printers.walker(bare).map(|(file, _)| own("walker", file)));
    meanings
}

struct Meaning {
    name: String,
    what: &'static str,
    /// The name under which it is defined.
    defined: &'static str,
    alias_of: Option<&'static str>,
    /// Whether its definition is shown.
    verbose: bool,
    /// The file that declares it.
    file: Option<String>,
}

impl Record for Meaning {
    fn kind(&self) -> &'static str {
        "meaning"
    }

    fn view(&self) -> View {
        if self.file.is_some() {
            return View::Line("{name} is a {what} of {file}");
        }
        match self.verbose {
            true => View::Line(
                "{name} is a built-in {what}{alias_of?: {alias_of}}\n   >  definition list:\n  \
                 [1] kcore`{defined}",
            ),
            false => View::Line("{name} is a built-in {what}{alias_of?: {alias_of}}"),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name.as_str())
            .text("what", self.what)
            .opt_text("alias_of", self.alias_of)
            .opt_text("file", self.file.as_deref())
            .display("defined", kcore_dcmd::Cell::text(self.defined));
    }
}
