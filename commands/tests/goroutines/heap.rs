//! Go's heap, held against what the program told of its objects and what its runtime counted.

use std::fs;

use gen_cores::Case;
use serde_json::Value;

use crate::{Opened, cases, open};

/// Objects of one size that the program may have made since its runtime counted, with the panic that ended it.
const SINCE: u64 = 60;

/// The lines of what was told that begin with a word, as words.
fn told(case: &Case, of: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(case.dir.join("heap.txt")).expect("what it told");
    let lines = text.lines().filter_map(|line| line.strip_prefix(of)?.strip_prefix(' '));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn place(case: &Case, name: &str) -> String {
    let places = told(case, "at");
    places.into_iter().find(|place| place[0] == name).expect("a place").remove(1)
}

fn number(word: &str) -> u64 {
    word.parse().expect("a number")
}

/// The records of a type.
fn of_type(core: &Opened, line: &str, kind: &str) -> Vec<Value> {
    core.records(line).into_iter().filter(|record| record["type"] == kind).collect()
}

#[test]
fn objects_are_counted_by_their_types() {
    for case in cases("go-heap") {
        let core = open(&case);
        let classes = of_type(&core, "::classes -a", "class");
        for told in told(&case, "count") {
            let class = classes.iter().find(|class| class["class"] == *told[0]);
            let class = class.unwrap_or_else(|| panic!("{} {}", core.name, told[0]));
            assert_eq!(class["count"], number(&told[1]), "{} {}", core.name, told[0]);
        }
        let dropped = classes.iter().find(|class| class["class"] == "[24]*main.leaf");
        assert!(dropped.is_none(), "{}: what was freed is no object", core.name);
    }
}

#[test]
fn slots_are_used_as_the_runtime_counted() {
    for case in cases("go-heap") {
        let core = open(&case);
        let collector = of_type(&core, "::goheap", "go_collector").remove(0);
        let collections = told(&case, "collections").remove(0);
        assert_eq!(collector["cycles"], number(&collections[0]), "{}", core.name);
        if !collector["forced"].is_null() {
            assert_eq!(collector["forced"], number(&collections[1]), "{}", core.name);
            assert_eq!(collector["goal"], number(&told(&case, "goal")[0][0]), "{}", core.name);
            assert_eq!(collector["gogc"], 150, "{}", core.name);
            assert_eq!(collector["phase"], "off", "{}", core.name);
        }
        let sizes = of_type(&core, "::goheap", "go_size_class");
        for told in told(&case, "size") {
            let (size, count) = (number(&told[0]), number(&told[1]));
            let of_size = sizes.iter().filter(|it| it["size"] == size);
            let found: u64 = of_size.filter_map(|it| it["objects"].as_u64()).sum();
            assert!(found.abs_diff(count) <= SINCE, "{} {size}: {found} for {count}", core.name);
        }
    }
}

#[test]
fn an_address_is_of_an_object_with_its_type() {
    for case in cases("go-heap") {
        let core = open(&case);
        let types = [
            ("root", "main.node"),
            ("square", "main.square"),
            ("leaf", "main.leaf"),
            ("dict", "main.leaf"),
            ("values", "main.all"),
        ];
        for (name, ty) in types {
            let at = place(&case, name);
            let what = core.records(&format!("{at}+8::whatis")).remove(0);
            let object = what["object"].as_str().unwrap_or_default().to_owned();
            let expected = format!("{at}+0x8, an object of Go's heap in use: {ty}, slot of ");
            assert!(object.starts_with(&expected), "{}: {object}", core.name);
            assert!(what["thread"].is_null(), "{}: a heap is no stack", core.name);
        }
        let dropped = &told(&case, "dropped")[0][0];
        let what = core.records(&format!("{dropped}::whatis")).remove(0);
        let object = what["object"].as_str().unwrap_or_default();
        assert!(!object.contains("[24]*main.leaf"), "{}: {object}", core.name);
    }
}

#[test]
fn the_stack_of_a_goroutine_is_told() {
    for case in cases("go-heap") {
        let core = open(&case);
        let waiting = of_type(&core, "::goroutines -s waiting", "goroutine");
        let stack = core.records(&format!("0t{}::stack", waiting[0]["id"])).remove(0);
        let sp = stack["frames"][0]["sp"].as_str().expect("a stack pointer").to_owned();
        let what = core.records(&format!("{}::whatis", sp.trim_start_matches("0x"))).remove(0);
        let expected = format!("the stack of goroutine {} [", waiting[0]["id"]);
        let object = what["object"].as_str().unwrap_or_default();
        assert!(object.starts_with(&expected), "{}: {what}", core.name);
    }
}

#[test]
fn referrers_have_the_names_of_fields() {
    for case in cases("go-heap") {
        let core = open(&case);
        let at = place(&case, "leaf");
        let references = of_type(&core, &format!("{at}::refs"), "heap_reference");
        let square = format!("0x{}", place(&case, "square"));
        let by_square = references.iter().find(|it| it["address"] == *square);
        let by_square = by_square.unwrap_or_else(|| panic!("{}: {references:?}", core.name));
        assert_eq!(by_square["class"], "main.square", "{}", core.name);
        assert_eq!([&by_square["edge"], &by_square["name"]], ["member", "l"], "{}", core.name);
        assert_eq!(references.len(), 1, "{}: {references:?}", core.name);
    }
}

#[test]
fn paths_begin_with_variables() {
    for case in cases("go-heap") {
        let core = open(&case);
        let has_symbols = !core.name.contains("stripped");
        for (name, variable) in [("second", "main.root"), ("large", "main.large")] {
            let at = place(&case, name);
            let path = core.records(&format!("{at}::path"));
            let root = path.iter().find(|it| it["type"] == "root").expect("a root");
            assert_eq!([&root["root"], &root["certain"]], [&"variable".into(), &Value::Bool(true)]);
            let is_named = root["name"] == variable || root["name"] == "main.hold";
            assert!(is_named || !has_symbols, "{}: {root}", core.name);
            let last = path.iter().rfind(|it| it["type"] == "path_step").expect("a step");
            let begins = u64::from_str_radix(&at, 16).expect("an address") & !0xf;
            assert_eq!(last["address"], format!("{begins:#x}"), "{}: its slot", core.name);
        }
    }
}

#[test]
fn values_are_as_go_has_them() {
    for case in cases("go-heap") {
        let core = open(&case);
        let at = place(&case, "values");
        let value = core.records(&format!("{at}::goprint -n 3")).remove(0);
        assert_eq!(value["go_type"], "main.all", "{}", core.name);
        let text = value["value"].as_str().expect("a value");
        let (start, rest) = text.split_once("sh: ").expect("an interface");
        let start_expected = "main.all{b: true, i8: -5, u: 7, f: 2.5, lv: main.level(-3), \
                              s: \"text \\\"q\\\"\", e: int(42), n: nil, ";
        assert_eq!(start, start_expected, "{}", core.name);
        let (shape, rest) = rest.split_once(", sl: ").expect("a slice");
        assert!(shape.starts_with("&main.square{side: 2, label: \"sq2\", l: (*main.leaf) 0x"));
        let expected = "[]int16{1, -2, 3}, ar: [3]uint8{9, 8, 7}, p: &main.leaf{name: \"p1\", n: 1, \
                        next: nil}, np: nil, m: map[string]int{\"one\": 1}, \
                        mw: map[int]main.wide{3: main.wide{words: [40]uint64{0, 0, 0, ... 40 in all}}}, \
                        nm: map[string]int(nil), fn: func main.build}";
        assert_eq!(rest, expected, "{}", core.name);
        assert_eq!(value["cut"], true, "{}: the array is", core.name);
        let held = core.records(&format!("{}::goprint -i -n 3", place(&case, "held"))).remove(0);
        assert_eq!(held["go_type"], "*main.all", "{}", core.name);
        let whole = core.records(&format!("{}::goprint -i -d 0", place(&case, "held"))).remove(0);
        assert_eq!(whole["value"], format!("(*main.all) 0x{at}"), "{}", core.name);
    }
}

#[test]
fn all_entries_of_a_map_are_found() {
    for case in cases("go-heap") {
        let core = open(&case);
        let maps = of_type(&core, "::classes -c map[string]*main.leaf", "heap_object");
        assert_eq!(maps.len(), 1, "{}", core.name);
        // What the interface holds that refers to it.
        let at = place(&case, "held");
        assert!(!at.is_empty());
        let keys = core.records("::classes -c '[]interface {}' | ::goprint -d 2 -n 400");
        let text: String = keys.iter().filter_map(|value| value["value"].as_str()).collect();
        let missing: Vec<String> =
            (0..300).map(|n| format!("\"key{n}\": ")).filter(|key| !text.contains(key)).collect();
        assert_eq!(missing, Vec::<String>::new(), "{}", core.name);
    }
}
