//! Arguments and locals of optimised code. What kcore shows must be what the program told; what it does
//! not show, gdb must not show either.

use std::collections::HashMap;
use std::mem::discriminant;

use gen_cores::Case;
use rayon::prelude::*;
use serde_json::Value as Json;

use crate::ask::{Asked, plain};
use crate::check::{Difference, cases};
use crate::told::{Question, Told, Which};
use crate::tree::{children, member};
use crate::{compare, differs, gdb_locals, told};

/// The scenarios whose programs tell the variables of all frames.
const SCENARIOS: [&str; 3] = ["locals", "locals-cpp", "locals-rust"];

/// What must be shown at the least, over all cases.
const FEWEST: usize = 300;

/// What one way to ask for a variable answers.
#[derive(Debug, PartialEq)]
enum Answer {
    /// What the program told.
    Right,
    /// Something else.
    Wrong(String),
    /// That there is no value, and why.
    Hidden(String),
}

/// The frames of a core by thread, function, and how many frames of that are further in.
type Frames = HashMap<(u64, String, u64), Json>;

/// Asks one core for all variables that its program told.
struct Check {
    asked: Asked,
    frames: Frames,
}

impl Check {
    fn open(case: &Case) -> Self {
        let mut asked = Asked::open(case);
        let mut frames = Frames::new();
        let mut counts: HashMap<(u64, String), u64> = HashMap::new();
        for (tid, frame) in asked.frames() {
            let Some(function) = frame["function"].as_str().map(plain) else { continue };
            let inner = counts.entry((tid, function.to_owned())).or_default();
            frames.insert((tid, function.to_owned(), *inner), frame.clone());
            *inner += 1;
        }
        Self { asked, frames }
    }

    /// The answer of all ways that have one.
    fn one(&mut self, told: &Told) -> Answer {
        let Question::Local { function, path, which } = &told.question else {
            panic!("{} is no local", told.name())
        };
        let wrong = |what: &str| Answer::Wrong(what.to_owned());
        let Which { tid: Some(tid), inner } = *which else { return wrong("without a thread") };
        let key = (tid, plain(function).to_owned(), inner);
        let Some(frame) = self.frames.get(&key).cloned() else { return wrong("no such frame") };
        let index = frame["index"].as_u64().unwrap();
        let root = path.split(['.', '[', '-']).next().unwrap_or(path);
        let again = self.asked.records(&format!("::thread {tid}; ::frame {index} -v"));
        let again = again.unwrap().pop().unwrap();
        if (&again["args"], &again["locals"]) != (&frame["args"], &frame["locals"]) {
            return wrong("::frame -v and ::stack -v differ");
        }
        let Some(variable) = variable(&frame, root) else { return wrong("no such variable") };
        let in_stack = in_tree(told, variable, path);
        let named = self.asked.records(&format!("::locals {root}")).unwrap_or_default();
        let in_locals = of_function(&named, function, root).map(|it| in_tree(told, it, path));
        let printed = self.printed(told, path);
        let ways = [in_stack, in_locals.flatten(), Some(printed)];
        let mut answers = ways.into_iter().flatten();
        let first = answers.next().unwrap();
        match answers.find(|answer| discriminant(answer) != discriminant(&first)) {
            Some(Answer::Wrong(what)) => Answer::Wrong(what),
            Some(other) => Answer::Wrong(format!("one way {first:?}, another {other:?}")),
            None => first,
        }
    }

    fn printed(&mut self, told: &Told, path: &str) -> Answer {
        match self.asked.print(path) {
            Ok(value) => of_value(told, &value),
            Err(message) => Answer::Hidden(message),
        }
    }
}

/// The variable that a name means: the first local of that name, else an argument.
fn variable<'f>(frame: &'f Json, name: &str) -> Option<&'f Json> {
    let all = ["locals", "args"].iter().filter_map(|key| frame[*key].as_array()).flatten();
    all.into_iter().find(|variable| variable["name"] == name)
}

/// The same among the records of `::locals`, where those of several functions may stand.
fn of_function<'r>(records: &'r [Json], function: &str, name: &str) -> Option<&'r Json> {
    let own = |record: &&Json| {
        record["name"] == name && record["function"].as_str().map(plain) == Some(plain(function))
    };
    let local = records.iter().filter(own).find(|record| record["kind"] == "local");
    local.or_else(|| records.iter().find(own))
}

/// What a variable answers to a path that begins with it; `None` where its tree does not go so far.
fn in_tree(told: &Told, variable: &Json, path: &str) -> Option<Answer> {
    if let Some(absent) = variable["absent"].as_str() {
        return Some(Answer::Hidden(absent.to_owned()));
    }
    part(&variable["value"], path).map(|value| of_value(told, value))
}

fn of_value(told: &Told, value: &Json) -> Answer {
    if let Some(absent) = value["absent"].as_str() {
        return Answer::Hidden(absent.to_owned());
    }
    match compare::tree(&told.truth, value) {
        Ok(()) => Answer::Right,
        Err(_) if lacks_a_part(value) => Answer::Hidden("optimized_out".to_owned()),
        Err(what) => Answer::Wrong(what),
    }
}

/// Whether a part of a value was not kept.
fn lacks_a_part(value: &Json) -> bool {
    value["absent"] == "optimized_out" || children(value).iter().any(lacks_a_part)
}

/// What a path leads to in the tree of its first word; something absent on the way stands for its parts.
fn part<'t>(root: &'t Json, path: &str) -> Option<&'t Json> {
    let spelled = path.replace("->", ".*.").replace('[', ".[");
    let mut at = root;
    for step in spelled.split('.').skip(1) {
        if at["absent"].is_string() {
            return Some(at);
        }
        at = match step.strip_prefix('[') {
            Some(index) => children(at).get(index.trim_end_matches(']').parse::<usize>().ok()?)?,
            None if step == "*" => children(at).first()?,
            None => member(at, step)?,
        };
    }
    Some(at)
}

/// What was found of one case.
#[derive(Default)]
struct Found {
    told: usize,
    shown: usize,
    /// Of those with gdb's opinion: how many kcore shows, and how many gdb does.
    with_gdb: (usize, usize),
    differences: Vec<Difference>,
}

fn check(case: &Case) -> Found {
    let told = told::of(case);
    let gdb = gdb_locals::opinion(case);
    let mut check = Check::open(case);
    let mut found = Found { told: told.len(), ..Found::default() };
    for (number, told) in told.iter().enumerate() {
        let answer = check.one(told);
        let is_shown = answer == Answer::Right;
        let by_gdb = gdb.as_ref().map(|gdb| gdb.get(&number).is_some_and(String::is_empty));
        found.shown += usize::from(is_shown);
        if let Some(by_gdb) = by_gdb {
            found.with_gdb.0 += usize::from(is_shown);
            found.with_gdb.1 += usize::from(by_gdb);
        }
        let what = match answer {
            Answer::Wrong(what) => what,
            Answer::Hidden(why) if by_gdb == Some(true) => format!("gdb shows it, is {why}"),
            Answer::Hidden(why) if why != "optimized_out" => format!("is {why}"),
            _ => continue,
        };
        found.differences.push(Difference { case: case.clone(), name: told.name(), what });
    }
    found
}

#[test]
fn every_variable_is_what_its_program_told_or_gone() {
    let found: Vec<Found> = cases(&SCENARIOS).par_iter().map(check).collect();
    let sum = |count: fn(&Found) -> usize| found.iter().map(count).sum::<usize>();
    let shown = sum(|found| found.shown);
    println!(
        "{} variables told, {shown} shown; of those that gdb was asked for {} shown, {} by gdb",
        sum(|found| found.told),
        sum(|found| found.with_gdb.0),
        sum(|found| found.with_gdb.1),
    );
    assert!(shown >= FEWEST, "{shown} variables");
    let new = found.into_iter().flat_map(|found| found.differences);
    let new = new.filter(|difference| !differs::is_known(difference));
    let mut lines: Vec<String> = new
        .map(|new| format!("{}: {}: {}", new.case.name(), new.name, new.what))
        .chain(differs::stale(&SCENARIOS))
        .collect();
    lines.sort();
    assert!(lines.is_empty(), "{} of {shown} differ:\n{}", lines.len(), lines.join("\n"));
}
