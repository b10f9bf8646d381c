//! `::objects`, `::nm`, walkers of objects and symbols.

use crate::harness::{case, core, error, hex, json, one, text, value};

#[test]
fn objects_tell_where_their_files_are() {
    let records = json("::objects");
    assert_eq!(records.len(), core().modules().all().len());
    let leaf = records.iter().find(|it| it["name"] == "leaf").expect("the executable is listed");
    assert_eq!(leaf["file_state"], "verified");
    assert_eq!(leaf["file"], case().exe.to_string_lossy().as_ref());
    assert_eq!(leaf["executable"], true);
    assert_eq!((&leaf["namespace"], &leaf["deleted"]), (&0.into(), &false.into()));
    assert_eq!(leaf["tried"], serde_json::json!([]));
    let vdso = records.iter().find(|it| it["name"] == "[vdso]").expect("the vdso is listed");
    assert_eq!((&vdso["file_state"], &vdso["file"]), (&"in_core".into(), &serde_json::Value::Null));
}

#[test]
fn objects_are_picked_by_name_and_address() {
    assert_eq!(one("::objects leaf"), one("main::objects"));
    assert_eq!(one("::objects a.out"), one("main::objects"));
    let verbose = text("::objects -v leaf");
    let id = one("::objects leaf")["build_id"].as_str().map(str::to_owned);
    assert!(verbose.contains(&format!("  build-id  {}\n", id.expect("it has one"))), "{verbose}");
    let expected = "kcore: failed to obtain object: unknown object file name 'zz'";
    assert_eq!(error("::objects zz"), expected);
    assert_eq!(error("8::objects"), "kcore: failed to obtain object: no object holds address 8");
}

#[test]
fn nm_has_the_columns_of_mdb() {
    let main = value("main");
    let expected = "Value              Size               Type  Bind  Other Shndx    Name";
    let out = text("main::nm");
    let (header, line) = out.trim_end().split_once('\n').expect("a header and a line");
    assert_eq!(header, expected);
    assert!(line.starts_with(&format!("0x{main:016x}|0x")), "{line}");
    assert!(line.contains("|FUNC |GLOB |0x0  |") && line.ends_with("|main"), "{line}");
    assert_eq!(text("main::nm -h"), format!("{line}\n"));
}

#[test]
fn nm_shows_the_closest_symbol() {
    assert_eq!(one("main+5::nm")["name"], "main");
    assert_eq!(hex(&one("main+5::nm")["address"]), value("main"));
    let expected = "kcore: no symbol information for 8: no symbol corresponds to address";
    assert_eq!(error("8::nm"), expected);
}

#[test]
fn nm_filters_and_sorts() {
    let names = |line: &str| -> Vec<String> {
        let records = json(line);
        records.iter().map(|it| it["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let functions = json("::nm -t func leaf");
    assert!(!functions.is_empty() && functions.iter().all(|it| it["kind"] == "FUNC"));
    assert!(names("::nm -t func leaf").contains(&"leaf".to_owned()));
    let sorted = names("::nm -n leaf");
    assert!(sorted.is_sorted());
    let values: Vec<_> = json("::nm -v leaf").iter().map(|it| hex(&it["value"])).collect();
    assert!(values.is_sorted());
    let undefined = json("::nm -D -u leaf");
    assert!(!undefined.is_empty());
    assert!(undefined.iter().all(|it| it["section"] == "UNDEF" && it["address"].is_null()));
    assert!(json("::nm -g leaf").iter().all(|it| it["binding"] == "GLOB"));
    assert!(json("::nm").len() > json("::nm leaf").len());
}

#[test]
fn nm_has_other_forms() {
    let main = value("main");
    assert!(text("main::nm -p").starts_with(&format!("{main:#x}::nmadd -f -s 0x")));
    assert!(text("main::nm -d -h -f val,name").contains(&format!("{main:20}|main")));
    assert!(text("main::nm -o -h -f val").contains(&format!("{main:o}")));
    assert!(text("main::nm -f ndx,obj,name").starts_with("Index Object          Name\n"));
    assert_eq!(text("::nm -P"), "");
}

#[test]
fn nm_refuses_what_it_does_not_know() {
    assert_eq!(error("::nm -t zz"), "kcore: invalid symbol type -- 'zz'");
    assert_eq!(error("::nm -f zz"), "kcore: invalid field name -- 'zz'");
    assert_eq!(error("::nm -d -x"), "kcore: only one of -d, -o, -x may be given");
    assert_eq!(error("main::nm -P"), "kcore: -P takes no address and no object");
    assert_eq!(error("::nm zz"), "kcore: failed to get symbols: unknown object file name 'zz'");
}

#[test]
fn walkers_step_over_objects_mappings_and_symbols() {
    let of = |line: &str| -> Vec<u64> { json(line).iter().map(|it| hex(&it["value"])).collect() };
    let bases: Vec<_> = core().modules().all().iter().map(|it| it.base().get()).collect();
    assert_eq!(of("::walk object"), bases);
    let mappings: Vec<_> = core().mappings().iter().map(|it| it.range.start.get()).collect();
    assert_eq!(of("::walk mapping"), mappings);
    assert!(of("main::walk symbol").contains(&value("main")));
    assert_eq!(text("::walk object | ::head -1"), format!("{:#x}\n", bases[0]));
}
