//! `::which`, `::whence` — what a name is.

use kcore_dcmd::{
    Arg, Args, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

const EXAMPLES: &[Example] = &[
    Example { line: "::which $m", shows: "the dcmd behind an alias" },
    Example { line: "::which object objects", shows: "a walker and a dcmd" },
];

/// Says whether names are those of dcmds or walkers.
pub struct Which;

impl Dcmd for Which {
    fn spec(&self) -> Spec {
        Spec::new("which", Group::Language, "say what a name is: a dcmd, a walker")
            .aliases(&["whence"])
            .operands("name...", 1, usize::MAX)
            .help("Every meaning of each name gets a line. A leading :: may be left out.")
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        for name in args.operands().iter().map(Arg::to_text) {
            let meanings = meanings(cx, &name);
            if meanings.is_empty() {
                cx.report(&DcmdError::failed(format!("{name} not found")))?;
            }
            meanings.iter().try_for_each(|meaning| cx.emit(meaning))?;
        }
        Ok(())
    }
}

fn meanings(cx: &Cx<'_>, name: &str) -> Vec<Meaning> {
    let bare = name.trim_start_matches("::");
    let dcmds = cx.shell().dcmds().iter().map(|dcmd| dcmd.spec());
    let dcmds = dcmds.filter(|spec| spec.name == bare || spec.aliases.contains(&bare));
    let walkers = cx.shell().walkers().iter().map(|walker| walker.spec().name);
    let meaning = |what, dcmd: Option<&'static str>| {
        let alias_of = dcmd.filter(|dcmd| *dcmd != bare);
        Meaning { name: name.to_owned(), what, alias_of }
    };
    let mut meanings: Vec<_> = dcmds.map(|spec| meaning("dcmd", Some(spec.name))).collect();
    meanings.extend(walkers.filter(|walker| *walker == bare).map(|_| meaning("walker", None)));
    meanings
}

struct Meaning {
    name: String,
    what: &'static str,
    alias_of: Option<&'static str>,
}

impl Record for Meaning {
    fn kind(&self) -> &'static str {
        "meaning"
    }

    fn view(&self) -> View {
        View::Line("{name} is a built-in {what}{alias_of?: {alias_of}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name.as_str())
            .text("what", self.what)
            .opt_text("alias_of", self.alias_of);
    }
}
