//! `kcore triage CORE...`: what happened in each core, a line each, those that are alike together.

use std::cmp::Reverse;
use std::collections::HashMap;

use kcore::{Core, LastWords, Status as CoreStatus, Tid};
use kcore_dcmd::{Cell, DcmdError, Fields, Record, Sink, View};
use kcore_shell::Status;

use super::Cores;

/// Functions of the program's own code that tell one crash from another.
const SIGNATURE: usize = 3;
/// Letters that the columns have at least.
const LEAST_WIDTHS: [usize; 3] = [8, 12, 0];
/// Frames that are looked through for them.
const FRAMES: usize = 1024;

/// What happened in one core.
struct Triaged {
    core: String,
    pid: Option<u32>,
    program: Option<String>,
    /// The signal and what the program left behind about it, in short.
    what: String,
    explanation: Option<String>,
    /// Functions of the program's own code, innermost first.
    signature: Vec<String>,
    /// Of the innermost one.
    place: Option<(String, Option<u32>)>,
    /// How many cores have the same program, end and signature, this one among them. One without a signature is
    /// like no other.
    alike: usize,
    /// Letters of the longest end, program and name of a core, so that what follows them stands in columns.
    widths: [usize; 3],
}

impl Triaged {
    fn new(file: &str, core: &Core) -> Self {
        let status = core.status();
        let site = core.crash().site();
        let (tid, from) = match &site {
            Some(site) => (Some(site.tid), site.frame.index),
            None => (core.tids().first().copied(), 0),
        };
        let location = site.map(|site| site.frame.location);
        let place = location
            .and_then(|location| Some((location.file.as_deref()?.to_owned(), location.line)));
        Self {
            core: file.to_owned(),
            pid: status.pid,
            what: what(&status),
            signature: tid.map(|tid| signature(core, tid, from)).unwrap_or_default(),
            place,
            alike: 1,
            widths: [0; 3],
            program: status.program,
            explanation: status.explanation,
        }
    }

    /// What stands in columns.
    fn columns(&self) -> [&str; 3] {
        [&self.what, self.name().unwrap_or("-"), &self.core]
    }

    /// The name of the program without its folder.
    fn name(&self) -> Option<&str> {
        self.program.as_deref()?.rsplit('/').next()
    }

    /// The program, its end and the signature. Cores for which these are equal are alike.
    fn likeness(&self) -> (Option<String>, String, Vec<String>) {
        (self.name().map(str::to_owned), self.what.clone(), self.signature.clone())
    }

    /// `work at work.c:12, from serve, main`.
    fn shown_where(&self) -> String {
        let Some((first, callers)) = self.signature.split_first() else {
            return "no function of the program is known".to_owned();
        };
        let place = self.place.as_ref().map(|(file, line)| match line {
            Some(line) => format!(" at {file}:{line}"),
            None => format!(" at {file}"),
        });
        let from = if callers.is_empty() { "" } else { ", from " };
        format!("{first}{}{from}{}", place.unwrap_or_default(), callers.join(", "))
    }
}

/// The signal, and the exception or panic that led to it.
fn what(status: &CoreStatus) -> String {
    let signal = status.signal.as_ref().map_or("no signal", |signal| signal.name.as_str());
    let words = status.last_words.first().map(|words| match words {
        LastWords::AbortMessage(_) => "abort message",
        LastWords::Exception { type_name, .. } => type_name.as_str(),
        LastWords::Fatal { .. } | LastWords::Library { .. } => "fatal error",
        LastWords::ErrorFile { .. } => "error file",
        LastWords::Panic(_) => "panic",
    });
    words.map_or_else(|| signal.to_owned(), |words| format!("{signal}, {words}"))
}

/// The innermost functions of the program's own code on a stack. A function that calls itself counts once.
fn signature(core: &Core, tid: Tid, from: usize) -> Vec<String> {
    let stack = core.stacks().of_thread(tid, FRAMES);
    let mut names: Vec<String> = Vec::new();
    for frame in core.stacks().own_frames(&stack).filter(|frame| frame.index >= from) {
        let Some(function) = frame.location.function.as_deref() else { continue };
        if names.last().is_some_and(|last| last == function) {
            continue;
        }
        names.push(function.to_owned());
        if names.len() == SIGNATURE {
            break;
        }
    }
    names
}

impl Record for Triaged {
    fn kind(&self) -> &'static str {
        "triage"
    }

    fn view(&self) -> View {
        View::Line("{alike:>4}x {shown_what} {name} {shown_core} {shown_where}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let place = self.place.as_ref();
        let ([what, name, core], [of_what, of_name, of_core]) = (self.columns(), self.widths);
        let padded = |text: &str, width: usize| Cell::text(format!("{text:width$}"));
        let names = self.signature.iter().map(|name| Cell::text(name.as_str()));
        out.text("core", self.core.as_str())
            .num("pid", self.pid.map(u64::from))
            .opt_text("program", self.program.as_deref())
            .text("what", self.what.as_str())
            .opt_text("explanation", self.explanation.as_deref())
            .put("signature", Cell::List(names.collect()))
            .opt_text("file", place.map(|(file, _)| file.as_str()))
            .num("line", place.and_then(|(_, line)| line.map(u64::from)))
            .num("alike", self.alike as u64)
            .display("shown_what", padded(what, of_what))
            .display("name", padded(name, of_name))
            .display("shown_core", padded(core, of_core))
            .display("shown_where", Cell::text(self.shown_where()));
    }
}

/// Shows a line for each core: those together that are alike, the most common ones first.
pub(super) fn show(cores: &Cores<'_>, sink: &mut dyn Sink) -> Result<Status, DcmdError> {
    let mut all = Vec::new();
    let status = cores.each("triage", sink, |file, core| all.push(Triaged::new(file, core)))?;
    count_alike(&mut all);
    align(&mut all);
    all.sort_by_cached_key(|core| (Reverse(core.alike), core.likeness(), core.core.clone()));
    all.iter().try_for_each(|core| sink.put(core))?;
    Ok(status)
}

fn count_alike(all: &mut [Triaged]) {
    let mut counts: HashMap<_, usize> = HashMap::new();
    for core in all.iter().filter(|core| !core.signature.is_empty()) {
        let count = counts.entry(core.likeness()).or_default();
        *count = count.saturating_add(1);
    }
    for core in all {
        core.alike = counts.get(&core.likeness()).copied().unwrap_or(1);
    }
}

fn align(all: &mut [Triaged]) {
    let mut widths = LEAST_WIDTHS;
    for core in all.iter() {
        for (width, text) in widths.iter_mut().zip(core.columns()) {
            *width = text.chars().count().max(*width);
        }
    }
    all.iter_mut().for_each(|core| core.widths = widths);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triaged(core: &str, signature: &[&str]) -> Triaged {
        Triaged {
            core: core.to_owned(),
            pid: None,
            program: Some("/bin/p".to_owned()),
            what: "SIGSEGV".to_owned(),
            explanation: None,
            signature: signature.iter().map(|name| (*name).to_owned()).collect(),
            place: None,
            alike: 1,
            widths: [0; 3],
        }
    }

    #[test]
    fn cores_of_which_no_function_is_known_are_alike_with_none() {
        let mut all =
            [triaged("a", &["f"]), triaged("b", &[]), triaged("c", &[]), triaged("d", &["f"])];
        count_alike(&mut all);
        assert_eq!(all.map(|core| core.alike), [2, 1, 1, 2]);
    }
}
