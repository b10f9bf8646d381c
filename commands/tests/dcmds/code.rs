//! `::dis`.

use crate::harness::{error, hex, json, one, run, text, value};

#[test]
fn a_function_is_shown_whole() {
    let records = json("leaf::dis");
    let symbol = one("leaf::nm");
    assert_eq!(hex(&records[0]["address"]), value("leaf"));
    let last = records.last().expect("a function has instructions");
    let len = last["bytes"].as_str().unwrap_or_default().len() as u64 / 2;
    let size = symbol["size"].as_u64().expect("it has a size");
    assert_eq!(hex(&last["address"]) + len, value("leaf") + size);
    assert_eq!(records, json("::dis leaf"));
    assert!(records.iter().all(|it| it["symbol"] == "leaf" && it["module"] == "leaf"));
}

#[test]
fn the_current_instruction_is_marked_and_in_the_middle() {
    let records = json("<rip::dis -n 2");
    assert_eq!(records.len(), 5);
    let current: Vec<_> = records.iter().map(|it| it["current"] == true).collect();
    assert_eq!(current, [false, false, true, false, false]);
    assert_eq!(hex(&records[2]["address"]), value("<rip"));
    let out = text("<rip::dis -n 2");
    let marked: Vec<_> = out.lines().filter(|line| line.contains(" > ")).collect();
    assert_eq!(marked.len(), 1, "{out}");
    assert_eq!(marked[0].find("> "), Some(30), "{out}");
}

#[test]
fn lines_are_those_of_mdb() {
    assert_eq!(
        text("main::dis").lines().next(),
        Some("main:                           pushq  %rbp")
    );
    let at = value("main");
    assert_eq!(text("main::dis -w -n 0"), "main:                           pushq  %rbp\n");
    assert_eq!(text("main::dis -a -n 0"), format!("{:32}pushq  %rbp\n", format!("{at:#x}")));
    let both = format!("{:16}  {:32}pushq  %rbp\n", format!("{at:#x}"), "main:");
    assert_eq!(text("main::dis -b -n 0"), both);
}

#[test]
fn calls_show_how_far_and_where() {
    let records = json("main::dis");
    let call =
        records.iter().find(|it| it["target"]["symbol"] == "report").expect("main calls report");
    let end = hex(&call["address"]) + call["bytes"].as_str().unwrap_or_default().len() as u64 / 2;
    let displacement = end - value("report");
    let expected = format!("-{displacement:#x}");
    let text = call["text"].as_str().unwrap_or_default();
    assert!(text.contains(&expected) && text.ends_with(" <report>"), "{text}");
    assert_eq!(hex(&call["target"]["address"]), value("report"));
}

#[test]
fn dot_is_left_behind_the_last_instruction() {
    let records = json("main::dis -n 1; .=K");
    let dot = hex(&records.last().expect("dot is shown")["value"]);
    let previous = &records[records.len() - 2];
    let len = previous["bytes"].as_str().unwrap_or_default().len() as u64 / 2;
    assert_eq!(dot, hex(&previous["address"]) + len);
}

#[test]
fn a_listing_from_dot_has_eleven_instructions() {
    assert_eq!(json("main=K; ::dis").iter().filter(|it| it["type"] == "instruction").count(), 11);
}

#[test]
fn the_file_has_the_same_code() {
    assert_eq!(json("main::dis -f"), json("main::dis"));
}

#[test]
fn what_is_no_code_is_an_error() {
    let expected = "kcore: failed to read instruction: no mapping for address 8";
    assert_eq!(error("8::dis"), expected);
    let outcomes = run("::dis nonesuch");
    assert!(outcomes.errors.contains("unknown symbol name"), "{}", outcomes.errors);
}
