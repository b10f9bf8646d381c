//! `::auxv`, `::args`, `::env`, `$l`, `$L`, `::psinfo`, `::showrev`, `::xdata`.

use std::process::Command;

use crate::harness::{case, core, error, hex, json, one, text, value};

#[test]
fn the_auxiliary_vector_has_names_and_meanings() {
    let records = json("::auxv");
    assert_eq!(records.len(), core().process().auxv().len());
    let entry = |name: &str| {
        records.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name} is listed"))
    };
    assert_eq!(entry("AT_PAGESZ")["value"], "0x1000");
    assert_eq!(entry("AT_ENTRY")["symbol"]["symbol"], "_start");
    assert_eq!(hex(&entry("AT_ENTRY")["value"]), value("_start"));
    assert_eq!(entry("AT_PLATFORM")["text"], std::env::consts::ARCH);
    assert!(text("::auxv").contains("AT_EXECFN"));
}

#[test]
fn arguments_are_read_from_the_stack() {
    let argument = one("::args");
    assert_eq!((&argument["index"], &argument["value"]), (&0.into(), &"./leaf".into()));
    assert_eq!(text("::args"), "argv[0] = ./leaf\n");
    assert_eq!(text(&format!("{:x}=n; {:x}/s", 0, hex(&argument["address"]))).lines().count(), 2);
}

#[test]
fn variables_are_listed_and_found() {
    let all = json("::env");
    let scenario = all.iter().find(|it| it["name"] == "KCORE_SCENARIO").expect("it was set");
    assert_eq!(scenario["value"], "leaf");
    assert_eq!(text("::getenv KCORE_SCENARIO"), "leaf\n");
    assert_eq!(text("::env NONESUCH"), "");
    assert!(text("::env").contains("KCORE_SCENARIO=leaf\n"));
}

#[test]
fn thread_ids_are_decimal() {
    let tid = core().tids()[0].get();
    assert_eq!(text("$l"), format!("0t{tid}\n"));
    let pid = core().process().pid().unwrap_or_default();
    assert_eq!(text("$L"), format!("lwpid {tid} is the only lwp in core of process {pid}.\n"));
    assert_eq!(one("$L")["lwpids"], serde_json::json!([tid]));
    assert!(error("1::args").contains("takes no address"));
}

#[test]
fn the_note_of_the_process_is_read_whole() {
    let info = one("::psinfo");
    let pid = core().process().pid().expect("a kernel's core names its process");
    let stat = |name: &str| info[name].as_u64().unwrap_or_else(|| panic!("{name}: {info}"));
    assert_eq!(stat("pid"), u64::from(pid));
    // A parent, group or session outside of the process's own pid namespace has the id 0.
    let ids = ["uid", "gid", "pid", "ppid", "pgrp", "sid"].map(|id| format!("{id}: {}", stat(id)));
    let readelf = Command::new("eu-readelf").arg("-n").arg(case().core).output();
    let notes = String::from_utf8(readelf.expect("elfutils are installed").stdout).expect("text");
    assert!(notes.contains(&format!("    {}\n", ids.join(", "))), "{info}\n{notes}");
    let entry = |name: &str| {
        let entry = json("::auxv").into_iter().find(|it| it["name"] == name);
        hex(&entry.expect("the kernel gives it")["value"])
    };
    assert_eq!((stat("uid"), stat("gid")), (entry("AT_UID"), entry("AT_GID")));
    assert_eq!((stat("euid"), stat("egid")), (entry("AT_EUID"), entry("AT_EGID")));
    assert_eq!((&info["fname"], &info["psargs"]), (&"leaf".into(), &"./leaf".into()));
    assert_eq!((&info["state"], &info["nice"]), (&"R".into(), &0.into()));
    let out = text("::psinfo");
    assert!(out.starts_with(&format!("pid    = {pid}\nppid   = ")), "{out}");
    assert!(out.ends_with("state  = R (running)\nnice   = 0\nfname  = leaf\npsargs = ./leaf\n"));
    assert!(text("::psinfo -v").contains("\nsecure = no\nexe    = /"));
}

#[test]
fn the_system_is_told_as_far_as_the_core_knows_it() {
    let out = text("::showrev");
    let kernel = one("::status")["kernel"].as_str().expect("the vdso tells it").to_owned();
    assert!(out.starts_with("Hostname: unknown\nRelease: unknown\nKernel architecture: x86_64\n"));
    assert!(out.contains(&format!("\nKernel version: Linux {kernel}\nPlatform: x86_64\n")));
    let versions = json("::showrev -v");
    let objects = json("::objects");
    let ids = |records: &[serde_json::Value]| -> Vec<serde_json::Value> {
        records.iter().map(|it| it["build_id"].clone()).collect()
    };
    assert_eq!(ids(&versions), ids(&objects));
}

#[test]
fn notes_are_listed_by_type() {
    let notes = json("::xdata");
    let of = |name: &str| notes.iter().find(|it| it["name"] == name).expect("it is there");
    assert_eq!((&of("prstatus")["count"], &of("prstatus")["size"]), (&1.into(), &336.into()));
    assert_eq!(of("prpsinfo")["size"], 136);
    assert_eq!(of("fpregset")["size"], 512);
    let line = "prpsinfo                 - ids, state and arguments of the process (136 bytes)";
    assert!(text("::xdata").lines().any(|it| it == line));
}
