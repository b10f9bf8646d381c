//! Arguments and locals of methods, interpreted, compiled and inlined, held against what the program knows of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use serde_json::Value;

use crate::{Opened, cases};

/// Words in the place of a value that a compiler did not keep.
const DEAD: &str = "optimized out";
/// Those in the place of a zero that may stand for what a compiler did not keep.
const LOST: &str = "not known: ";
/// The fact of an object that is nowhere as a whole.
const REPLACED: &str = "scalar-replaced";

/// What a program says of its variables, by method and name.
type Values = BTreeMap<(String, String), String>;

/// A variable that kcore shows.
#[derive(Debug)]
struct Variable {
    function: String,
    tier: String,
    is_inline: bool,
    name: String,
    value: Value,
}

fn told(text: &str) -> Values {
    let entry = |line: &str| {
        let (method, rest) = line.split_once(' ').expect("a method");
        let (name, value) = rest.split_once('=').expect("a value");
        ((format!("Locals.{method}"), name.to_owned()), value.to_owned())
    };
    text.lines().map(entry).collect()
}

/// The variables of all frames of the program's own methods.
fn variables(core: &Opened) -> Vec<Variable> {
    let stacks = core.records("::walk javathread | ::stack -v");
    let frames = stacks.iter().filter_map(|stack| stack["frames"].as_array()).flatten();
    let java = frames.filter(|frame| frame["kind"] == "java");
    java.flat_map(|frame| {
        let text = |key: &str| frame[key].as_str().unwrap_or_default().to_owned();
        let of = |key: &str| frame[key].as_array().cloned().unwrap_or_default();
        let all = of("args").into_iter().chain(of("locals"));
        all.map(move |variable| Variable {
            function: text("function"),
            tier: text("tier"),
            is_inline: frame["inline"] == true,
            name: variable["name"].as_str().unwrap_or_default().to_owned(),
            value: variable["value"].clone(),
        })
        .collect::<Vec<_>>()
    })
    .collect()
}

/// A value as the program tells it.
fn text(node: &Value) -> String {
    let children = || {
        let all = node["children"].as_array().expect("children").iter();
        let told = all.filter(|child| child["role"] != "fact").map(text);
        told.collect::<Vec<_>>().join(",")
    };
    match (node["kind"].as_str().expect("a kind"), &node["value"]) {
        ("null", _) => "null".to_owned(),
        ("unreadable", _) => node["note"].as_str().unwrap_or_default().to_owned(),
        ("object", _) if node["class"] == "java.lang.String" => characters(node),
        ("array", _) => format!("[{}]", children()),
        ("object", _) => format!("{{{}}}", children()),
        (_, Value::String(text)) => text.clone(),
        (_, value) => value.to_string(),
    }
}

/// The text of a string whose fields are told one by one.
fn characters(node: &Value) -> String {
    let value = node["children"].as_array().expect("fields").iter();
    let bytes = value.filter(|field| field["name"] == "value");
    let bytes = bytes.flat_map(|field| field["children"].as_array().into_iter().flatten());
    bytes.filter_map(|byte| text(byte).parse::<u8>().ok()).map(char::from).collect()
}

fn is_replaced(node: &Value) -> bool {
    let mut children = node["children"].as_array().into_iter().flatten();
    children.any(|child| child["role"] == "fact" && child["name"] == REPLACED)
}

/// The cases, with what their programs said.
fn opened() -> Vec<(Opened, Values)> {
    let cases = cases("java-locals").into_iter();
    cases
        .map(|case| {
            let text = fs::read_to_string(case.dir.join("values.txt")).expect("values told");
            (Opened::untold(&case), told(&text))
        })
        .collect()
}

#[test]
fn variables_say_what_the_program_put_there() {
    for (core, told) in opened() {
        let shown = variables(&core);
        let mut right = BTreeSet::new();
        for variable in &shown {
            let key = (variable.function.clone(), variable.name.clone());
            let Some(wanted) = told.get(&key) else { continue };
            let own = text(&variable.value);
            let is_dead = match &*variable.tier {
                "interpreted" => own.starts_with(LOST) && !core.has("xint"),
                _ => own == DEAD,
            };
            assert!(is_dead || own == *wanted, "{}: {own} of {variable:?}", core.name);
            if !is_dead {
                right.insert(key);
            }
        }
        // A compiler drops what is not needed behind the place where the thread stands, and what it can work out again.
        let all = told.keys().collect::<BTreeSet<_>>();
        let few = if core.has("xint") { all.len() } else { 28 };
        let missing: Vec<_> = all.into_iter().filter(|key| !right.contains(*key)).collect();
        assert!(right.len() >= few, "{}: no {missing:?}", core.name);
    }
}

#[test]
fn compiled_and_inlined_frames_have_variables() {
    for (core, told) in opened().into_iter().filter(|(core, _)| !core.has("xint")) {
        let shown = variables(&core);
        let is_told = |variable: &&Variable| {
            let key = (variable.function.clone(), variable.name.clone());
            told.contains_key(&key) && text(&variable.value) != DEAD
        };
        let count = |wanted: &dyn Fn(&Variable) -> bool| {
            shown.iter().filter(is_told).filter(|variable| wanted(variable)).count()
        };
        let is_compiled =
            |variable: &Variable| matches!(&*variable.tier, "C1" | "C2" | "deoptimized");
        assert!(count(&is_compiled) > 20, "{}: {shown:?}", core.name);
        assert!(count(&|variable| variable.is_inline) > 3, "{}: {shown:?}", core.name);
        let is_apart = |variable: &Variable| is_replaced(&variable.value);
        let by_second = shown
            .iter()
            .any(|it| matches!(&*it.tier, "C2" | "deoptimized") && it.function == "Locals.apart");
        if by_second && !core.has("xcomp") {
            assert!(count(&is_apart) > 0, "{}: scalar-replaced objects", core.name);
        }
    }
}
