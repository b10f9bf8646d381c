//! What the notes of a core say, as a check of the truth where gdb cannot be asked: it knows no other
//! architecture, and no runtime.

use std::path::Path;

use crate::command::Line;
use crate::compare::misfit;
use crate::error::AtPath;
use crate::run::signal_name;
use crate::{Call, Case, Frame, Result, Seen, Thread, Truth};

/// Offset of `e_entry` in a 64-bit ELF header.
const E_ENTRY: usize = 24;

/// The notes of a core, as far as they are compared.
#[derive(Debug, Default, PartialEq, Eq)]
struct Notes {
    /// Threads in the order of the core: the one that died first.
    threads: Vec<Status>,
    /// `AT_ENTRY`.
    entry: u64,
}

/// One `NT_PRSTATUS`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Status {
    tid: u32,
    signal: i32,
    pc: u64,
}

/// Where the notes of a case's core, or the function at the pc of a thread, are not what the truth
/// says.
///
/// # Errors
/// elfutils cannot be run, or the truth cannot be read.
pub fn differences(case: &Case) -> Result<Vec<String>> {
    let truth = case.truth()?;
    let mut line = Line::new("eu-readelf");
    line.arg("-n").path(&case.core);
    let notes = parse(&line.run(&case.dir)?);
    let bias = notes.entry.wrapping_sub(entry(&case.exe)?);
    let mut found = note_differences(&truth, &notes);
    for thread in &truth.threads {
        match notes.threads.iter().find(|status| status.tid == thread.tid) {
            None => found.push(format!("no thread {} ({})", thread.tid, thread.role)),
            Some(status) => found.extend(innermost_difference(case, thread, status.pc, bias)?),
        }
    }
    Ok(found)
}

fn note_differences(truth: &Truth, notes: &Notes) -> Vec<String> {
    let mut found = Vec::new();
    let first = notes.threads.first();
    let tid = first.map(|status| status.tid);
    if truth.crashed_tid.is_some() && tid != truth.crashed_tid {
        found.push(format!("thread {tid:?} died, should be {:?}", truth.crashed_tid));
    }
    let signal = first.and_then(|status| signal_name(status.signal));
    if truth.facts.signal.is_some() && signal != truth.facts.signal.as_deref() {
        found.push(format!("signal {signal:?}, should be {:?}", truth.facts.signal));
    }
    let count = notes.threads.len();
    if truth.facts.thread_count.is_some_and(|should| should as usize != count) {
        found.push(format!("{count} threads, should be {:?}", truth.facts.thread_count));
    }
    found
}

/// Compares a thread's innermost frame, if it is one of the program's own.
fn innermost_difference(
    case: &Case,
    thread: &Thread,
    pc: u64,
    bias: u64,
) -> Result<Option<String>> {
    let Some(Frame::Call(call)) = thread.frames.first() else { return Ok(None) };
    if call.mark.is_some() {
        return Ok(None);
    }
    let seen = match is_known_place(call) {
        true => place_of(case, pc, pc.wrapping_sub(bias))?,
        false => Seen { pc: Some(pc), ..Seen::default() },
    };
    let tid = thread.tid;
    Ok(misfit(&unscoped(call), &seen)
        .map(|reason| format!("thread {tid} ({}): {reason}", thread.role)))
}

/// The call without the scope of its function, which eu-addr2line does not tell.
fn unscoped(call: &Call) -> Call {
    let function = call.function.as_deref().and_then(|name| name.rsplit("::").next());
    Call { function: function.map(str::to_owned), ..call.clone() }
}

/// Whether the frame is in a function of the executable.
fn is_known_place(call: &Call) -> bool {
    call.function.is_some() && call.module.is_none()
}

fn place_of(case: &Case, pc: u64, svma: u64) -> Result<Seen> {
    let mut line = Line::new("eu-addr2line");
    line.args(["-f", "-i", "-C", "-e"]).path(&case.exe).arg(format!("{svma:#x}"));
    Ok(Seen { pc: Some(pc), ..place(&line.run(&case.dir)?) })
}

/// A function and its place stand in two lines; the function that it is inlined in follows.
fn place(text: &str) -> Seen {
    let mut lines = text.lines();
    let function = lines.next().map(|name| name.split(" inlined at ").next().unwrap_or(name));
    let mut place = lines.next().unwrap_or_default().split(':');
    let file = place.next();
    Seen {
        function: function.map(str::to_owned),
        file: file.map(str::to_owned),
        line: place.next().and_then(|line| line.parse().ok()),
        inline: lines.next().is_some(),
        pc: None,
    }
}

fn parse(text: &str) -> Notes {
    let mut notes = Notes::default();
    let mut in_status = false;
    for line in text.lines() {
        if line.trim_start().starts_with("CORE") {
            in_status = line.ends_with("PRSTATUS");
            notes.threads.extend(in_status.then(Status::default));
        }
        if let Some(entry) = field(line, "ENTRY: ") {
            notes.entry = hexadecimal(entry);
        }
        if let Some(status) = notes.threads.last_mut().filter(|_| in_status) {
            status.read(line);
        }
    }
    notes
}

impl Status {
    fn read(&mut self, line: &str) {
        if let Some(signal) = field(line, "cursig: ") {
            self.signal = signal.parse().unwrap_or_default();
        }
        if let Some(tid) = field(line, " pid: ") {
            self.tid = tid.parse().unwrap_or_default();
        }
        if let Some(pc) = field(line, " pc: ") {
            self.pc = hexadecimal(pc);
        }
    }
}

/// The word behind `name`, which a comma may follow.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_once(name)?.1.split([',', ' ']).next()
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_default()
}

/// `e_entry` of an executable.
fn entry(exe: &Path) -> Result<u64> {
    let bytes = std::fs::read(exe).at(exe)?;
    let entry = bytes.get(E_ENTRY..).and_then(|rest| rest.first_chunk());
    Ok(entry.copied().map_or(0, u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTES: &str = "\
  CORE                 392  PRSTATUS
    info.si_signo: 11, info.si_code: 0, info.si_errno: 0, cursig: 11
    pid: 26966, ppid: 26912, pgrp: 25299, sid: 1244
    pc: 0x00000055000013ec, pstate: 0x0000000080000000, fpvalid: 0
  CORE                 136  PRPSINFO
    uid: 0, gid: 0, pid: 26943, ppid: 26912, pgrp: 25299, sid: 1244
  CORE                 304  AUXV
    ENTRY: 0x5500000bc0
  CORE                 392  PRSTATUS
    pid: 26943, ppid: 26912, pgrp: 25299, sid: 1244
    pc: 0x0000005502938a1c, pstate: 0x0000000080000000, fpvalid: 0
";

    #[test]
    fn notes_are_read() {
        let threads = vec![
            Status { tid: 26966, signal: 11, pc: 0x55_0000_13ec },
            Status { tid: 26943, signal: 0, pc: 0x55_0293_8a1c },
        ];
        assert_eq!(parse(NOTES), Notes { threads, entry: 0x55_0000_0bc0 });
    }

    #[test]
    fn places_are_read() {
        let plain = place("leaf\ngen-cores/scenarios/leaf/main.c:12:21\n");
        assert_eq!((plain.function.as_deref(), plain.line), (Some("leaf"), Some(12)));
        assert!(!plain.inline);
        let inlined = place("a inlined at main.c:7:2 in b\nmain.c:5\nb\nmain.c:7:2\n");
        assert_eq!((inlined.function.as_deref(), inlined.line), (Some("a"), Some(5)));
        assert!(inlined.inline);
    }
}
