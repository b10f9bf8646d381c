//! Names of symbols without a size, which need not be those of what lies far behind them.

use std::{path::Path, process::Command, sync::Arc};

use kcore::{Core, OpenOptions};

use crate::harness::{json_on, run_on};

/// A label, a page and more of code behind it, and a function with a size.
const PROGRAM: &str = "\
.text
.globl lonely
lonely: .skip 5000, 0x90
        jmp lonely+5001
        .globl known
        .type known, @function
known:  ret
        .skip 5000, 0x90
        .size known, .-known
";

fn program(dir: &Path) -> Arc<Core> {
    let (source, exe) = (dir.join("far.s"), dir.join("far"));
    std::fs::write(&source, PROGRAM).expect("the source can be written");
    let mut gcc = Command::new("gcc");
    gcc.args(["-nostdlib", "-static", "-Wl,-e,lonely", "-o"]).args([&exe, &source]);
    assert!(gcc.status().expect("gcc runs").success());
    let options = OpenOptions { exe: Some(exe), ..OpenOptions::default() };
    Arc::new(Core::open(&options).expect("the program opens"))
}

#[test]
fn a_name_without_a_size_is_marked_beyond_a_page() {
    let dir = tempfile::tempdir().expect("a folder");
    let core = program(dir.path());
    let label = |at: &str| {
        let out = run_on(&core, &format!("{at}::dis -n 0")).out;
        out.split(':').next().unwrap_or_default().trim().to_owned()
    };
    assert_eq!(label("lonely+0t4096"), "lonely+0x1000");
    assert_eq!(label("lonely+0t4097"), "lonely+0x1001 [nearest symbol]");
    assert_eq!(label("known+0t5000"), "known+0x1388");
    let jump = json_on(&core, "lonely+0t5000::dis -n 0").remove(0);
    assert_eq!(jump["target"]["symbol"], "lonely");
    assert_eq!(jump["target"]["nearest"], true);
    let known = json_on(&core, "known::dis -n 0").remove(0);
    assert!(known["target"].is_null(), "{known}");
}
