//! One run of the program: open, read the configuration, take commands, say how it ended.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow, bail};
use kcore::{Budget, Core, LiveProcess, OpenOptions, OwnFileError, open_own, open_regular};
use kcore_dcmd::{DcmdError, Shell, Sink};
use kcore_render::{Format, Screen, io_reason};
use kcore_shell::repl::ReplOptions;
use kcore_shell::{Session, SessionOptions, Status, script};

use crate::args::{self, Args, Batch, Word};
use crate::confine::{self, Allowed};
use crate::target::{self, Target, shown};
use crate::terminal::{self, Terminal};
use crate::{folders, help, interactive, live, output, progress, several};

/// Exit status when a command failed.
const FAILED: u8 = 1;

/// Where commands come from.
enum Commands {
    /// A user at a terminal.
    User,
    /// Texts and scripts, in order.
    Batch(Vec<Input>),
}

impl Commands {
    /// The terminal of a user. Nobody waits for keys of those who are not there.
    fn screen(&self, interrupt: &Arc<AtomicBool>) -> Option<Arc<dyn Screen>> {
        match self {
            Self::User => Some(Arc::new(Terminal::open(interrupt)?)),
            Self::Batch(_) => None,
        }
    }

    const fn are_typed(&self) -> bool {
        matches!(self, Self::User)
    }
}

/// Commands that nobody types.
enum Input {
    Text(OsString),
    Script(Script),
}

/// A script that is open, and what errors call it.
struct Script {
    lines: Box<dyn BufRead>,
    name: String,
}

/// Runs the program. What stops it before the first command goes to standard error.
pub(crate) fn run(args: Args) -> ExitCode {
    match try_run(args) {
        Ok(status) if status.failed() => ExitCode::from(FAILED),
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "kcore: {error:#}");
            ExitCode::from(args::USAGE)
        }
    }
}

fn try_run(mut args: Args) -> Result<Status> {
    let files = std::mem::take(&mut args.files);
    let commands = std::mem::take(&mut args.commands);
    if let Some(question) = several::asked(&args, &files) {
        return several::run(question, files, &commands, &args);
    }
    let live = args.live.target()?;
    if let Some(names) = help::asked(&files, &args, live.is_some(), &commands) {
        return help::show(&names, &args);
    }
    let target = target::resolve(files, args.exe.take(), commands, live)?;
    if let (Some(Word::Check), None, None, Some(exe)) =
        (args.word, &target.live, &target.core, &target.exe)
    {
        bail!("{}: an executable, not a core", shown(exe));
    }
    let commands = commands_of(&target)?;
    args.budget.guard()?;
    let budget = args.budget.budget();
    let screen = commands.screen(budget.interrupt());
    let interrupt = Arc::clone(budget.interrupt());
    let mut notes = Vec::new();
    let core = open_core(&target, &args, budget, commands.are_typed(), &mut notes)?;
    notes.extend(live_notes(&target, &core));
    let format = output::format(args.json, args.color, core.target().word_size());
    let mut session = session(core, format);
    if target.live.as_ref().is_some_and(|live| !live.options.live_memory) {
        session.advise_where_not_copied(live::UNCOPIED);
    }
    let settings = session.settings_mut();
    settings.macro_path.extend(folders::macros().filter(|_| !args.untrusted));
    settings.printer_path.extend(folders::printers().filter(|_| !args.untrusted));
    settings.show_state = args.live.show_state;
    settings.show_stack_pointer = args.live.show_rsp;
    settings.source_lines = io::stdout().is_terminal();
    let mut sink = match output::sink(format, args.color, screen.clone(), Some(&target.name())) {
        Ok(sink) => sink,
        Err(DcmdError::Closed) => return Ok(Status::DONE),
        Err(error) => return Err(error.into()),
    };
    let sink = sink.as_mut();
    for note in notes {
        let _ = sink.note(&note);
    }
    let begun = if args.read_rc { read_rc(&mut session, sink) } else { Status::DONE };
    if begun.stops() {
        return Ok(Status::DONE);
    }
    match commands {
        Commands::User => {
            let options = repl_options(&target, &args, screen);
            interactive::run(&mut session, sink, &interrupt, &options, args.quiet)
        }
        Commands::Batch(inputs) => Ok(batch(&mut session, inputs, sink)),
    }
}

fn repl_options(target: &Target, args: &Args, screen: Option<Arc<dyn Screen>>) -> ReplOptions {
    ReplOptions {
        history: folders::history().filter(|_| !args.untrusted),
        // Prompts and what is typed are no results: they stay out of a pipe that takes these.
        prefer_terminal: target.core_is_stdin() || !io::stdout().is_terminal(),
        styled: output::is_terminal_styled(args.color),
        screen,
    }
}

/// Refuses what the user named and is not there: without a word it would look as if it had been used.
fn check_named(target: &Target, args: &Args) -> Result<()> {
    if let Some(exe) = &target.exe {
        open_regular(exe).map_err(|error| anyhow!("{}: {}", shown(exe), io_reason(&error)))?;
    }
    for map in &args.code_maps {
        open_regular(map).map_err(|error| anyhow!("{}: {}", shown(map), io_reason(&error)))?;
    }
    for map in args.source_maps.iter().filter(|map| !map.is_dir()) {
        open_regular(map).map_err(|error| anyhow!("{}: {}", shown(map), io_reason(&error)))?;
    }
    for dir in args.sysroot.iter().chain(&args.debug_dirs) {
        if !dir.is_dir() {
            bail!("{}: no such directory", shown(dir));
        }
    }
    Ok(())
}

/// Opens the target. What is said of it stands in `notes`. `is_typed`: commands come from a terminal.
///
/// # Errors
/// If the target cannot be opened, or a file or folder of the command line does not exist.
pub(crate) fn open_core(
    target: &Target,
    args: &Args,
    budget: Budget,
    is_typed: bool,
    notes: &mut Vec<String>,
) -> Result<Core> {
    check_named(target, args)?;
    let options = args.finders.apply(OpenOptions {
        core: target.core.clone(),
        exe: target.exe.clone(),
        sysroot: args.sysroot.clone(),
        host_files: args.host_files,
        untrusted: args.untrusted,
        debug_dirs: args.debug_dirs.clone(),
        code_maps: args.code_maps.clone(),
        source_maps: args.source_maps.clone(),
        cache_dir: folders::cache().filter(|_| !args.untrusted),
        budget,
        ..OpenOptions::default()
    })?;
    if let Some(live) = &target.live {
        let core = LiveProcess::of(live.pid).snapshot(&live.options, &options)?;
        notes.extend(unused_files(&core));
        return Ok(core);
    }
    let allowed = args.untrusted.then(|| allowed(target, args, is_typed));
    notes.extend(allowed.iter().flat_map(confine::confine));
    let core = progress::shown(|progress| Core::open_with_progress(&options, progress))?;
    if let Some(allowed) = &allowed {
        confine::after_opening(allowed);
    }
    notes.extend(unused_files(&core));
    Ok(core)
}

/// What the user named and is of no use: without a word it would look as if it had been used.
pub(crate) fn unused_files(core: &Core) -> Vec<String> {
    let maps = core.files().code_maps_without_names().into_iter();
    let maps = maps.map(|map| format!("{}: no names of code are in it", shown(map)));
    let refused = core.files().refused_source_maps().into_iter();
    let refused = refused.map(|(map, why)| format!("{} is not used: {why}", shown(&map)));
    core.files().refused_executable().into_iter().chain(maps).chain(refused).collect()
}

/// What may be read for a core that nobody trusts.
fn allowed(target: &Target, args: &Args, is_typed: bool) -> Allowed {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => PathBuf::from("."),
        Some(folder) => folder.to_owned(),
        None => path.to_owned(),
    };
    let core = target.core.as_deref().filter(|path| path.is_file());
    let opened = target.core.as_deref().or(target.exe.as_deref());
    let core_dir = opened.filter(|_| !target.core_is_stdin()).map(folder);
    let named = core.into_iter().chain(target.exe.as_deref()).map(Path::to_owned);
    let named = named.chain(args.code_maps.clone()).chain(args.source_maps.clone());
    let folders = core_dir.into_iter().chain(args.sysroot.clone()).chain(args.debug_dirs.clone());
    let folders = folders.chain(args.finders.folders().cloned());
    Allowed {
        read: named.chain(folders).collect(),
        unpack: target.core_is_unpacked().then(env::temp_dir),
        terminal: is_typed,
    }
}

/// What a user has to know of a snapshot.
fn live_notes(target: &Target, core: &Core) -> Vec<String> {
    let facts = target.live.as_ref().zip(core.snapshot().facts());
    facts
        .map(|(live, facts)| live::notes(live.pid, &facts, core.threads().len()))
        .unwrap_or_default()
}

/// A session with all commands.
pub(crate) fn session(core: Core, format: Format) -> Session {
    Session::new(
        Arc::new(core),
        SessionOptions {
            dcmds: kcore_commands::DCMDS,
            walkers: kcore_commands::WALKERS,
            declared: Some(&kcore_commands::DECLARED),
            foreign: Some(&kcore_commands::GDB),
            typed: Some(&kcore_commands::TYPED),
            format,
            terminal_width: terminal::columns,
        },
    )
}

/// Where commands come from. Opens the scripts, so that one that is missing is said at once.
fn commands_of(target: &Target) -> Result<Commands> {
    let core_is_stdin = target.core_is_stdin();
    let is_stdin = |batch: &Batch| matches!(batch, Batch::Script(path) if is_stdin(path));
    match target.commands.as_slice() {
        named if core_is_stdin && named.iter().any(is_stdin) => {
            bail!("standard input cannot be both the core and the script")
        }
        [] if core_is_stdin && !io::stdout().is_terminal() => {
            bail!("standard input is the core: give commands with -c or -f")
        }
        [] if core_is_stdin || io::stdin().is_terminal() => Ok(Commands::User),
        [] => Ok(Commands::Batch(vec![Input::Script(open_script(Path::new("-"))?)])),
        named => Ok(Commands::Batch(named.iter().map(open_input).collect::<Result<_>>()?)),
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn open_input(batch: &Batch) -> Result<Input> {
    match batch {
        Batch::Text(text) => Ok(Input::Text(text.clone())),
        Batch::Script(path) => open_script(path).map(Input::Script),
    }
}

/// Opens a script, which may be a pipe.
fn open_script(path: &Path) -> Result<Script> {
    if is_stdin(path) {
        let lines = Box::new(BufReader::new(io::stdin()));
        return Ok(Script { lines, name: "standard input".to_owned() });
    }
    let name = shown(path);
    let file = File::open(path).map_err(|error| anyhow!("script {name}: {}", io_reason(&error)))?;
    Ok(Script { lines: Box::new(BufReader::new(file)), name })
}

/// Runs the configuration file, if there is one. What fails in it is reported and counts no further.
fn read_rc(session: &mut Session, sink: &mut dyn Sink) -> Status {
    let Some(path) = folders::rc() else { return Status::DONE };
    let name = shown(&path);
    match open_own(&path) {
        Ok(file) => {
            let status = script::run(session, &mut BufReader::new(file), &name, sink);
            if status.failed() {
                let _ = sink.note(&format!("a command of {name} failed (--no-rc leaves it out)"));
            }
            status
        }
        Err(OwnFileError::Read(error)) if is_absent(&error) => Status::DONE,
        Err(error) => {
            let why = match &error {
                OwnFileError::Read(error) => io_reason(error),
                other => other.to_string(),
            };
            let _ = sink.note(&format!("{name} was not run: {why}"));
            Status::DONE
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Runs commands, up to what stops all.
pub(crate) fn each(session: &mut Session, commands: &[String], sink: &mut dyn Sink) -> Status {
    let mut status = Status::DONE;
    for command in commands {
        status = status.then(session.eval(command, sink));
        if status.stops() {
            break;
        }
    }
    status
}

/// Runs what nobody types, up to what stops all.
fn batch(session: &mut Session, inputs: Vec<Input>, sink: &mut dyn Sink) -> Status {
    let mut status = Status::DONE;
    for input in inputs {
        status = status.then(match input {
            Input::Text(text) => session.eval(&text.to_string_lossy(), sink),
            Input::Script(mut script) => {
                script::run(session, script.lines.as_mut(), &script.name, sink)
            }
        });
        if status.stops() {
            break;
        }
    }
    status
}
