//! `kcore bundle`: a core with the files that its answers need.

mod args;
mod memory;
mod output;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use kcore::{BundleContents, BundleOptions, Core, DoubtKind, OpenOptions};
use kcore_render::io_reason;

pub(crate) use args::BundleArgs;
use memory::StackMemory;
use output::{BundleOutput, is_stdout};

use crate::{args::USAGE, progress, run::unused_files, target::shown};

/// What somebody has to know who hands a small bundle on.
const SHARED_PAGES: &str = "\
    memory is kept in whole pages: what lies beside what stacks need is in it, and may be secret";

/// Exit status when there is no bundle.
const FAILED: u8 = 1;

/// Writes the bundle, and says what is in it.
pub(crate) fn run(args: &BundleArgs) -> ExitCode {
    let core = match open(args) {
        Ok(core) => core,
        Err(error) => {
            say(&format!("{error:#}"));
            return ExitCode::from(USAGE);
        }
    };
    let is_replaced = args.output.is_file();
    unused_files(&core).iter().for_each(|note| say(note));
    if args.stacks_only {
        // The new core cannot say what the old one lacked.
        core.doubts().iter().filter(|it| it.kind == DoubtKind::Damage).for_each(|it| say(&it.text));
    }
    let memory = args.stacks_only.then(|| StackMemory::of(&core, &args.commands)).flatten();
    let lacks_tasks = memory.as_ref().is_some_and(|memory| memory.lacks_tasks);
    match write(&core, args, memory) {
        Ok(contents) => {
            summary(&contents, args, is_replaced).iter().for_each(|line| say(line));
            if lacks_tasks {
                say("tasks of runtimes are not in it: finding them takes too much of the memory");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&format!("{}: {}", output_name(&args.output), io_reason(&error)));
            ExitCode::from(FAILED)
        }
    }
}

/// Nobody may read it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "kcore: {line}");
}

fn open(args: &BundleArgs) -> Result<Core> {
    output::check(&args.output)?;
    let core = Some(args.core.clone());
    let options = OpenOptions { core, ..args.files.options()? };
    let core = progress::shown(|progress| Core::open_with_progress(&options, progress))?;
    if core.threads().is_empty() && core.modules().all().is_empty() {
        bail!("{}: neither threads nor modules are in it", shown(&args.core));
    }
    let same = |error| anyhow!("{}: {error}", shown(&args.output));
    if args.output.exists()
        && args.core.canonicalize()? == args.output.canonicalize().map_err(same)?
    {
        bail!("{}: the core itself would be overwritten", shown(&args.output));
    }
    Ok(core)
}

fn write(
    core: &Core,
    args: &BundleArgs,
    memory: Option<StackMemory>,
) -> io::Result<BundleContents> {
    let memory = memory.map(|memory| memory.ranges);
    let options = BundleOptions { without_env: args.no_env || args.stacks_only, memory };
    BundleOutput::open(&args.output)?.write(|to| core.bundle().write(to, &options))
}

fn output_name(output: &Path) -> String {
    if is_stdout(output) { "standard output".to_owned() } else { shown(output) }
}

fn summary(contents: &BundleContents, args: &BundleArgs, is_replaced: bool) -> Vec<String> {
    let files = contents.files.len();
    let replaced = if is_replaced { ", in place of the file of that name" } else { "" };
    let output = output_name(&args.output);
    let size = contents.core_size;
    let core = match args.stacks_only {
        true => format!("what stacks need of the core ({size} bytes)"),
        false => "the core".to_owned(),
    };
    let mut lines = vec![format!("wrote {output}: {core} and {files} files{replaced}")];
    if !contents.lacking.is_empty() {
        let all: Vec<String> = contents.lacking.iter().map(|path| shown(Path::new(path))).collect();
        lines.push(format!("files that were not found are not in it: {}", all.join(", ")));
    }
    match (args.no_env || args.stacks_only, contents.has_unknown_env) {
        (true, true) => lines.push("the environment was not found, and nothing was left out".into()),
        (true, false) => lines.push(format!(
            "{} strings of the environment were left out; copies that the program made may be there",
            contents.blotted
        )),
        (false, _) => lines.push("all memory of the core is in it, with what secrets it holds".into()),
    }
    if args.stacks_only {
        lines.push(SHARED_PAGES.to_owned());
    }
    lines
}
