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

#[test]
fn bytes_that_are_no_instruction_end_a_listing() {
    // A return, and then a byte that begins no instruction of x86-64.
    let found = json("6c3::ugrep -s 2");
    let first =
        found.iter().find(|it| it["type"] == "match").expect("the C library has such bytes");
    let at = hex(&first["address"]);
    let records = json(&format!("{at:x},1::dis -n 3; .=K"));
    let mnemonics: Vec<_> = records.iter().filter_map(|it| it["mnemonic"].as_str()).collect();
    assert_eq!(mnemonics, ["retq"]);
    assert_eq!(hex(&records.last().expect("dot is shown")["value"]), at + 1);
    let expected = format!("kcore: failed to disassemble: no instruction at address {:x}", at + 1);
    assert_eq!(error(&format!("{:x}::dis -n 0", at + 1)), expected);
}

#[test]
fn a_loop_or_a_pipe_shows_nothing_before_the_address() {
    let second = hex(&json("main::dis")[1]["address"]);
    let from = |line: &str| hex(&json(line)[0]["address"]);
    assert!(from(&format!("{second:x}::dis -n 1")) < second, "a window begins before it");
    assert_eq!(from(&format!("{second:x},1::dis -n 1")), second);
    assert_eq!(from(&format!("{second:x}::map . | ::dis -n 1")), second);
    // Each repetition goes on where the one before ended.
    let whole: Vec<_> = json("main::dis").iter().map(|it| it["address"].clone()).take(4).collect();
    let looped: Vec<_> = json("main,2::dis -n 1").iter().map(|it| it["address"].clone()).collect();
    assert_eq!(looped, whole);
}

#[test]
fn a_window_has_as_many_before_as_behind() {
    let whole = json("main::dis");
    let at = hex(&whole[5]["address"]);
    for count in [0_usize, 1, 3] {
        let window = json(&format!("{at:x}::dis -n {count}"));
        assert_eq!(window, whole[5 - count..=5 + count], "{count}");
    }
    let at = hex(&whole[0]["address"]);
    let counted = json(&format!("{at:x}::dis -n 2"));
    assert_eq!(counted, whole[..3], "a count stands over the size of the function");
    assert_eq!(json("::dis -n 2 main"), whole[..3]);
    assert_eq!(json("::dis -n 2 $[main]"), whole[..3]);
}
