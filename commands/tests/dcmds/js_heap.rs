//! Dcmds of JavaScript's heap, on a program that counted its objects itself.

use std::sync::LazyLock;

use serde_json::Value;

use crate::harness::{Opened, json_on, open, run_on};

static HEAP: LazyLock<Opened> = LazyLock::new(|| open("node-retained", "node24"));

fn records(line: &str, kind: &str) -> Vec<Value> {
    let records = json_on(&HEAP.core, line);
    let errors: Vec<_> = records.iter().filter(|record| record["type"] == "error").collect();
    assert!(errors.is_empty(), "{line}: {errors:?}");
    records.into_iter().filter(|record| record["type"] == kind).collect()
}

fn lines(line: &str) -> Vec<String> {
    HEAP.text(line).lines().map(str::to_owned).collect()
}

#[test]
fn groups_stand_in_a_table_the_heaviest_last() {
    let table = lines("::findjsobjects");
    assert_eq!(table[0], "          OBJECT #OBJECTS   #PROPS CONSTRUCTOR: PROPS");
    assert!(table.iter().any(|line| line.ends_with("     1000        2 Point: x, y")));
    let with_names = table.iter().filter(|line| line.contains(", "));
    assert!(with_names.into_iter().all(|line| line.chars().count() <= 80), "lines fit a terminal");
    // Of groups with other keys besides, a record does not tell how many.
    let mut weights = records("::findjsobjects", "js_group");
    weights.retain(|group| group["differs"] == false);
    let weight = |group: &Value| {
        group["objects"].as_u64().unwrap() * group["property_count"].as_u64().unwrap()
    };
    assert!(weights.windows(2).all(|pair| weight(&pair[0]) <= weight(&pair[1])));
}

#[test]
fn objects_are_found_by_constructor_property_and_kind() {
    let found = |line: &str| lines(line).len();
    assert_eq!(found("::findjsobjects -c Point"), 1, "one of the group");
    assert_eq!(found("::findjsobjects -c Point | ::findjsobjects"), 1000, "all of it");
    assert_eq!(found("::findjsobjects -l -c Point"), 1000);
    assert_eq!(found("::findjsobjects -p leaves | ::findjsobjects"), 3);
    assert_eq!(found("::findjsobjects -c NoSuchClass"), 0);
    assert!(found("::findjsobjects -k JSPromise") > 0);
    let kinds = records("::findjsobjects -k JSArray", "js_object");
    assert!(!kinds.is_empty() && kinds.iter().all(|found| found["address"].is_string()));
    let outcomes = run_on(&HEAP.core, "::findjsobjects -c Point -p x");
    assert!(outcomes.status.failed());
}

#[test]
fn what_is_no_object_is_refused() {
    for line in ["1000::findjsobjects", "1000::jspath", "1000::jsheap", "1000::jsfindrefs"] {
        let outcomes = run_on(&HEAP.core, line);
        assert!(outcomes.status.failed(), "{line}");
        assert!(outcomes.errors.contains("1000 is not a valid object"), "{}", outcomes.errors);
    }
    let outcomes = run_on(&HEAP.core, "1000::v8whatis");
    assert!(outcomes.errors.contains("1000 is in no heap object"), "{}", outcomes.errors);
}

#[test]
fn who_refers_to_an_object_is_told_by_names() {
    let owners = records("::findjsobjects -c Owner | ::findjsobjects", "js_object");
    let owner = owners[0]["address"].as_str().unwrap();
    let told = lines(&format!("{owner}::findjsobjects -r"));
    let start = format!("{} referred to by ", &owner[2..]);
    assert!(told.len() == 1 && told[0].starts_with(&start) && told[0].ends_with(']'), "{told:?}");
    let told = lines("::findjsobjects -c Root | ::findjsobjects -r");
    assert!(told.len() == 1 && told[0].ends_with(".root"), "{told:?}");
    let values = lines("::findjsobjects -c Owner | ::jsfindrefs -v");
    assert!(values.iter().any(|line| line.contains("(type: Array)[")), "{values:?}");
    let marked = lines(&format!("{owner}::findjsobjects -m; ::findjsobjects -r"));
    assert_eq!(marked[0], format!("findjsobjects: marked {}", &owner[2..]));
    assert!(marked.len() >= 2 && marked[1].starts_with(&start), "{marked:?}");
}

#[test]
fn classes_are_listed_by_what_they_retain() {
    let classes = records("::jsheap -a", "js_class");
    let class = |name: &str| classes.iter().find(|class| class["class"] == name).unwrap();
    assert_eq!((&class("Owner")["count"], &class("Owner")["retained"]), (&3.into(), &4896.into()));
    assert_eq!((&class("Point")["count"], &class("Point")["bytes"]), (&1000.into(), &40000.into()));
    let retained = |class: &Value| class["retained"].as_u64().unwrap();
    assert!(classes.windows(2).all(|pair| retained(&pair[0]) >= retained(&pair[1])));
    let total = &records("::jsheap -n 3", "js_heap")[0];
    assert_eq!(total["hidden"], total["classes"].as_u64().unwrap() - 3);
    let by_class = records("::jsheap -a -s class", "js_class");
    let name = |class: &Value| class["class"].as_str().unwrap().to_owned();
    assert!(by_class.windows(2).all(|pair| name(&pair[0]) <= name(&pair[1])));
    assert!(run_on(&HEAP.core, "::jsheap -s nothing").status.failed());
    let mut one: Vec<u64> =
        records("::findjsobjects -c Owner | ::findjsobjects | ::jsheap", "js_object_size")
            .iter()
            .map(|size| size["retained"].as_u64().unwrap())
            .collect();
    one.sort_unstable();
    assert_eq!(one, [192, 552, 4152]);
}

#[test]
fn a_way_begins_with_a_root() {
    let way = lines("::findjsobjects -c Owner | ::jspath");
    assert_eq!(way[0], "the context of a global object");
    assert!(way.last().unwrap().ends_with(" Owner"), "{way:?}");
    assert!(way.iter().any(|line| line.trim_start().starts_with(".owners ")), "{way:?}");
}

#[test]
fn functions_are_listed_by_name_script_and_code() {
    let found = records("::jsfunctions -s main.js -n chainOf", "js_function_definition");
    assert_eq!((found.len(), &found[0]["line"], &found[0]["closures"]), (1, &44.into(), &1.into()));
    let base = found[0]["bytecode"]["base"].as_str().unwrap();
    let by_code = records(&format!("::jsfunctions -x {base}"), "js_function_definition");
    assert_eq!(by_code.len(), 1);
    assert_eq!(by_code[0]["name"], "chainOf");
}

#[test]
fn an_address_within_an_object_is_told() {
    let point = &records("::findjsobjects -c Point", "js_object")[0]["address"];
    let inside = format!("{}+b", point.as_str().unwrap());
    let holder = &records(&format!("{inside}::v8whatis"), "js_holder")[0];
    assert_eq!((&holder["address"], &holder["class"]), (point, &"Point".into()));
    assert_eq!((&holder["offset"], &holder["bytes"]), (&"0xc".into(), &40.into()));
    let what = &records(&format!("{inside}::whatis"), "whatis")[0];
    assert!(what["object"].as_str().unwrap().contains("+0xc, Point of 40 bytes"), "{what}");
    assert!(run_on(&HEAP.core, &format!("{inside}::v8whatis -d 8")).status.failed());
}
