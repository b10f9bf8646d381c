//! `/`, `?`, `\`, `@`, `=` and `::formats`.

use crate::harness::{error, hex, json, one, text, value};

#[test]
fn values_stand_in_their_columns() {
    for (line, expected) in [
        ("0t1000=X", format!("{:16}{:16}\n", "", "3e8")),
        ("1ff=B", format!("{:16}{:8}\n", "", "ff")),
        ("2a=R", format!("{:16}{:64}\n", "", "101010")),
        ("5e2f1a33=Y", format!("{:16}{:24}\n", "", "2020 Jan 27 17:13:23")),
        ("0t8=o", format!("{:16}{:8}\n", "", "010")),
        ("ffff=d", format!("{:16}{:8}\n", "", "-1")),
        ("ffff=u", format!("{:16}{:8}\n", "", "65535")),
        ("1234=h", format!("{:16}{:8}\n", "", "3412")),
        ("-1=J", format!("{:16}{:17}\n", "", "ffffffffffffffff")),
        ("-1=e", format!("{:16}{:21}\n", "", "-1")),
        ("3f800000=f", format!("{:16}+1.0000000e+00\n", "")),
        ("41=c", format!("{:16}A\n", "")),
        ("a=C", format!("{:16}\\n\n", "")),
        ("6968=s", format!("{:16}hi\n", "")),
        ("main=p", format!("{:16}{:19}\n", "", "main")),
        ("1=\"x\"X", format!("{:16}x{:16}\n", "", "1")),
        ("1=XnX", format!("{0:16}{1:16}\n{0:16}{1:16}\n", "", "1")),
    ] {
        assert_eq!(text(line), expected, "{line}");
    }
}

#[test]
fn jazz_spans_lines() {
    let expected = "                1000000000101
                |         | |
                |         | +-- bit 0  mask 0x0001
                |         +---- bit 2  mask 0x0004
                +-------------- bit 12 mask 0x1000
";
    assert_eq!(text("1005=j"), expected);
}

#[test]
fn labels_stand_once_and_before_an_exact_symbol_twice() {
    let first = hex(&one("main/X")["value"]);
    assert_eq!(text("main/X"), format!("main:\n{:16}{:16}\n", "main:", format!("{first:x}")));
    assert!(text("main+1/x").starts_with("main+1:         "));
    assert_eq!(text("main/i"), "main:\nmain:           pushq  %rbp\n");
    let expected =
        "main:           \nmain:           pushq  %rbp\nmain+1:         movq   %rsp,%rbp\n";
    assert_eq!(text("main,2/ai"), expected);
}

#[test]
fn a_count_goes_on_in_the_line_and_wraps() {
    assert_eq!(text("main,4/X"), text("main/4X"));
    let out = text("<rsp,5/X");
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out}");
    assert_eq!((lines[0].len(), &lines[1][..16]), (80, "                "));
}

#[test]
fn words_of_the_stack_stand_with_their_addresses() {
    let sp = value("<rsp");
    let out = text("<rsp,3/nap");
    let labels: Vec<_> = out.lines().map(|line| line.split(':').next().unwrap_or("")).collect();
    let address = |offset: u64| format!("{:#x}", sp + offset);
    assert_eq!(labels, [address(0), address(0), address(8), address(16)]);
    assert!(out.contains(": sum+0x"), "{out}");
}

#[test]
fn dot_stays_and_plus_means_what_comes_next() {
    let sp = value("<rsp");
    let of = |line: &str| hex(&json(line).last().expect("a value")["value"]);
    assert_eq!(of("<rsp/2X; .=K"), sp);
    assert_eq!(of("<rsp/2X; +=K"), sp + 8);
    assert_eq!(of("<rsp,3/X; .=K"), sp + 8);
    assert_eq!(of("<rsp/X^\"= \"x; +=K"), sp + 2);
    assert_eq!(of("5=3+-; .=K"), 7);
}

#[test]
fn records_hold_value_text_and_label() {
    let record = one("main+1/x");
    assert_eq!(record["type"], "value");
    assert_eq!((&record["format"], &record["size"]), (&"x".into(), &2.into()));
    assert_eq!(record["label"], "main+1");
    assert_eq!(hex(&record["address"]), value("main") + 1);
    let immediate = one("0t10=D");
    assert_eq!((&immediate["value"], &immediate["text"]), (&10.into(), &"10".into()));
    assert!(immediate["address"].is_null() && immediate["label"].is_null());
    assert_eq!(json("<rsp/4X").len(), 4);
}

#[test]
fn values_feed_a_pipe() {
    let words: Vec<_> = json("<rsp,2/K").iter().map(|it| hex(&it["value"])).collect();
    let piped: Vec<_> = json("<rsp,2/K | ::map .").iter().map(|it| hex(&it["value"])).collect();
    assert_eq!(piped, words);
    assert_eq!(text("main::map . | /i"), text("main/i"));
    let failing = crate::harness::run("::walk mapping | ::map .-1 | /B");
    assert!(failing.errors.contains("no mapping for address"), "{}", failing.errors);
    assert!(!failing.out.is_empty());
}

#[test]
fn the_file_is_read_where_the_process_had_it() {
    assert_eq!(text("main?i"), text("main/i"));
    assert!(error("<rsp?X").starts_with("kcore: failed to read data from target: "));
}

#[test]
fn a_search_stops_at_its_hit() {
    let word = value("*(<rsp+8)");
    let hit = one(&format!("<rsp/M {word:x}"));
    assert_eq!(hex(&hit["address"]), value("<rsp") + 8);
    assert_eq!(error("<rsp/L"), "kcore: expected value following L");
    assert_eq!(error("<rsp/L 1 2 3"), "kcore: only value and mask may follow L");
    assert!(error("<rsp/M 123456789abcdef").contains("no mapping for address"));
}

#[test]
fn failures_are_those_of_mdb() {
    assert_eq!(error("main/k"), "kcore: invalid format character -- 'k'");
    assert_eq!(error("1="), "kcore: expected one or more format characters following '='");
    assert_eq!(error("8/X"), "kcore: failed to read data from target: no mapping for address 8");
    let physical = "kcore: failed to read data from target: operation not supported by target";
    assert_eq!(error("main\\X"), physical);
    assert_eq!(error("main@X"), physical);
    let at = value("main");
    let expected =
        format!("kcore: failed to write 5 at address {at:#x}: target is not open for writing");
    assert_eq!(error("main/W 5"), expected);
    assert_eq!(error("main/w"), "kcore: expected value following w");
}

#[test]
fn lists_without_values_do_not_fill_memory() {
    let out = text("1,20=4096n");
    assert_eq!(out, "\n".repeat(0x20 * 4096));
    assert_eq!(text("1,40=4096r").trim_end_matches([' ', '\n']), "");
    assert!(text("1,40=4096r").lines().count() > 1);
    assert!(error("1,ffffffff=X").contains("is too high"));
}

#[test]
fn the_letters_are_listed() {
    let out = text("::formats");
    for line in ["X - hexadecimal int (4 bytes)", "s - raw string (variable size)", "n - newline"] {
        assert!(out.lines().any(|it| it == line), "{line}");
    }
    assert_eq!(json("::formats").len(), out.lines().count());
}
