//! One run of the program: open, read the configuration, take commands, say how it ended.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow, bail};
use kcore::{Core, OpenOptions};
use kcore_dcmd::{DcmdError, Shell, Sink};
use kcore_render::{Format, Screen, io_reason};
use kcore_shell::repl::ReplOptions;
use kcore_shell::{Session, SessionOptions, Status, script};

use crate::args::{self, Args};
use crate::target::{self, Target, shown};
use crate::terminal::{self, Terminal};
use crate::{folders, interactive, live, output, progress};

/// Exit status when a command failed.
const FAILED: u8 = 1;

/// Where commands come from.
enum Commands {
    /// A user at a terminal.
    User,
    /// Texts, and then a script.
    Batch(Vec<OsString>, Option<Script>),
}

impl Commands {
    /// The terminal of a user. Nobody waits for keys of those who are not there.
    fn screen(&self, interrupt: &Arc<AtomicBool>) -> Option<Arc<dyn Screen>> {
        match self {
            Self::User => Some(Arc::new(Terminal::open(interrupt)?)),
            Self::Batch(..) => None,
        }
    }
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
    let live = args.live.target()?;
    let target = target::resolve(files, args.exe.take(), commands, live)?;
    let commands = commands_of(&target, args.script.as_deref())?;
    let core = open(&target, &args)?;
    let notes = notes(&target, &core);
    let format = output::format(args.json, args.color, core.target().word_size());
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut session = session(core, format, &interrupt);
    let settings = session.settings_mut();
    settings.macro_path.extend(folders::macros());
    settings.show_state = args.live.show_state;
    settings.show_stack_pointer = args.live.show_rsp;
    let screen = commands.screen(&interrupt);
    let mut sink = match output::sink(format, args.color, screen.clone(), &target.name()) {
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
            interactive::run(&mut session, sink, &interrupt, &options)
        }
        Commands::Batch(texts, script) => Ok(batch(&mut session, &texts, script, sink)),
    }
}

fn repl_options(target: &Target, args: &Args, screen: Option<Arc<dyn Screen>>) -> ReplOptions {
    ReplOptions {
        history: folders::history(),
        prefer_terminal: target.core_is_stdin(),
        styled: output::is_terminal_styled(args.color),
        screen,
    }
}

/// Refuses what the user named and is not there: without a word it would look as if it had been used.
fn check_named(target: &Target, args: &Args) -> Result<()> {
    if let Some(exe) = &target.exe {
        File::open(exe).map_err(|error| anyhow!("{}: {}", shown(exe), io_reason(&error)))?;
    }
    for dir in args.sysroot.iter().chain(&args.debug_dirs) {
        if !dir.is_dir() {
            bail!("{}: no such directory", shown(dir));
        }
    }
    Ok(())
}

fn open(target: &Target, args: &Args) -> Result<Core> {
    check_named(target, args)?;
    let options = OpenOptions {
        core: target.core.clone(),
        exe: target.exe.clone(),
        sysroot: args.sysroot.clone(),
        debug_dirs: args.debug_dirs.clone(),
        cache_dir: folders::cache(),
        ..OpenOptions::default()
    };
    match &target.live {
        Some(live) => Ok(Core::of_process(live.pid, &live.options, &options)?),
        None => Ok(progress::shown(|progress| Core::open_with_progress(&options, progress))?),
    }
}

/// What a user has to know of a snapshot.
fn notes(target: &Target, core: &Core) -> Vec<String> {
    let facts = target.live.as_ref().zip(core.live_facts());
    facts
        .map(|(live, facts)| live::notes(live.pid, &facts, core.threads().len()))
        .unwrap_or_default()
}

fn session(core: Core, format: Format, interrupt: &Arc<AtomicBool>) -> Session {
    Session::new(
        Arc::new(core),
        SessionOptions {
            dcmds: kcore_commands::DCMDS,
            walkers: kcore_commands::WALKERS,
            format,
            interrupt: Arc::clone(interrupt),
            terminal_width: terminal::columns,
        },
    )
}

/// Where commands come from. Opens the script, so that one that is missing is said at once.
fn commands_of(target: &Target, script: Option<&Path>) -> Result<Commands> {
    let texts = target.commands.clone();
    let core_is_stdin = target.core_is_stdin();
    match script {
        Some(path) if is_stdin(path) && core_is_stdin => {
            bail!("standard input cannot be both the core and the script")
        }
        Some(path) => Ok(Commands::Batch(texts, Some(open_script(path)?))),
        None if !texts.is_empty() => Ok(Commands::Batch(texts, None)),
        None if core_is_stdin && !io::stdout().is_terminal() => {
            bail!("standard input is the core: give commands with -c or -f")
        }
        None if core_is_stdin || io::stdin().is_terminal() => Ok(Commands::User),
        None => Ok(Commands::Batch(texts, Some(open_script(Path::new("-"))?))),
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

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
    match File::open(&path) {
        Ok(file) => {
            let name = shown(&path);
            let status = script::run(session, &mut BufReader::new(file), &name, sink);
            if status.failed() {
                let _ = sink.note(&format!("a command of {name} failed (--no-rc leaves it out)"));
            }
            status
        }
        Err(error) if is_absent(&error) => Status::DONE,
        Err(error) => {
            let _ = sink.note(&format!("{}: {}", shown(&path), io_reason(&error)));
            Status::DONE
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn batch(
    session: &mut Session,
    texts: &[OsString],
    script: Option<Script>,
    sink: &mut dyn Sink,
) -> Status {
    let mut status = Status::DONE;
    for text in texts {
        status = status.then(session.eval(&text.to_string_lossy(), sink));
        if status.stops() {
            return status;
        }
    }
    match script {
        Some(mut script) => {
            status.then(script::run(session, script.lines.as_mut(), &script.name, sink))
        }
        None => status,
    }
}
