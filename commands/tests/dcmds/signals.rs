//! What stacks show where a handler of signals was called.

use serde_json::{Value, json};

use crate::harness::{Opened, open};

/// The lines of a stack that stand for the code to which handlers return, and those frames.
fn taken(opened: &Opened) -> (Vec<String>, Vec<Value>) {
    let text = opened.text("::stack");
    let lines = text.lines().filter(|line| line.starts_with('<')).map(str::to_owned).collect();
    let mut frames = opened.one("::stack")["frames"].take().as_array().expect("a list").clone();
    frames.retain(|frame| frame["kind"] == "trampoline");
    (lines, frames)
}

/// The kernel tells a handler with `SA_SIGINFO` of its signal, with every C library and on every machine.
#[test]
fn the_signal_that_a_handler_was_told_of_stands_in_the_stack() {
    for variant in [
        "O0-pie",
        "O2-static",
        "O2-musl-pie",
        "O2-musl-static",
        "O2-aarch64-pie",
        "O0-aarch64-static",
    ] {
        let opened = open("signal-told", variant);
        let (lines, frames) = taken(&opened);
        assert_eq!(lines, ["<signal SIGSEGV>", "<signal SIGUSR1>"], "{variant}");
        let signals: Vec<&Value> = frames.iter().map(|frame| &frame["signal"]).collect();
        let fault =
            json!({"number": 11, "name": "SIGSEGV", "code": "SEGV_MAPERR", "address": "0x8"});
        let sent = json!({"number": 10, "name": "SIGUSR1", "code": "SI_TKILL", "address": null});
        assert_eq!(signals, [&fault, &sent], "{variant}");
        let shown = opened.text("::stacks");
        assert!(shown.contains("\n                 <signal SIGSEGV>\n"), "{variant}: {shown}");
    }
}

/// Of a handler that was told nothing, only a fault that would happen again is known. musl's code to which
/// handlers return has no name, and lies behind a function without a size.
#[test]
fn a_signal_that_nothing_tells_is_not_named() {
    for variant in ["O2-pie", "O2-musl-pie", "O2-aarch64-pie"] {
        let (lines, frames) = taken(&open("signal-handler", variant));
        assert_eq!(lines, ["<signal handler called>"], "{variant}");
        assert!(frames[0]["signal"].is_null(), "{variant}");
        let function = frames[0]["function"].as_str();
        assert!(
            matches!(function, None | Some("__restore_rt" | "__kernel_rt_sigreturn")),
            "{variant}"
        );
    }
    let (lines, frames) = taken(&open("altstack", "O2-pie"));
    assert_eq!(lines, ["<signal SIGSEGV>"]);
    let fault = json!({"number": 11, "name": "SIGSEGV", "code": null, "address": "0x8"});
    assert_eq!(frames[0]["signal"], fault);
}
