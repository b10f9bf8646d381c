//! `::locals`, `::stack -v`, `::frame -v`, and what stands between the parentheses of `$C`.

use serde_json::{Value, json};

use crate::harness::{Opened, error, open, run_on};

/// Gives up three calls deep; each is passed one more than its caller was: 1, 2, 3.
fn abort(variant: &str) -> Opened {
    open("abort", variant)
}

fn frame(opened: &Opened, line: &str, function: &str) -> Value {
    let stack = opened.one(line);
    let frames = stack["frames"].as_array().unwrap();
    frames.iter().find(|frame| frame["function"] == function).unwrap().clone()
}

#[test]
fn arguments_are_what_the_program_passed() {
    for variant in ["O0-pie", "O2-pie", "O2-aarch64-pie"] {
        let opened = abort(variant);
        for (function, passed) in [("start_up", 1), ("check_disk", 2), ("give_up", 3)] {
            let frame = frame(&opened, "$C", function);
            let step = &frame["args"][0];
            assert_eq!(step["name"], "step", "{variant} {function}");
            // Optimised code need not keep it; what is shown must be true.
            let is_gone = step["absent"] == "optimized_out" && variant != "O0-pie";
            assert!(is_gone || step["value"]["value"] == passed, "{variant} {function}: {step}");
            assert_eq!(frame["locals"], Value::Null, "nobody asked");
        }
    }
}

#[test]
fn x86_64_keeps_what_callers_passed() {
    let shown = abort("O2-pie").text("$c");
    for line in ["give_up+", "check_disk+", "start_up+"].iter().zip(["(3)", "(2)", "(1)"]) {
        let found = shown.lines().find(|shown| shown.starts_with(line.0)).unwrap();
        assert!(found.ends_with(line.1), "{found}");
    }
}

#[test]
fn the_operand_limits_arguments_in_text_alone() {
    let opened = abort("O0-pie");
    assert!(
        opened
            .text("$c 0")
            .lines()
            .any(|line| line.starts_with("give_up+") && line.ends_with("()"))
    );
    assert_eq!(frame(&opened, "$c 0", "give_up")["args"][0]["value"]["value"], 3);
}

#[test]
fn inlined_calls_have_variables_of_their_own() {
    let inlined = open("inlined", "O2-pie");
    let frames = inlined.one("::stack")["frames"].clone();
    let names = ["level5", "level4", "level3", "level2", "level1"];
    for (frame, name) in frames.as_array().unwrap().iter().zip(names) {
        assert_eq!((&frame["function"], &frame["inline"]), (&json!(name), &json!(true)));
        assert_eq!(frame["args"][0]["name"], "field");
        assert_eq!(frame["args"][0]["value"]["value"], "0x0", "it points nowhere");
    }
    let shown = inlined.text("::locals");
    assert!(shown.starts_with("level5 [inlined]:\n    field = 0\n"), "{shown}");
}

#[test]
fn a_frame_is_chosen_before_its_variables_are_shown() {
    let opened = abort("O0-pie");
    let index = frame(&opened, "$C", "check_disk")["index"].clone();
    let step = opened.text(&format!("::frame {index}; ::locals step"));
    assert!(step.ends_with("step = 0x2\n"), "{step}");
    let verbose = opened.text(&format!("::frame {index} -v"));
    assert!(verbose.contains("\n                     step=0x2\n"), "{verbose}");
    let missing = opened.error(&format!("::frame {index}; ::locals nosuch"));
    assert!(missing.contains("has no variable nosuch"), "{missing}");
}

#[test]
fn a_name_that_the_frame_has_not_is_said() {
    assert!(error("::locals nosuch").contains("has no variable nosuch"));
    assert!(error("8::locals").contains("8 is neither a mapped address nor a thread"));
}

#[test]
fn a_frame_without_variables_says_so() {
    let go = open("values-go", "O0-static");
    let shown = run_on(&go.core, "::locals");
    assert_eq!((&*shown.out, &*shown.errors), ("", "kcore: note: frame 0 has no variables\n"));
}

#[test]
fn types_and_values_of_locals_come_in_text_json_and_pipes() {
    let nodes = open("nodes", "O0-musl-static");
    let shown = nodes.text("::locals -v calls __func__");
    assert_eq!(shown, "int calls = 0x11\nconst char [11] __func__ = [ \"handle_get\" ]\n");
    let calls = nodes.one("::locals calls");
    assert_eq!((&calls["kind"], &calls["declared"]), (&json!("local"), &json!("int")));
    assert_eq!(calls["value"]["value"], 17);
    assert_eq!(nodes.text("::locals calls | ::map .+1"), "0x12\n");
    assert_eq!(nodes.text("::walk frame | ::locals attempts"), "attempts = 0x2\n");
    // All variables of many frames stand below the names of these.
    let all = run_on(&nodes.core, "::walk frame | ::locals").out;
    assert!(all.starts_with("frame 0, handle_get:\n    "), "{all}");
    assert!(all.contains("\nframe 1, serve:\n    "), "{all}");
}
