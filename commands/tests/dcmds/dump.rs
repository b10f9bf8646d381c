//! `::dump`, letter by letter: on the ELF header of the executable, whose bytes are known, and which the
//! kernel dumps with every core.

use crate::harness::{case, core, error, hex, json, one, run, text, value};

/// Where the header lies.
fn base() -> u64 {
    core().modules().exe().expect("there is an executable").base().get()
}

/// The first bytes of the executable's file.
fn bytes() -> Vec<u8> {
    std::fs::read(case().exe).expect("the executable can be read")[..0x40].to_vec()
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The header line over addresses of twelve digits, the first column marked.
const HEADER: &str = "               \\/ 1 2 3  4 5 6 7  8 9 a b  c d e f  v123456789abcdef\n";
/// The identification of a 64-bit little-endian file.
const IDENT: &str = "7f454c46 02010100 00000000 00000000";

#[test]
fn one_byte_is_one_line() {
    let base = base();
    let expected = format!("{HEADER}{base:x}:  {IDENT}  .ELF............\n");
    assert_eq!(text(&format!("{base:x}::dump")), expected);
    assert_eq!(text(&format!("{base:x},10::dump")), expected);
    assert_eq!(text(&format!("{base:x}::dump -l 10")), expected);
    assert_eq!(text(&format!("{base:x}::dump -f")), expected, "the file has the same header");
    assert_eq!(text(&format!("{base:x}::dump -g 3")), expected, "no power of two: four");
    assert_eq!(text(&format!("{base:x}::dump -g 40")), expected, "longer than a line: four");
}

#[test]
fn the_address_is_marked_within_its_line() {
    let base = base();
    let marked = "                0 1 2 3  4\\/ 6 7  8 9 a b  c d e f  01234v6789abcdef\n";
    let expected = format!("{marked}{base:x}:  {IDENT}  .ELF............\n");
    assert_eq!(text(&format!("{:x},2::dump", base + 5)), expected);
}

#[test]
fn groups_may_have_other_sizes() {
    let base = base();
    let of = |group: &str| text(&format!("{base:x}::dump -q -g {group}"));
    let eight = "               \\/ 1 2 3 4 5 6 7  8 9 a b c d e f\n";
    assert_eq!(of("8"), format!("{eight}{base:x}:  7f454c4602010100 0000000000000000\n"));
    let one = "               \\/  1  2  3  4  5  6  7   8  9  a  b  c  d  e  f\n";
    let single = "7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00";
    assert_eq!(of("1"), format!("{one}{base:x}:  {single}\n"));
    let sixteen = "               \\/ 1 2 3 4 5 6 7 8 9 a b c d e f\n";
    assert_eq!(of("16"), format!("{sixteen}{base:x}:  7f454c46020101000000000000000000\n"));
}

#[test]
fn lines_may_begin_anywhere_and_be_counted_from_zero() {
    let base = base();
    let header = "                4 5 6 7  8 9 a b  c d e f  0 1 2 3  456789abcdef0123\n";
    let line = format!("02010100 00000000 00000000 {}", digits(&bytes()[0x10..0x14]));
    // The type of the file and its machine, 3 and 0x3e, end the line.
    let expected = format!("{header}{:x}:  {line}  ..............>.\n", base + 4);
    assert_eq!(text(&format!("{:x},10::dump -u", base + 4)), expected);
    let relative = text(&format!("{:x},18::dump -r -q", base + 4));
    let expected = format!(
        "      0 1 2 3  4 5 6 7  8 9 a b  c d e f\n00:  {line}\n10:  {} {} {} {}\n",
        digits(&bytes()[0x14..0x18]),
        digits(&bytes()[0x18..0x1c]),
        digits(&bytes()[0x1c..0x20]),
        digits(&bytes()[0x20..0x24]),
    );
    assert_eq!(relative, expected);
}

#[test]
fn groups_are_numbers_where_asked() {
    let base = base();
    let swapped = text(&format!("{base:x}::dump -e"));
    assert_eq!(swapped, format!("{base:x}:  464c457f 00010102 00000000 00000000\n"));
    let long = text(&format!("{base:x}::dump -e -g 8"));
    assert_eq!(long, format!("{base:x}:  00010102464c457f 0000000000000000\n"));
    // Whole groups only: of seven bytes, four.
    let whole = text(&format!("{base:x},7::dump -e -t"));
    assert_eq!(whole, format!("{base:x}:  464c457f\n"));
}

#[test]
fn only_the_bytes_asked_for_where_asked() {
    let base = base();
    let marked = "                0 1 2 3  4\\/ 6 7  8 9 a b  c d e f  01234v6789abcdef\n";
    let blank = format!("{base:x}:           {:2}0101{:2} {:8} {:8}  {:5}..", "", "", "", "", "");
    assert_eq!(text(&format!("{:x},2::dump -t", base + 5)), format!("{marked}{blank}\n"));
}

#[test]
fn lines_may_be_wider_and_addresses_full() {
    let base = base();
    let wide = text(&format!("{base:x},20::dump -w 2 -q"));
    let mut lines = wide.lines();
    let header =
        "               \\/ 1 2 3  4 5 6 7  8 9 a b  c d e f  0 1 2 3  4 5 6 7  8 9 a b  c d e f";
    assert_eq!(lines.next(), Some(header));
    let groups: Vec<_> = bytes()[..0x20].chunks(4).map(digits).collect();
    assert_eq!(lines.next(), Some(format!("{base:x}:  {}", groups.join(" ")).as_str()));
    let full = text(&format!("{base:x}::dump -v -q"));
    assert!(full.ends_with(&format!("\n{base:016x}:  {IDENT}\n")), "{full}");
}

#[test]
fn lines_that_repeat_are_one_star() {
    let base = hex(&one("<rsp::mappings")["base"]);
    let zeros = "00000000 00000000 00000000 00000000";
    let shown = text(&format!("{base:x},40::dump -s -q"));
    let (_, lines) = shown.split_once('\n').expect("a header stands before the lines");
    assert_eq!(lines, format!("{base:x}:  {zeros}\n*\n"));
}

#[test]
fn dot_is_left_behind_what_was_asked_for() {
    let base = base();
    assert_eq!(value(&format!("{base:x}")), base);
    for (line, dot) in [
        ("::dump", 1),
        (",7::dump", 7),
        ("::dump -l 20", 20),
        ("::dump -l 0x20", 0x20),
        (",0::dump", 0),
    ] {
        let records = json(&format!("{base:x}{line}; .=K"));
        let last = records.last().expect("dot is shown");
        assert_eq!(hex(&last["value"]), base + dot, "{line}");
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    assert_eq!(error("10::dump"), "kcore: failed to read data at 0x10: no mapping for address");
    let expected = "kcore: failed to read data at 0x8: operation not supported by target";
    assert_eq!(error("8::dump -p"), expected);
    assert_eq!(error("8::dump -p -f"), "kcore: only one of -f and -p may be specified");
    assert_eq!(error("8::dump -w 17"), "kcore: invalid number of paragraphs -- 17");
    let limit = hex(&one("<rsp::mappings")["limit"]);
    let outcomes = run(&format!("{:x},40::dump -q", limit - 8));
    assert_eq!(outcomes.out.lines().count(), 2, "{}", outcomes.out);
    let expected = format!("kcore: failed to read data at {limit:#x}: no mapping for address\n");
    assert_eq!(outcomes.errors, expected);
}
