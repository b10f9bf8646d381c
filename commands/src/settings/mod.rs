//! `::set`, and the `$` commands that change one setting each.

mod options;
pub mod prompt;
mod report;
pub mod symbols;
pub mod width;

use std::path::PathBuf;

use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use crate::operand;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'F', value: None, help: "take over what another debugger holds: not for cores" },
    Opt { flag: 'w', value: None, help: "open for writing: not for cores" },
    Opt { flag: 'I', value: Some("path"), help: "folders of macro files, separated by colons" },
    Opt { flag: 'L', value: Some("path"), help: "folders of modules: there are none to load" },
    Opt { flag: 'P', value: Some("prompt"), help: "the prompt" },
    Opt { flag: 'o', value: Some("option"), help: "set an option; +o clears it" },
    Opt { flag: 's', value: Some("distance"), help: "how far from a symbol its name counts" },
];

const HELP: &str = "Without arguments: all settings. Lines of the configuration file that begin with \
    ::set keep them for the next time.\n\n\
    Options, which -o sets and +o clears: pager (output pauses after each screenful), autowrap (all \
    output wraps at words), ignoreeof (ctrl-D does not leave), lines (stacks and ::status show files and lines of source; \
    it is on if standard output is a terminal), nearest (a runtime whose version is unknown is \
    decoded by the layouts of the nearest one, and every frame says so), repeatlast (an empty line repeats the \
    last command). Several are separated by commas. array_mem_limit=N and array_str_limit=N, or none, are how \
    many elements of an array, and characters of an array of them, values of types show.\n\n\
    A distance of 0 asks each symbol for its size.";

const EXAMPLES: &[Example] = &[
    Example { line: "::set", shows: "all settings" },
    Example { line: "::set -o repeatlast +o pager", shows: "nothing; both are changed" },
];

/// Shows and changes settings.
pub struct Set;

impl Dcmd for Set {
    fn spec(&self) -> Spec {
        Spec::new("set", Group::Language, "show and change settings")
            .options(OPTIONS)
            .operands("[+o option]...", 0, usize::MAX)
            .addr(AddrUse::None)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let is_alone =
            args.operands().is_empty() && OPTIONS.iter().all(|option| !args.has(option.flag));
        if is_alone {
            return report::show(cx);
        }
        if args.has('w') || args.has('F') {
            return Err(DcmdError::failed(
                "failed to re-open target for writing: operation not supported by target",
            ));
        }
        change(cx, args)
    }
}

fn change(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let distance = match args.value('s') {
        Some(word) => Some(operand::number(cx, word)?),
        None => None,
    };
    // Nothing is changed if one of the words is wrong.
    let mut settings = cx.shell().settings().clone();
    options::apply(&mut settings, args)?;
    if let Some(prompt) = args.value('P') {
        settings.prompt = prompt::checked(&prompt.to_text())?;
    }
    if let Some(path) = args.value('I') {
        settings.macro_path = folders(path);
    }
    settings.symbol_distance = distance.unwrap_or(settings.symbol_distance);
    cx.core().set_nearest_layouts(settings.nearest_layouts);
    *cx.shell_mut().settings_mut() = settings;
    Ok(())
}

fn folders(path: &Arg) -> Vec<PathBuf> {
    let text = path.to_text();
    text.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
}
