//! Several cores in one run: their stacks compared, what moved between two, or a line for each.

mod alike;
mod compare;
mod diff;
mod frames;
mod growth;
mod stacks;
mod triage;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use kcore::Core;
use kcore_dcmd::{DcmdError, Sink};
use kcore_shell::Status;

use crate::args::{Args, Batch, Word};
use crate::output;
use crate::run::{open_core, unused_files};
use crate::target::{self, shown};

/// Bytes of a word of a target: text of several cores has no addresses, which alone would ask for it.
const WORD: usize = 8;

/// What is asked of several cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    /// Which stacks they have in common.
    Compare,
    /// What moved between two of them.
    Diff,
    /// What happened, a line each.
    Triage,
}

/// What the command line asks of several cores, if it does.
pub(crate) fn asked(args: &Args, files: &[PathBuf]) -> Option<Question> {
    match args.word? {
        Word::Stacks => target::has_several_cores(files).then_some(Question::Compare),
        Word::Diff => Some(Question::Diff),
        Word::Triage => Some(Question::Triage),
        Word::Why | Word::Missing | Word::Check => None,
    }
}

/// Answers it. A core that cannot be opened is told of, and does not keep the others from being looked at.
///
/// # Errors
/// When the command line does not fit, or nothing can be written.
pub(crate) fn run(
    question: Question,
    files: Vec<PathBuf>,
    commands: &[Batch],
    args: &Args,
) -> Result<Status> {
    check(question, &files, args)?;
    // `kcore stacks` stands among them as `::stacks`.
    if commands.len() > usize::from(question == Question::Compare) {
        bail!("commands are for one core");
    }
    args.budget.guard()?;
    let format = output::format(args.json, args.color, WORD);
    let mut sink = match output::sink(format, args.color, None, None) {
        Ok(sink) => sink,
        Err(DcmdError::Closed) => return Ok(Status::DONE),
        Err(error) => return Err(error.into()),
    };
    let cores = Cores { files, args };
    let answered = match question {
        Question::Compare => compare::show(&cores, sink.as_mut()),
        Question::Diff => diff::show(&cores, sink.as_mut()),
        Question::Triage => triage::show(&cores, sink.as_mut()),
    };
    let status = match answered {
        Err(DcmdError::Closed) => return Ok(Status::DONE),
        answered => answered?,
    };
    match sink.finish() {
        Ok(()) | Err(DcmdError::Closed) => Ok(status),
        Err(error) => Err(error.into()),
    }
}

fn check(question: Question, files: &[PathBuf], args: &Args) -> Result<()> {
    // Each opening confines the process further, and the next core may lie elsewhere.
    if args.untrusted && files.len() > 1 {
        bail!("--untrusted opens one core at a time");
    }
    if args.live.pid.is_some() {
        bail!("a process is no core");
    }
    if question == Question::Diff && files.len() != 2 {
        bail!("two cores are compared: kcore diff [OPTIONS] BEFORE AFTER");
    }
    if files.is_empty() {
        bail!("no core is named: kcore triage [OPTIONS] CORE...");
    }
    match files.iter().find(|file| file.as_os_str() == "-") {
        Some(_) => bail!("standard input cannot be one of several cores"),
        None => Ok(()),
    }
}

/// The cores to look at.
struct Cores<'a> {
    files: Vec<PathBuf>,
    args: &'a Args,
}

impl Cores<'_> {
    /// Opens one core after the other, so that only one is in memory, and calls `look` with its name and the core. A core
    /// that does not open goes into the sink as an error of `command`.
    fn each(
        &self,
        command: &str,
        sink: &mut dyn Sink,
        mut look: impl FnMut(&str, &Core),
    ) -> Result<Status, DcmdError> {
        let mut status = Status::DONE;
        for file in &self.files {
            match self.open(file) {
                Ok(core) => {
                    for note in unused_files(&core) {
                        sink.note(&format!("{}: {note}", shown(file)))?;
                    }
                    look(&shown(file), &core);
                }
                Err(error) => {
                    sink.error(command, &DcmdError::failed(format!("{error:#}")))?;
                    status = Status::FAILED;
                }
            }
        }
        Ok(status)
    }

    fn open(&self, file: &Path) -> Result<Core> {
        let exe = self.args.exe.clone();
        let target = target::resolve(vec![file.to_owned()], exe, Vec::new(), None)?;
        if target.core.is_none() {
            return Err(anyhow!("{}: an executable, not a core", shown(file)));
        }
        // What is doubtful about files stands in each core's own ::status.
        open_core(&target, self.args, self.args.budget.budget(), false, &mut Vec::new())
    }

    /// Whether frames are shown with their file and line.
    fn shows_source(&self) -> bool {
        io::stdout().is_terminal()
    }
}
