//! What belongs to a thread beside its stack: `::fpregs`, `::tls`, `::errno`.

use std::{process::Command, sync::LazyLock};

use crate::harness::{Opened, hex, open};

static FLOATS: LazyLock<Opened> = LazyLock::new(|| open("fp-registers", "O0-pie"));
static TLS: LazyLock<Opened> = LazyLock::new(|| open("tls", "O2-pie"));

/// The digits of register `index` of the scenario, of so many bytes, highest first.
fn digits(index: usize, width: usize) -> String {
    let bytes = (0..width).rev().map(|byte| (16 * index + byte) as u8);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// How wide the program found the vectors of this machine to be.
fn width() -> usize {
    let output = FLOATS.output();
    let width = output.lines().find_map(|line| line.strip_prefix("width "));
    width.expect("it prints the width").parse().expect("a number")
}

#[test]
fn the_x87_stack_is_that_of_mdb() {
    let out = FLOATS.text("::fpregs");
    let (head, rest) = out.split_once("\nfop    0x").expect("the opcode");
    assert_eq!(
        head,
        "AMD64 (80486 chip with SSE)\n\
         cw     0x037f (IM|DM|ZM|OM|UM|PM|SIG64|RTN)\n\
         sw     0x2000 (TOP=0t4) ()\n"
    );
    let (_, stack) = rest.split_once("\n%st0").expect("the stack");
    assert!(
        stack.starts_with(
            "   0x0000.0000000000000000 = +0.0000000000000000e+00 zero\n\
             %st1   0x3fff.8000000000000000 = +1.0000000000000000e+00 valid\n\
             %st2   0x4000.c90fdaa22168c235 = +3.1415926535897932e+00 valid\n\
             %st3   0xc000.a000000000000000 = -2.5000000000000000e+00 valid\n\
             %st4   0x0000.0000000000000000 = +0.0000000000000000e+00 empty\n"
        ),
        "{stack}"
    );
    assert!(stack.contains(" empty\n\nmxcsr  0x1fa0 (PE|IM|DM|ZM|OM|UM|PM)\n\n%xmm0  0x0f0e0d0c"));
    assert_eq!(out, FLOATS.text("$x; "));
    assert_eq!(FLOATS.text("$X -d"), FLOATS.text("$Y -qs"));
}

#[test]
fn every_vector_has_the_value_that_the_program_gave_it() {
    let out = FLOATS.text("$y");
    for index in 0..16 {
        let name = format!("%xmm{index}");
        assert!(out.contains(&format!("\n{name:6} 0x{}\n", digits(index, 16))), "{name}\n{out}");
    }
    let vectors = FLOATS.one("$x")["vectors"].clone();
    let count = if width() == 64 { 32 } else { 16 };
    for index in 0..count {
        let name = match width() {
            64 => format!("zmm{index}"),
            32 => format!("ymm{index}"),
            _ => format!("xmm{index}"),
        };
        assert_eq!(vectors[index]["name"], name);
        let expected = format!("0x{}", digits(index, width()));
        assert_eq!(vectors[index]["bits"], expected, "{name}");
    }
    if width() >= 32 {
        assert!(out.contains(&format!("\n\n%ymm0  0x{}\n%ymm1 ", digits(0, 32))), "{out}");
    }
}

#[test]
fn wide_vectors_and_masks_are_shown_where_they_are_in_use() {
    if width() < 64 {
        return;
    }
    let (out, all) = (FLOATS.text("$x"), digits(31, 64));
    let (high, low) = all.split_at(64);
    let lines = format!("\n%zmm31 [511:256] 0x{high}\n       [255:0]   0x{low}\n");
    assert!(out.contains(&lines), "{out}");
    assert!(out.contains("\n\n%k0    0x0000000000000000\n%k1    0x0101010101010101\n"), "{out}");
    let masks = FLOATS.one("$x")["masks"].clone();
    assert_eq!(hex(&masks[7]), 0x0707_0707_0707_0707);
    let plain = open("leaf", "O0-musl-static");
    let out = plain.text("$x");
    assert!(out.contains("%xmm15 0x") && !out.contains("%ymm0") && !out.contains("%k1"), "{out}");
}

/// What gdb says of the same core.
#[test]
fn gdb_sees_the_same_registers() {
    let expressions = ["$cs", "$fctrl", "$fstat", "$mxcsr", "$st2"];
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch"]);
    for expression in expressions {
        gdb.args(["-ex", &format!("output/x {expression}"), "-ex", "echo \\n"]);
    }
    let output = gdb.arg(&FLOATS.case.exe).arg(&FLOATS.case.core).output().expect("gdb runs");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = output.lines().filter(|line| line.starts_with("0x")).collect();
    let record = FLOATS.one("$x");
    let said = |at: usize| u64::from_str_radix(lines[at].trim_start_matches("0x"), 16);
    assert_eq!(said(1), Ok(hex(&record["control"])), "{output}");
    assert_eq!(said(2), Ok(hex(&record["status"])), "{output}");
    assert_eq!(said(3), Ok(hex(&record["mxcsr"])), "{output}");
}

#[test]
fn a_core_without_floating_point_registers_says_so() {
    let case = open("leaf", "O2-aarch64-pac");
    let tid = case.core.tids()[0];
    assert_eq!(
        case.error("::fpregs"),
        format!(
            "kcore: failed to get floating point register set: no register set available for \
             thread {tid}"
        )
    );
}

/// What the program printed: `tid name address`.
fn printed(name: &str) -> Vec<(u64, u64)> {
    let output = TLS.output();
    let lines = output.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let named = lines.filter(|words| words[1] == name);
    let number = |text: &str, radix| u64::from_str_radix(text, radix).expect("a number");
    named.map(|words| (number(words[0], 10), number(words[2], 16))).collect()
}

#[test]
fn variables_are_found_by_thread() {
    for (tid, address) in printed("exe_wide") {
        assert_eq!(TLS.text(&format!("0t{tid}::tls exe_wide")), format!("{address:x}\n"));
        let block = hex(&TLS.one(&format!("0t{tid}::tls"))["address"]);
        assert!(block <= address && address - block < 0x80, "{block:x} {address:x}");
    }
    for (tid, address) in printed("late_value") {
        let record = TLS.one(&format!("0t{tid}::tls liblate`late_value"));
        assert_eq!((hex(&record["address"]), &record["tid"]), (address, &tid.into()));
    }
    let all = TLS.json("::walk thread | ::tls exe_small");
    assert_eq!(all.len(), 3);
}

#[test]
fn a_name_in_an_expression_is_that_of_the_current_thread() {
    let current = TLS.core.tids()[0].get();
    for (tid, address) in printed("errno") {
        let line = format!("0t{tid}::thread; libc`errno=K; libc`errno/D");
        let records = TLS.json(&line);
        assert_eq!(hex(&records[1]["value"]), address, "{tid}, the first being {current}");
        assert_eq!(records[2]["value"], TLS.one(&format!("0t{tid}::errno"))["value"]);
    }
    assert_eq!(TLS.text("::tls exe_small; .=K").lines().count(), 2);
    let records = TLS.json("::tls exe_small; .=K");
    assert_eq!(records[0]["address"], records[1]["value"], "dot is set");
}

#[test]
fn errno_has_its_name() {
    let truth = TLS.case.truth().expect("a truth");
    for (role, expected) in [("user", "13 (EACCES)\n"), ("other", "2 (ENOENT)\n")] {
        let thread = truth.threads.iter().find(|it| it.role == role).expect("it is told");
        assert_eq!(TLS.text(&format!("0t{}::errno", thread.tid)), expected);
    }
    assert_eq!(TLS.text("::errno"), "22 (EINVAL)\n");
    assert_eq!(TLS.json("::walk thread | ::errno").len(), 3);
    assert!(TLS.error("1::errno").contains("invalid thread identifier"));
}

#[test]
fn failures_are_those_of_mdb() {
    let truth = TLS.case.truth().expect("a truth");
    let other = truth.threads.iter().find(|it| it.role == "other").expect("it is told").tid;
    assert_eq!(
        TLS.error(&format!("0t{other}::tls late_value")),
        "kcore: failed to lookup late_value: thread local storage has not yet been allocated"
    );
    assert_eq!(TLS.error("::tls main"), "kcore: main does not refer to thread local storage");
    assert_eq!(TLS.error("::tls zz"), "kcore: failed to lookup zz: unknown symbol name");
    assert_eq!(TLS.error("::tls zz`a"), "kcore: failed to lookup zz`a: unknown object file name");
}
