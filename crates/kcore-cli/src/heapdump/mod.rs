//! `kcore heapdump`: a heap as a file for the tools that analyze heaps.

mod args;
mod native;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kcore::java::{HeapDump, HeapDumpError, Java};
use kcore::{Core, OpenOptions};
use kcore_render::io_reason;
use signal_hook::consts::SIGINT;

pub(crate) use args::HeapdumpArgs;

use crate::{args::USAGE, target::shown};

/// Exit status when there is no dump.
const FAILED: u8 = 1;
/// Bytes that are written at a time.
const BUFFER: usize = 1 << 20;

/// Writes the dump, and says what is in it.
pub(crate) fn run(args: &HeapdumpArgs) -> ExitCode {
    let core = match open(args) {
        Ok(core) => core,
        Err(error) => {
            say(&format!("{error:#}"));
            return ExitCode::from(USAGE);
        }
    };
    match dump(&core, args) {
        Ok(lines) => {
            lines.iter().for_each(|line| say(line));
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::from(FAILED)
        }
    }
}

/// Nobody may read it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "kcore: {line}");
}

fn open(args: &HeapdumpArgs) -> Result<Core> {
    if args.output == Path::new("-") && io::stdout().is_terminal() {
        bail!("standard output is a terminal: a heap dump is no text (-o FILE)");
    }
    let core = Some(args.core.clone());
    Ok(Core::open(&OpenOptions { core, ..args.files.options()? })?)
}

fn dump(core: &Core, args: &HeapdumpArgs) -> Result<Vec<String>> {
    let interrupt = Arc::clone(core.budget().interrupt());
    signal_hook::flag::register(SIGINT, interrupt).context("cannot catch ctrl-C")?;
    let Some(format) = args.profile_format() else { return dump_java(core, args) };
    let (heap, profile) = native::profile(core)?;
    written(args, |to, _| native::write(&profile, format, to))?;
    Ok(vec![native::summary(&name(args), &heap, &profile)])
}

fn dump_java(core: &Core, args: &HeapdumpArgs) -> Result<Vec<String>> {
    let mut machines = core.runtimes().of::<Java>();
    let Some(java) = machines.next() else {
        let damaged = core.runtimes().damaged().iter().find(|damaged| damaged.name == "java");
        match damaged {
            Some(damaged) => bail!("{}", damaged.why),
            None => bail!("{}: no heap of Java is in it", shown(&args.core)),
        }
    };
    let mut lines = Vec::new();
    if machines.next().is_some() {
        lines.push(
            "the process has several virtual machines: the heap of the first is written".into(),
        );
    }
    let told = written(args, |to, name| write(core, java, to, name))?;
    lines.push(summary(&told, args));
    lines
        .extend(told.missing.iter().map(|missing| format!("{missing}: there may be more objects")));
    Ok(lines)
}

fn summary(told: &HeapDump, args: &HeapdumpArgs) -> String {
    let HeapDump { classes, objects, roots, stacks, .. } = told;
    let name = name(args);
    format!("wrote {name}: {objects} objects of {classes} classes, {roots} roots, {stacks} stacks")
}

/// What is written to, for people.
fn name(args: &HeapdumpArgs) -> String {
    match args.output == Path::new("-") {
        true => "standard output".to_owned(),
        false => shown(&args.output),
    }
}

/// Has something written to what the user named.
fn written<T>(
    args: &HeapdumpArgs,
    write: impl FnOnce(&mut dyn Write, &str) -> Result<T>,
) -> Result<T> {
    match args.output == Path::new("-") {
        true => write(&mut io::stdout().lock(), "standard output"),
        false => to_file(&args.output, write),
    }
}

/// Writes a file beside the one that is wanted, and gives it its name when it is whole.
fn to_file<T>(path: &Path, write: impl FnOnce(&mut dyn Write, &str) -> Result<T>) -> Result<T> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let wrong = |error: io::Error| anyhow::anyhow!("{}: {}", shown(path), io_reason(&error));
    let mut file = File::create(&part).map_err(wrong)?;
    let told = write(&mut file, &shown(path))
        .and_then(|told| std::fs::rename(&part, path).map(|()| told).map_err(wrong));
    if told.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    told
}

fn write(core: &Core, java: &Java, to: &mut dyn Write, name: &str) -> Result<HeapDump> {
    let mut to = BufWriter::with_capacity(BUFFER, to);
    let mut watch = |_, _| match core.budget().is_halted() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    core.write_java_heap(java, &mut to, &mut watch).map_err(|error| match error {
        HeapDumpError::Write(error) => anyhow::anyhow!("{name}: {}", io_reason(&error)),
        HeapDumpError::Stopped(_) => anyhow::anyhow!("interrupted"),
        other => other.into(),
    })
}
