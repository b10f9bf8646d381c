//! Every value that a program told of, by `::jsprint`.

use std::fs;

use serde_json::Value;

use crate::{Opened, cores, told};

/// What differs by intention, by path, each with its reason.
const KNOWN: &[(&str, &str)] = &[
    ("values.arrays.accessor", "an element with a getter has no value before it is called"),
    ("values.objects.symbolKeys", "its own tag names it, as in V8's traces"),
    ("values.classes.inferred", "a class without a name has the one that V8 made up"),
    ("values.classes.anonymous", "the same"),
    ("values.classes.misnamed", "its static property `name` is no name"),
];

/// The values that a program tells of the argument of its function `keep`.
fn told_values(core: &Opened) -> Vec<Value> {
    let text = fs::read_to_string(core.case.dir.join("values.jsonl")).expect("values were told");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    lines.filter(|line: &Value| line["frame"] == "keep").collect()
}

#[test]
fn every_value_is_what_the_program_says() {
    let (mut differences, mut count) = (Vec::new(), 0);
    for core in cores("node-values") {
        let values = core.argument("keep");
        for told in told_values(&core) {
            let path = told["print"].as_str().expect("a path");
            if KNOWN.iter().any(|(known, _)| path.starts_with(known)) {
                continue;
            }
            count += 1;
            let member = path.strip_prefix("values.").expect("a path in values");
            let line = format!("{values}::jsprint -d 6 -l 2000 -N 70000 '{member}'");
            let record = core.one(&line);
            let tree = &record["values"][0]["value"];
            let difference = told::differ(tree, &told);
            differences.extend(difference.map(|what| format!("{} {path}: {what}", core.name)));
        }
    }
    assert!(count > 1000, "{count} values");
    assert!(
        differences.is_empty(),
        "{} of {count}:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn values_are_laid_out_as_mdb_does() {
    for core in cores("node-values") {
        let values = core.argument("keep");
        let print = |words: &str| core.text(&format!("{values}::jsprint {words}"));
        let fast = "{\n    \"a\": 1,\n    \"b\": \"two\",\n    \"c\": 3.5,\n    \"d\": null,\n    \
                    \"e\": undefined,\n    \"f\": true,\n}\n";
        assert_eq!(print("objects.fast"), fast, "{}", core.name);
        assert_eq!(print("objects.fast.a objects.fast.b nothing"), "1 \"two\" undefined\n");
        assert_eq!(print("arrays.onlyHoles"), "[ <5 holes> ]\n");
        assert_eq!(print("-d 1 objects.deep"), "{\n    \"level\": 12,\n    \"next\": [...],\n}\n");
        assert_eq!(print("builtins.date"), "1709210096789 (2024-02-29T12:34:56.789Z)\n");
        assert_eq!(print("-N 5 strings.oneByte"), "\"hello\"...\n");
        assert_eq!(print("classes.point"), "Point {\n    \"x\": 3,\n    \"y\": -4.5,\n}\n");
        let based = print("-b objects.fast.a");
        assert_eq!(based, format!("{}: 1\n", values.trim_start_matches("0x")));
        let shown = print("-a objects.fast");
        assert!(shown.contains("\"a\": 100000000: 1,"), "{shown}");
        assert!(print("objects.cyclic").contains("\"self\": <circular: "));
        let control = print("strings.control strings.bidi");
        assert!(!control.chars().any(|c| c.is_control() && c != '\n'), "{control:?}");
    }
}

#[test]
fn paths_lead_into_everything() {
    for core in cores("node-values") {
        let values = core.argument("keep");
        let print = |words: &str| core.text(&format!("{values}::jsprint {words}"));
        for (path, expected) in [
            ("arrays.nested[0][0]", "1"),
            ("arrays.double[1]", "-0"),
            ("arrays.dictionary.length", "5000001"),
            ("collections.map.b.c", "2"),
            ("'collections.map[\"a\"]'", "1"),
            ("collections.map[3]", "\"three\""),
            ("collections.map.size", "6"),
            ("binary.uint16[1]", "65535"),
            ("binary.uint16.length", "2"),
            ("objects.integerKeys[7]", "\"seven\""),
            ("'objects.oddKeys[\"a.b\"]'", "4"),
            ("'objects.oddKeys[with space]'", "1"),
            ("'objects.symbolKeys[Symbol(own)]'", "1"),
            ("classes.accessors.#celsius", "20.5"),
            ("strings.oneByte.length", "11"),
            ("classes.point.constructor", "class Point"),
        ] {
            assert_eq!(print(path), format!("{expected}\n"), "{} {path}", core.name);
        }
    }
}

#[test]
fn properties_and_elements_can_be_walked() {
    for core in cores("node-values") {
        let values = core.argument("keep");
        let line = format!("{values}::jsprint objects.fast | ::walk jsprop | ::jsprint");
        assert_eq!(core.text(&line), "1\n\"two\"\n3.5\nnull\nundefined\ntrue\n", "{}", core.name);
        let line = format!("{values}::jsprint arrays.smi | ::walk jselement | ::jsprint");
        assert_eq!(core.text(&line), "1\n2\n3\n");
        let line = format!("{values}::jsprint arrays.smi | ::jsarray -i");
        assert_eq!(core.text(&line), "0 100000000\n1 200000000\n2 300000000\n");
        let line = format!("{values}::jsprint binary.buffer | ::nodebuffer | ::dump -uw 2 -l 0t23");
        assert!(core.text(&line).contains("a small buffer: gr"), "{}", core.name);
        let line = format!("{values}::jsprint classes.point | ::jsconstructor");
        assert_eq!(core.text(&line), "Point\n");
    }
}

#[test]
fn what_modules_export_is_told() {
    for core in cores("node-esm") {
        let text = core.text("::findjsobjects -c Module | ::findjsobjects | ::jsprint");
        assert!(text.contains("\"enter\": function enter"), "{}: {text}", core.name);
    }
}

#[test]
fn bytes_stand_many_on_a_line() {
    for core in cores("node-values") {
        let values = core.argument("keep");
        let text = core.text(&format!("{values}::jsprint binary.buffer"));
        assert!(text.contains(", ") && text.lines().count() < 8, "{}: {text}", core.name);
    }
}

#[test]
fn what_is_no_value_is_told() {
    for core in cores("node-values") {
        let said = core.error("10::jsprint");
        assert!(said.contains("10 is not a JavaScript value: "), "{said}");
        let said = core.error("<rip::jsprint");
        assert!(said.contains("is not a JavaScript value: "), "{said}");
        let said = core.error(&format!("{}::jssource", core.argument("keep")));
        assert!(said.contains("is not a function: JSObject: KnownValues"), "{said}");
        assert_eq!(core.text("2a00000000::jsprint"), "42\n");
    }
}

#[test]
fn without_v8_there_is_one_line() {
    let core = crate::harness::core();
    for line in ["1::jsprint", "::jsstack", "::walk jsframe", "1::v8type", "::v8classes"] {
        let said = crate::harness::run_on(&core, line).errors;
        assert!(said.starts_with("kcore: ") && said.contains("no V8 in this process"), "{said}");
    }
}
