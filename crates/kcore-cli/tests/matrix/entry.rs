//! What a line of input shows, cut to what people read.

use std::fmt::{self, Display, Formatter};

use kcore_dcmd::Sink;
use kcore_render::JsonSink;
use kcore_shell::Source;

use crate::state::Opened;
use crate::support;

/// Lines of text that an entry holds.
const LINES: usize = 12;

/// An input line and what it shows.
#[derive(PartialEq, Eq)]
pub struct Entry {
    input: String,
    text: Vec<String>,
    errors: Vec<String>,
    records: Vec<String>,
}

/// Runs a line in fresh sessions, once for people and once for programs.
pub fn of(opened: &Opened, input: &str) -> Entry {
    let mut session = support::session(opened.core.clone());
    let answer = support::answer(&mut session, Source::Text, input);
    let neutral = |line: &str| neutral(opened, line);
    Entry {
        input: input.to_owned(),
        text: cut(answer.out.lines().map(neutral).collect()),
        errors: cut(answer.errors.iter().map(|line| neutral(line)).collect()),
        records: first_of_each_type(json(opened, input).lines().map(neutral).collect()),
    }
}

fn json(opened: &Opened, input: &str) -> String {
    let mut out = Vec::new();
    {
        let mut sink = JsonSink::new(&mut out, std::io::sink(), false);
        support::session(opened.core.clone()).eval(input, &mut sink);
        sink.finish().unwrap();
    }
    String::from_utf8(out).unwrap()
}

/// A line without what differs from machine to machine and from version to version.
fn neutral(opened: &Opened, line: &str) -> String {
    let folder = opened.folder.to_str().unwrap();
    line.replace(folder, "FOLDER").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

fn cut(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > LINES + 1 {
        let rest = lines.split_off(LINES);
        lines.push(remainder(&rest, "lines"));
    }
    lines
}

fn first_of_each_type(records: Vec<String>) -> Vec<String> {
    let mut types = Vec::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for record in records {
        let kind = record.split(',').next().unwrap_or_default().to_owned();
        if types.contains(&kind) {
            rest.push(record);
        } else {
            types.push(kind);
            first.push(record);
        }
    }
    if !rest.is_empty() {
        first.push(remainder(&rest, "records"));
    }
    first
}

fn remainder(rest: &[String], what: &str) -> String {
    format!("… {} more {what}, checksum {:016x}", rest.len(), checksum(&rest.join("\n")))
}

/// FNV-1a, which is the same everywhere.
fn checksum(text: &str) -> u64 {
    let step = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

impl Display for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "> {}", self.input)?;
        for line in &self.text {
            let end = if line.is_empty() || line.ends_with(' ') { "¶" } else { "" };
            writeln!(f, "{line}{end}")?;
        }
        self.errors.iter().try_for_each(|line| writeln!(f, "! {line}"))?;
        self.records.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        writeln!(f)
    }
}
