//! Local variables as `inspect` has them, objects by class as ObjectSpace counts them, and what refers to them.

use std::collections::BTreeMap;

use kcore::{Tid, VariableLimits, ruby::Ruby};
use kcore_dcmd::{Cell, Dialect, Fields, Record, ScriptCell, ScriptNode, ScriptStyle, Sink, View};
use kcore_render::{Numbers, TextOptions, TextSink};

use crate::{Opened, cases, harness};

const LIMITS: VariableLimits =
    VariableLimits { locals: true, depth: 5, entries: 64, characters: 1024 };

const TEXT: TextOptions =
    TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } };

/// A value alone.
struct Alone(ScriptNode);

impl Record for Alone {
    fn kind(&self) -> &'static str {
        "value"
    }

    fn view(&self) -> View {
        View::Line("{value}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let style = ScriptStyle { dialect: Dialect::Ruby, addresses: false, indent: 0 };
        let cell = ScriptCell { node: std::borrow::Cow::Borrowed(&self.0), style };
        out.put("value", Cell::Script(Box::new(cell)));
    }
}

fn spelled(node: ScriptNode) -> String {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let mut sink = TextSink::new(&mut out, &mut errors, TEXT);
    sink.put(&Alone(node)).expect("a vector takes everything");
    sink.finish().expect("a vector takes everything");
    drop(sink);
    String::from_utf8(out).expect("text").trim_end().to_owned()
}

#[test]
fn variables_are_spelled_as_the_program_spelled_them() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told("locals.jsonl").remove(0);
        let function = told["function"].as_str().expect("a function");
        let runtimes = core.core.runtimes();
        let ruby = runtimes.of::<Ruby>().next().expect("Ruby");
        let tid = Tid::new(core.truth.crashed_tid.expect("a thread"));
        let chain = ruby.chain_of(&*core.core, tid).expect("frames");
        let is_it = |frame: &&kcore::ruby::RubyFrame| frame.function.as_deref() == Some(function);
        let frame = chain.frames().find(is_it).expect("its frame");
        let locals = ruby.locals(&*core.core, frame.at).expect("variables");
        let shown: BTreeMap<String, String> = locals
            .into_iter()
            .map(|local| {
                (
                    local.name.to_string(),
                    spelled(ruby.script_value(&*core.core, local.value, LIMITS)),
                )
            })
            .collect();
        let told = told["locals"].as_object().expect("variables");
        assert!(told.len() >= 24, "{}: {told:?}", core.name);
        for (name, value) in told {
            assert_eq!(shown.get(name).map(String::as_str), value.as_str(), "{} {name}", core.name);
        }
        assert!(shown["self"].starts_with("#<Shop::Helper"), "{}: {shown:?}", core.name);
        let text = harness::run_on(&core.core, &format!("0t{}::stack -v", tid.get())).out;
        assert!(
            text.contains("big = 147808829414345923316083210206383297601"),
            "{}: {text}",
            core.name
        );
    }
}

#[test]
fn classes_have_as_many_objects_as_the_program_counted() {
    for core in cases().iter().map(Opened::of) {
        let records = core.records("::classes -a");
        let count = |class: &str| -> u64 {
            let of = records.iter().filter(|record| record["class"] == class);
            of.filter_map(|record| record["count"].as_u64()).sum()
        };
        let told = core.told("counts.jsonl");
        assert_eq!(told.len(), 5, "{}", core.name);
        for line in told {
            let class = line["class"].as_str().expect("a class");
            // What the program made after it counted.
            let later =
                if ["Shop::Helper", "Shop::Account"].contains(&class) { 1..=8 } else { 0..=0 };
            let (shown, told) = (count(class), line["count"].as_u64().expect("a count"));
            assert!(
                later.contains(&shown.wrapping_sub(told)),
                "{} {class}: {shown} {told}",
                core.name
            );
        }
    }
}

#[test]
fn objects_are_told_by_their_class_and_variables() {
    for core in cases().iter().map(Opened::of) {
        let records = core.records("::classes");
        let record =
            records.iter().find(|record| record["class"] == "Shop::Item").expect("the class");
        let at = harness::hex(&record["example"]);
        let what = harness::run_on(&core.core, &format!("{at:x}::whatis")).out;
        assert!(what.contains("Shop::Item of 40 bytes"), "{}: {what}", core.name);
        let refs = core.records(&format!("{at:x}::refs"));
        assert!(
            refs.iter().any(|edge| edge.to_string().contains("Array")),
            "{}: {refs:?}",
            core.name
        );
        let runtimes = core.core.runtimes();
        let ruby = runtimes.of::<Ruby>().next().expect("Ruby");
        let text = spelled(ruby.script_value(&*core.core, at, LIMITS));
        let number =
            text.split("@number=").nth(1).and_then(|rest| rest.split(',').next()).expect("it");
        let told = format!(
            "#<Shop::Item @number={number}, @name=\"item {number}\", @tags=[:new, {number}]>"
        );
        assert_eq!(text, told, "{}", core.name);
        let printed = harness::run_on(&core.core, &format!("{at:x}::print"));
        assert_eq!(printed.out.trim_end(), told, "{}", core.name);
        let inside = harness::run_on(&core.core, &format!("{:x}::print", at + 8));
        assert!(inside.errors.contains("no symbol"), "{}: {}", core.name, inside.out);
    }
}

#[test]
fn keys_that_are_symbols_and_classes_without_names_are_told() {
    for core in cases().iter().map(Opened::of) {
        let runtimes = core.core.runtimes();
        let ruby = runtimes.of::<Ruby>().next().expect("Ruby");
        let tid = Tid::new(core.truth.crashed_tid.expect("a thread"));
        let chain = ruby.chain_of(&*core.core, tid).expect("frames");
        let told = core.told("locals.jsonl").remove(0);
        let function = told["function"].as_str().expect("a function");
        let is_it = |frame: &&kcore::ruby::RubyFrame| frame.function.as_deref() == Some(function);
        let frame = chain.frames().find(is_it).expect("its frame");
        let locals = ruby.locals(&*core.core, frame.at).expect("variables");
        let value = |name: &str| {
            let local = locals.iter().find(|local| &*local.name == name).expect("a variable");
            ruby.script_value(&*core.core, local.value, LIMITS)
        };
        let bare = value("bare").at.expect("an address");
        let what = harness::run_on(&core.core, &format!("{:x}::whatis", bare.get())).out;
        assert!(what.contains("#<Class> of"), "{}: {what}", core.name);
        let table = value("table").parts.expect("entries");
        let list = table.parts.iter().find(|part| part.value.kind == "array").expect("a list");
        let list = list.value.at.expect("an address");
        let refs = harness::run_on(&core.core, &format!("{:x}::refs", list.get())).out;
        assert!(refs.contains("[:b]") && !refs.contains("[\"b\"]"), "{}: {refs}", core.name);
    }
}
