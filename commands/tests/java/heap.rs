//! Objects of the heap, held against what the program itself said of them right before.

use std::{collections::BTreeMap, fs};

use gen_cores::Case;
use serde_json::Value;

use crate::{Opened, cases};

/// The program's one object of every kind of field.
const SHOWN: &str = "::findjavaobjects Heap$Shown";
/// How classes begin whose objects may hold something.
const OPTIONAL: &str = "java.util.Optional";
/// How deep the longest chain of the program is.
const CHAIN: u64 = 5000;

/// The cases, each with what the program told in a file: names and what stands behind a tab.
fn told(file: &str) -> Vec<(Opened, BTreeMap<String, String>)> {
    let told = |case: &Case| {
        let text = fs::read_to_string(case.dir.join(file)).expect("it told");
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        (Opened::untold(case), lines.map(|(name, it)| (name.to_owned(), it.to_owned())).collect())
    };
    cases("java-heap").iter().map(told).collect()
}

/// Whether all references lead to their objects. ZGC with generations updates those to what it moved when it meets them next,
/// and the core may have been written before: kcore cannot follow them, and says so.
pub fn is_settled(core: &Opened) -> bool {
    const NOTE: &str = "references that ZGC has not updated yet";
    let records = core.records("::javaheap -l");
    let is_note = |record: &Value| record["text"].as_str().is_some_and(|text| text.contains(NOTE));
    let is_settled = !records.iter().any(is_note);
    if !is_settled {
        gen_cores::not_tested(format!(
            "{}: kcore cannot follow references that ZGC has not updated",
            core.name
        ));
    }
    is_settled
}

/// Whether a value is one that ZGC moved: kcore cannot follow the reference, and says so.
fn was_moved(core: &Opened, node: &Value) -> bool {
    let was_moved =
        node["note"].as_str().is_some_and(|note| note.contains("ZGC may have moved it"));
    if was_moved {
        gen_cores::not_tested(format!("{}: ZGC moved {}", core.name, node["name"]));
    }
    was_moved
}

/// A value as Java's `String.valueOf` has it.
fn text(node: &Value) -> String {
    let children = || node["children"].as_array().expect("children").iter();
    let list = || children().map(text).collect::<Vec<_>>().join(", ");
    match (node["kind"].as_str().expect("a kind"), &node["value"]) {
        ("null", _) => "null".to_owned(),
        _ if node["class"].as_str().is_some_and(|class| class.starts_with(OPTIONAL)) => {
            let class = node["class"].as_str().unwrap_or_default().trim_start_matches("java.util.");
            match (node["value"].as_str(), node["children"].get(0)) {
                (None | Some("empty"), None) => format!("{class}.empty"),
                (value, _) => format!("{class}[{}]", value.map_or_else(list, ToOwned::to_owned)),
            }
        }
        ("list" | "array" | "set", _) => format!("[{}]", list()),
        ("map", _) => {
            let entry = |entry: &Value| format!("{}={}", text(&entry["key"]), text(entry));
            format!("{{{}}}", children().map(entry).collect::<Vec<_>>().join(", "))
        }
        (_, Value::String(text)) => text.clone(),
        (kind, Value::Null) => panic!("{kind}: {node}"),
        (_, value) => value.to_string(),
    }
}

/// The parts of a text in order: sets of constants have an order of their own in each process.
fn parts(text: &str) -> Vec<&str> {
    let inner = text.trim_matches(['[', ']', '{', '}']);
    let mut parts: Vec<&str> = inner.split(", ").collect();
    parts.sort_unstable();
    parts
}

#[test]
fn objects_say_what_java_says_of_them() {
    for (core, told) in told("values.txt") {
        assert!(told.len() > 50, "{}", core.name);
        let record =
            core.records(&format!("{SHOWN} | ::javaprint -d 3 -l 300")).pop().expect("a value");
        let shown = record["values"][0]["value"]["children"].as_array().expect("fields").clone();
        for (name, said) in told {
            // A field that hides one of the class above stands first.
            let field = shown.iter().find(|field| field["name"] == name.as_str());
            let field = field.unwrap_or_else(|| panic!("{}: no {name}", core.name));
            if was_moved(&core, field) {
                continue;
            }
            let own = text(field);
            assert!(own == said || parts(&own) == parts(&said), "{} {name}: {own}", core.name);
        }
    }
}

#[test]
fn members_are_found_by_paths() {
    let expected = [
        ("ints[1]", "-2"),
        ("map[\"key7\"]", "7"),
        ("list[2]", "c"),
        ("hidden", "2"),
        ("inherited", "from the base"),
        ("byColor", "{RED=red, BLUE=blue}"),
        ("concurrent[\"key19\"]", "19"),
    ];
    for core in cases("java-heap").iter().map(Opened::untold) {
        for (path, value) in expected {
            let line = format!("{SHOWN} | ::javaprint '{path}'");
            let record = core.records(&line).pop().expect("a value");
            let node = &record["values"][0]["value"];
            if !was_moved(&core, node) {
                assert_eq!(text(node), value, "{} {path}", core.name);
            }
        }
    }
}

/// The rows of `::javaheap -l`, by class.
fn histogram(core: &Opened) -> BTreeMap<String, Value> {
    let records = core.records("::javaheap -l").into_iter();
    let rows = records.filter(|record| record["type"] == "java_class" && record["total"] == false);
    rows.map(|row| (row["class"].as_str().expect("a class").to_owned(), row)).collect()
}

#[test]
fn objects_are_counted_by_class_dead_and_alive() {
    for (core, told) in told("histogram.txt").into_iter().filter(|(core, _)| is_settled(core)) {
        let rows = histogram(&core);
        for (class, count) in told {
            let count: u64 = count.parse().expect("a number");
            let row = rows.get(&class).unwrap_or_else(|| panic!("{}: no {class}", core.name));
            assert_eq!(
                (row["count"].as_u64(), row["live"].as_u64()),
                (Some(count), Some(count)),
                "{} {row}",
                core.name
            );
        }
        // Words of stacks may keep some.
        let garbage = &rows["Heap$Garbage"];
        assert!(garbage["live"].as_u64() <= Some(20), "{}: {garbage}", core.name);
        assert_eq!(
            rows["Heap$Node"]["bytes"].as_u64().expect("bytes") / CHAIN,
            core.size_of_node(),
            "{}",
            core.name
        );
    }
}

#[test]
fn what_keeps_an_object_is_found() {
    for core in cases("java-heap").iter().map(Opened::untold).filter(is_settled) {
        let owner = core.records("::findjavaobjects Heap$Circle | ::refs");
        assert_eq!(
            owner.iter().filter(|it| it["class"] == "Heap$Circle").count(),
            2,
            "{}: {owner:?}",
            core.name
        );
        let path = core.records("::findjavaobjects Heap$Circle | ::head -1 | ::path");
        let root = path.iter().find(|record| record["type"] == "root").expect("a root");
        assert_eq!(root["certain"], true, "{}: {path:?}", core.name);
        let weak = core.records("::findjavaobjects Heap$Leaf | ::refs -w");
        let referents = weak.iter().filter(|it| it["name"] == "referent" && it["weak"] == true);
        assert_eq!(referents.count(), 10, "{}", core.name);
        let local = core.records("::findjavaobjects Heap$Leaf | ::path");
        let by_local =
            local.iter().filter(|it| it["class"] == "java.lang.ThreadLocal$ThreadLocalMap");
        assert_eq!(by_local.count(), 1, "{}", core.name);
    }
}

#[test]
fn what_is_no_object_is_refused_in_words() {
    for core in cases("java-heap").iter().map(Opened::untold).take(1) {
        let records = crate::harness::json_on(&core.core, "8::javaprint");
        assert_eq!(records[0]["type"], "error", "{records:?}");
        let records = crate::harness::json_on(&core.core, "::findjavaobjects no.such.Class");
        let last = records.last().expect("an answer");
        assert_eq!(last["message"], "no class no.such.Class is loaded");
    }
}

#[test]
fn frames_of_the_interpreter_have_their_variables() {
    let xint = |core: &Opened| core.has("xint");
    for core in cases("java-threads").iter().map(Opened::of).filter(xint) {
        let told = core.told.iter().find(|told| told.name == "locker").expect("told");
        let listed = core.listed();
        let tid =
            listed.iter().find(|it| it["id"] == told.id).expect("it is listed")["thread"].clone();
        let stack = core.records(&format!("0t{tid}::stack")).remove(0);
        let frames = stack["frames"].as_array().expect("frames").iter();
        let depths: Vec<&Value> = { frames }
            .filter(|frame| frame["function"] == "Threads.recurse")
            .map(|frame| &frame["args"][0])
            .collect();
        let shown: Vec<(&str, &str)> = { depths.iter() }
            .map(|it| {
                (it["name"].as_str().unwrap_or("?"), it["value"]["value"].as_str().unwrap_or("?"))
            })
            .collect();
        let expected: Vec<String> = (0..depths.len()).map(|depth| depth.to_string()).collect();
        let expected: Vec<(&str, &str)> =
            expected.iter().map(|it| ("depth", it.as_str())).collect();
        assert!(depths.len() > 2, "{}: {stack}", core.name);
        assert_eq!(shown, expected, "{}", core.name);
    }
}
