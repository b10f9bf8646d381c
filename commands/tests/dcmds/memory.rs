//! `::mappings`, `::whatis`, `::dump`.

use crate::harness::{core, error, hex, json, one, text, value};

#[test]
fn mappings_are_listed_in_columns_and_as_records() {
    let records = json("::mappings");
    assert_eq!(records.len(), core().mappings().len());
    let out = text("$m");
    assert_eq!(out.lines().count(), records.len() + 1);
    assert!(out.starts_with("            BASE            LIMIT             SIZE NAME "), "{out}");
    for (record, line) in records.iter().zip(out.lines().skip(1)) {
        let (base, limit) = (hex(&record["base"]), hex(&record["limit"]));
        assert_eq!(record["size"], limit - base);
        let size = limit - base;
        assert!(line.starts_with(&format!("{base:16x} {limit:16x} {size:16x} ")), "{line}");
    }
}

#[test]
fn a_mapping_is_found_by_address_and_by_name() {
    let stack = one("<rsp::mappings");
    assert_eq!((&stack["kind"], &stack["name"]), (&"stack".into(), &"[ stack ]".into()));
    assert_eq!(stack["path"], serde_json::Value::Null);
    assert_eq!(stack["origin"], "core");
    assert_eq!(one("$m stack"), stack);
    assert_eq!(one("::mappings $[<rsp]"), stack);
    let code = one("<rip::mappings");
    assert_eq!((&code["kind"], &code["permissions"]), (&"file".into(), &"r-x".into()));
    assert!(json("$m leaf").contains(&code));
}

#[test]
fn an_address_of_no_mapping_is_an_error() {
    assert_eq!(error("8::mappings"), "kcore: failed to obtain mapping: no mapping for address 8");
    let expected = "kcore: failed to obtain mapping: unknown object file name 'nonesuch'";
    assert_eq!(error("::mappings nonesuch"), expected);
    assert_eq!(one("8::mappings")["address"], "0x8");
}

#[test]
fn whatis_tells_symbol_and_mapping() {
    let (main, mapping) = (value("main"), one("main::mappings"));
    let name = mapping["name"].as_str().unwrap_or_default();
    let (base, limit) = (hex(&mapping["base"]), hex(&mapping["limit"]));
    let expected = format!("{:x} is main+4, in {name} [{base:x},{limit:x})\n", main + 4);
    assert_eq!(text("main+4::whatis"), expected);
    let record = one("main+4::whatis");
    assert_eq!((&record["symbol"], &record["offset"]), (&"main".into(), &"0x4".into()));
    assert_eq!(record["module"], "leaf");
    assert_eq!(record["thread"], serde_json::Value::Null);
}

#[test]
fn whatis_tells_thread_and_frame_of_a_stack() {
    let tid = core().tids()[0].get();
    let (sp, line) = (value("<rsp"), text("<rsp::whatis"));
    assert_eq!(line, format!("{sp:x} is in [ stack tid={tid} ], frame 0 of leaf+0xf\n"));
    let record = one("<rsp::whatis");
    assert_eq!((&record["thread"], &record["frame"]), (&tid.into(), &0.into()));
    let all = text("<rsp::whatis -a");
    assert!(all.starts_with(&line) && all.contains("in [ stack ] ["), "{all}");
}

#[test]
fn whatis_takes_a_whole_pipe_and_sorts_it() {
    assert_eq!(text("8::whatis"), "8 is unknown\n");
    let lines = text("::walk mapping | ::whatis");
    assert_eq!(lines.lines().count(), core().mappings().len());
    let (main, sp) = (value("main"), value("<rsp"));
    let of = |line: &str| -> Vec<u64> { json(line).iter().map(|it| hex(&it["address"])).collect() };
    assert_eq!(of("<rsp,2/K | ::whatis").len(), 2);
    assert_eq!(of("<rsp::map main | ::whatis"), [main]);
    assert!(main < sp);
    assert!(error("main::whatis | ::whatis").contains("'whatis' cannot feed a pipe"));
}

#[test]
fn dump_shows_aligned_lines() {
    let out = text("<rsp,20::dump");
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    assert!(lines[0].contains("\\/") && lines[0].contains('v'), "{out}");
    let sp = value("<rsp");
    assert!(lines[1].starts_with(&format!("{:x}:  ", sp & !0xf)), "{out}");
    let bytes: String = json("<rsp,20::dump")
        .iter()
        .map(|line| line["bytes"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(bytes.len(), 0x40);
}

#[test]
fn dump_agrees_with_formats() {
    let words = text("<rsp,10::dump -e -g 8 -u");
    let expected = format!("{:016x} {:016x}", value("*<rsp"), value("*(<rsp+8)"));
    assert!(words.contains(&expected), "{words} {expected}");
}

#[test]
fn dump_shows_what_can_be_read_and_then_why_no_more() {
    let limit = hex(&one("<rsp::mappings")["limit"]);
    let outcomes = crate::harness::run(&format!("{:x},40::dump", limit - 0x10));
    assert_eq!(outcomes.out.lines().count(), 2);
    let expected = format!("kcore: failed to read data at {limit:#x}: no mapping for address\n");
    assert_eq!(outcomes.errors, expected);
}

#[test]
fn dump_leaves_dot_behind_what_was_asked_for() {
    let sp = value("<rsp");
    let out = json("<rsp,7::dump; .=K");
    assert_eq!(hex(&out.last().expect("dot is shown")["value"]), sp + 7);
}

#[test]
fn dump_squeezes_and_trims() {
    // The lowest pages of a stack were never touched.
    let base = hex(&one("<rsp::mappings")["base"]);
    let squeezed = text(&format!("{base:x},100::dump -s"));
    assert_eq!(squeezed.lines().skip(2).collect::<Vec<_>>(), ["*"], "{squeezed}");
    assert_eq!(json(&format!("{base:x},100::dump -s")).len(), 0x10);
    let trimmed = text("<rsp,2::dump -t -q");
    assert_eq!(
        trimmed.lines().last().and_then(|line| line.split_whitespace().nth(1)).map(str::len),
        Some(4)
    );
    assert_eq!(error("<rsp::dump -w 0"), "kcore: invalid number of paragraphs -- 0");
}
