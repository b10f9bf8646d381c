//! Functions: their source text, what they captured, what they wrap.

use std::fs;

use serde_json::Value;

use crate::{cores, told};

fn functions(core: &crate::Opened) -> Vec<Value> {
    let text = fs::read_to_string(core.case.dir.join("values.jsonl")).expect("values were told");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    lines.filter(|line: &Value| line["type"] == "function" && line["frame"] == "keep").collect()
}

#[test]
fn source_text_is_that_of_the_script() {
    let mut compared = 0;
    for core in cores("node-values") {
        let values = core.argument("keep");
        for told in functions(&core) {
            let Some(source) = told["source"]["value"].as_str() else { continue };
            if source.contains("[native code]") || told["kind"] == "proxy" {
                continue;
            }
            let path = told["print"].as_str().unwrap().trim_start_matches("values.");
            let record = core.one(&format!("{values}::jsprint {path} | ::jssource -n 0"));
            assert_eq!(record["text"], source, "{} {path}", core.name);
            let lines = record["lines"].as_array().unwrap();
            assert_eq!(lines.len(), source.lines().count(), "{} {path}", core.name);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} functions");
}

#[test]
fn captured_variables_are_those_that_the_program_told() {
    let mut compared = 0;
    for core in cores("node-values") {
        let values = core.argument("keep");
        for told in functions(&core) {
            let Some(closure) = told["closure"]["properties"].as_array() else { continue };
            let path = told["print"].as_str().unwrap().trim_start_matches("values.");
            let variables = core.records(&format!("{values}::jsprint {path} | ::jsclosure"));
            for pair in closure {
                let found = variables.iter().find(|variable| variable["name"] == pair[0]);
                let found = found.unwrap_or_else(|| panic!("{} {path}: no {}", core.name, pair[0]));
                let difference = told::differ(&found["value"], &pair[1]);
                assert_eq!(difference, None, "{} {path}", core.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 600, "{compared} variables");
}

#[test]
fn functions_say_what_they_are() {
    for core in cores("node-values") {
        let values = core.argument("keep");
        let of =
            |path: &str| core.text(&format!("{values}::jsprint functions.{path} | ::jsfunction"));
        let declared = of("declared");
        assert!(declared.starts_with("function: declared\ndefined at /"), "{declared}");
        assert!(declared.contains("functions.js line "), "{declared}");
        assert!(of("class").starts_with("class: Declared\n"));
        assert_eq!(of("builtin"), "function: max\ndefined in V8 itself\n");
        let bound = of("bound");
        for wanted in ["bound function that wraps: ", "with \"this\" = ", "arg0  = "] {
            assert!(bound.contains(wanted), "{}: {bound}", core.name);
        }
    }
}
