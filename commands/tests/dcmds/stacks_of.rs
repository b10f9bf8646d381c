//! `::findstack`, `::stackinfo`, `::whatthread`, `$?`, `::frame -s`, `::thread`.

use std::sync::{Arc, LazyLock};

use kcore::{Core, OpenOptions};

use crate::harness::{Opened, case, core, error, hex, json, one, open, run, run_on, text, value};

static WORKERS: LazyLock<Opened> = LazyLock::new(|| open("workers", "O2-pie"));

#[test]
fn findstack_is_laid_out_as_mdb_does() {
    let pointers: Vec<String> = text("$C").lines().map(str::to_owned).collect();
    let tid = core().tids()[0];
    let fp = pointers[0].split(' ').next().unwrap_or_default().trim_start_matches('0').to_owned();
    let mut expected = format!("stack pointer for thread {tid}: {fp}\n[ {} ]\n", pointers[0]);
    for line in &pointers[1..] {
        expected.push_str(&format!("  {line}\n"));
    }
    assert_eq!(text(&format!("0t{tid}::findstack -v")), expected);
    assert_eq!(one("::findstack -v"), one("::stack"), "the record is that of a stack");
    let plain: String = text("::findstack -v").lines().map(without_arguments).collect();
    assert_eq!(text("::findstack"), plain);
    let dot = json("::findstack; .=K").last().map(|it| hex(&it["value"]));
    assert_eq!(dot, u64::from_str_radix(&fp, 16).ok(), "dot is at the frame pointer");
}

/// A line of a stack with nothing between the parentheses at its end.
fn without_arguments(line: &str) -> String {
    let (function, rest) = line.rsplit_once('(').map_or((line, ""), |(function, rest)| {
        (function, rest.split_once(')').map_or("", |(_, rest)| rest))
    });
    match line.contains('(') {
        true => format!("{function}(){rest}\n"),
        false => format!("{line}\n"),
    }
}

#[test]
fn a_command_replaces_the_outer_frames() {
    let out = text("::findstack '.=J; .$c'");
    let lines: Vec<&str> = out.lines().collect();
    let fp = lines[0].rsplit(' ').next().unwrap_or_default();
    assert!(lines[1].starts_with(&format!("[ {fp:0>16} leaf+")), "{out}");
    assert_eq!(lines[2].trim(), fp);
    assert!(lines[3].starts_with("sum+0x"), "the caller of the innermost frame: {out}");
    assert!(run("::findstack zz").status.failed());
}

#[test]
fn findstack_finds_threads_by_what_is_on_their_stacks() {
    let all = WORKERS.json("::walk thread | ::findstack");
    assert_eq!(all.len(), WORKERS.core.tids().len());
    let crashed = WORKERS.json("::findstack -c parse_header");
    assert_eq!(crashed.len(), 1);
    assert_eq!(crashed[0]["tid"], WORKERS.core.tids()[0].get());
    assert_eq!(WORKERS.json("::findstack -m libc").len(), all.len());
    let piped = WORKERS.json("::walk thread | ::findstack -c parse_header");
    assert_eq!(piped, crashed);
    assert!(WORKERS.error("::findstack -m zz").ends_with("unknown object file name"));
    assert!(WORKERS.error("1::findstack").contains("invalid thread identifier"));
}

#[test]
fn stacks_are_measured_from_their_stack_pointers() {
    let rows = WORKERS.json("::stackinfo");
    assert_eq!(rows.len(), WORKERS.core.tids().len());
    for row in &rows {
        let tid = row["tid"].as_u64().expect("an id");
        let (start, limit) = (hex(&row["start"]), hex(&row["limit"]));
        let thread = WORKERS.json("::threads").into_iter().find(|it| it["tid"] == tid);
        let sp = hex(&thread.expect("it is listed")["sp"]);
        assert!(start <= sp && sp < limit, "{row}");
        assert_eq!(row["used"].as_u64(), Some(limit - sp));
        assert_eq!(row["size"].as_u64(), Some(limit - start));
    }
    let tid = WORKERS.core.tids()[1];
    assert_eq!(WORKERS.one(&format!("0t{tid}::stackinfo"))["tid"], tid.get());
    assert!(WORKERS.text("::stackinfo").starts_with("  THREAD START"));
}

/// Each frame's return address stands on the stack of its thread, and of no other.
#[test]
fn words_are_found_on_the_stacks_that_hold_them() {
    for tid in WORKERS.core.tids().into_iter().take(3) {
        let stack = WORKERS.one(&format!("0t{tid}::stack"));
        let frame = stack["frames"]
            .as_array()
            .expect("frames")
            .iter()
            .find(|it| it["inline"] == false && it["index"] != 0 && it["trust"] == "cfi");
        let pc = hex(&frame.expect("a caller")["pc"]);
        let places = WORKERS.json(&format!("{pc:x}::whatthread -v"));
        assert!(places.iter().any(|it| it["tid"] == tid.get()), "{pc:x} of {tid}: {places:?}");
        for place in &places {
            let at = hex(&place["address"]);
            let held = WORKERS.one(&format!("{at:x}/K"));
            assert_eq!(hex(&held["value"]), pc);
        }
        let threads = WORKERS.text(&format!("{pc:x}::whatthread"));
        assert!(threads.lines().any(|line| line == format!("0t{tid}")), "{threads}");
    }
    assert_eq!(text("123456789abcdef::whatthread"), "");
}

#[test]
fn the_state_of_the_process_is_its_signal_and_its_registers() {
    let pid = core().process().pid().unwrap_or_default();
    let out = text("$?");
    assert!(
        out.starts_with(&format!("process id = {pid}\nSIGSEGV: Segmentation fault\n%rax = 0x"))
    );
    assert!(out.ends_with(&text("$r")), "{out}");
    assert_eq!(text("$"), out);
    assert_eq!(run_on(&crate::harness::executable(), "$?").out, "no process\n");
}

#[test]
fn an_unknown_thread_is_named_as_it_was_typed() {
    assert_eq!(error("::thread 99999"), "kcore: no thread 99999: invalid thread identifier");
    assert_eq!(error("1::thread"), "kcore: no thread 1: invalid thread identifier");
    let tid = core().tids()[0];
    let expected = format!("(thread ids are decimal: 0t{tid})");
    assert!(error(&format!("{tid}::regs")).ends_with(&expected));
}

/// A copy of the core, with its source file beside it.
fn with_source() -> (tempfile::TempDir, Arc<Core>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("core");
    std::fs::copy(case().core, &path).expect("a copy");
    let source = gen_cores::scenarios_dir().join("leaf/main.c");
    std::fs::copy(source, folder.path().join("main.c")).expect("a copy");
    let options = OpenOptions { core: Some(path), ..OpenOptions::default() };
    (folder, Arc::new(Core::open(&options).expect("the copy opens")))
}

#[test]
fn source_text_is_shown_round_the_line() {
    let (folder, core) = with_source();
    let source = std::fs::read_to_string(folder.path().join("main.c")).expect("it is there");
    let source: Vec<&str> = source.lines().collect();
    let records = crate::harness::json_on(&core, "::frame -s -n 2");
    let line = records[0]["line"].as_u64().expect("the frame has a line") as usize;
    assert_eq!(records.len(), 1 + 5);
    for (record, number) in records[1..].iter().zip(line - 2..) {
        assert_eq!(record["line"].as_u64(), Some(number as u64));
        assert_eq!(record["text"], source[number - 1], "{number}");
        assert_eq!(record["current"], number == line);
        assert_eq!(record["path"], folder.path().join("main.c").to_string_lossy().into_owned());
    }
    let out = run_on(&core, "::frame -s -n 0").out;
    let text = source[line - 1].replace('\t', "        ");
    assert!(out.ends_with(&format!("\n> {line:>6}  {text}\n")), "{out}");
    assert_eq!(run_on(&core, "::frame -s").out.lines().count(), 2 + 11);
    assert_eq!(run_on(&core, "::frame -s -n 9999").out.lines().count(), 2 + source.len());
}

#[test]
fn a_source_file_that_is_not_at_hand_is_said() {
    let outcomes = run("::frame -s");
    let file = one("::frame")["file"].as_str().expect("it is known").to_owned();
    let expected = format!("kcore: failed to find source file {file}: {file}: not found, ");
    assert!(outcomes.errors.starts_with(&expected), "{}", outcomes.errors);
    assert!(outcomes.errors.trim_end().ends_with("/main.c: not found"), "{}", outcomes.errors);
    assert!(outcomes.out.starts_with(&text("::frame")), "the frame itself is shown");
    assert!(error("::frame -s -n x").contains("invalid number of lines -- x"));
    let _ = value("main");
}

#[test]
fn a_pipe_of_threads_shows_them_and_chooses_none() {
    let tids = core().tids();
    let shown = json("::walk thread | ::thread");
    let shown: Vec<_> = shown.iter().map(|row| row["tid"].as_u64().unwrap()).collect();
    assert_eq!(shown, tids.iter().map(|tid| u64::from(tid.get())).collect::<Vec<_>>());
    assert_eq!(
        text("::walk thread | ::thread; $l"),
        text("::walk thread | ::thread") + &text("$l")
    );
}

#[test]
fn a_filter_that_nothing_passes_says_so() {
    let outcomes = run("::stacks -c no_such_function");
    assert_eq!((outcomes.out.as_str(), outcomes.status.failed()), ("", false));
    assert_eq!(outcomes.errors, "kcore: note: no thread matches\n");
}

#[test]
fn names_of_cpp_are_typed_as_they_are_printed() {
    let cpp = open("cpp", "O2-pie");
    let shown = |line: &str| run_on(&cpp.core, line);
    let quoted = shown("\"shop::Till::count\"::dis -n 0");
    assert!(quoted.out.starts_with("shop::Till::count:"), "{} {}", quoted.out, quoted.errors);
    assert_eq!(shown("::dis -n 0 shop::Till::count").out, quoted.out);
    assert_eq!(
        shown("::dis -n 0 shop::Till::count+4").out,
        shown("\"shop::Till::count\"+4::dis -n 0").out
    );
    assert_eq!(shown("shop::Till::count::dis -n 0").out, quoted.out);
    let wrong = shown("::dis shop::Till::nothing");
    let why = "kcore: failed to dereference symbol 'shop::Till::nothing': unknown symbol name";
    assert_eq!(wrong.errors.lines().next(), Some(why));
}
