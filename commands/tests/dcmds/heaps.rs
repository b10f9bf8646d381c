//! Dcmds of the heaps of all languages: on JavaScript, and where there is no such heap.

use std::sync::LazyLock;

use serde_json::Value;

use crate::harness::{Opened, core, json_on, open, run_on};

static HEAP: LazyLock<Opened> = LazyLock::new(|| open("node-retained", "node24"));

fn records(line: &str, kind: &str) -> Vec<Value> {
    let records = HEAP.json(line);
    let errors: Vec<_> = records.iter().filter(|record| record["type"] == "error").collect();
    assert!(errors.is_empty(), "{line}: {errors:?}");
    records.into_iter().filter(|record| record["type"] == kind).collect()
}

#[test]
fn classes_have_the_objects_that_the_program_made() {
    let classes = records("::classes -a", "class");
    let point = classes.iter().find(|class| class["class"] == "Point").expect("the class");
    assert_eq!((&point["count"], &point["runtime"]), (&1000.into(), &"v8".into()));
    assert_eq!(point["retained"], Value::Null, "nobody asked");
    let listed = records("::classes -c Point", "heap_object");
    assert_eq!(listed.len(), 1000);
    assert_eq!(HEAP.text("::classes -n 3").lines().count(), 4, "a header and three classes");
    let none = HEAP.json("::classes -c NoSuchClass");
    assert!(none.iter().any(|record| record["type"] == "error"), "{none:?}");
}

#[test]
fn classes_retain_what_those_of_javascript_alone_do() {
    let retained = |line: &str, kind: &str, class: &str| {
        let classes = records(line, kind);
        let found = classes.into_iter().find(|it| it["class"] == class).expect("the class");
        found["retained"].as_u64().expect("a number")
    };
    for class in ["Owner", "Link", "Root"] {
        let own = retained("::jsheap -a", "js_class", class);
        assert_eq!(retained("::classes -ra", "class", class), own, "{class}");
    }
}

#[test]
fn references_are_those_of_javascript() {
    let of = |line: &str, kind: &str| -> Vec<(Value, Value)> {
        let references = records(line, kind).into_iter();
        let mut ends: Vec<_> =
            references.map(|it| (it["address"].clone(), it["name"].clone())).collect();
        ends.sort_by_key(|ends| format!("{ends:?}"));
        ends
    };
    let leaf = "::classes -c Leaf | ::head -1";
    let generic = of(&format!("{leaf} | ::refs"), "heap_reference");
    let own = of(&format!("{leaf} | ::findjsobjects -r"), "js_reference");
    assert!(!generic.is_empty());
    assert_eq!(generic, own);
    let inside = HEAP.text(&format!("{leaf} | ::map '.+7' | ::refs"));
    assert_eq!(inside, HEAP.text(&format!("{leaf} | ::refs")), "an address inside is enough");
}

#[test]
fn a_path_is_that_of_javascript() {
    let addresses = |line: &str, kind: &str| -> Vec<Value> {
        records(line, kind).into_iter().map(|step| step["address"].clone()).collect()
    };
    let owner = "::classes -c Owner | ::head -1";
    let generic = addresses(&format!("{owner} | ::path"), "path_step");
    assert_eq!(generic, addresses(&format!("{owner} | ::jspath"), "js_path_step"));
    assert!(generic.len() > 2);
    let root = records(&format!("{owner} | ::path"), "root");
    assert_eq!((root.len(), &root[0]["runtime"]), (1, &"v8".into()));
    let shown = HEAP.text(&format!("{owner} | ::path"));
    assert!(shown.lines().any(|line| line.contains(".owners ")), "{shown}");
}

#[test]
fn what_is_in_no_object_is_refused() {
    for line in ["1000::refs", "1000::path"] {
        let error = HEAP.error(line);
        assert!(error.contains("1000 is in no heap object: "), "{error}");
        let records = json_on(&HEAP.core, line);
        assert_eq!(records[0]["address"], "0x1000", "{records:?}");
    }
}

#[test]
fn a_process_without_a_language_has_no_heap_of_objects() {
    for line in ["::classes", "::classes -c Point", "<rsp::refs", "<rsp::path"] {
        let outcomes = run_on(&core(), line);
        assert!(outcomes.status.failed(), "{line}");
        let why = "no language runtime with a heap of objects in this process";
        assert!(outcomes.errors.contains(why), "{line}: {}", outcomes.errors);
    }
    assert!(run_on(&core(), "::refs").errors.contains("address"), "without an address");
}
