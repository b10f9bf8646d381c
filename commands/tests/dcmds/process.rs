//! `::auxv`, `::args`, `::env`, `$l`, `$L`.

use crate::harness::{core, error, hex, json, one, text, value};

#[test]
fn the_auxiliary_vector_has_names_and_meanings() {
    let records = json("::auxv");
    assert_eq!(records.len(), core().auxv().len());
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
    let pid = core().pid().unwrap_or_default();
    assert_eq!(text("$L"), format!("lwpid {tid} is the only lwp in core of process {pid}.\n"));
    assert_eq!(one("$L")["lwpids"], serde_json::json!([tid]));
    assert!(error("1::args").contains("takes no address"));
}
