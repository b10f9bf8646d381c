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

#[test]
fn nm_has_all_columns_of_mdb() {
    let main = value("main");
    let size = one("main::nm")["size"].as_u64().expect("it has a size");
    let header = format!("Index Object          {:50} CTF ID    Name\n", "C Type");
    let out = text("main::nm -f ndx,obj,ctype,ctfid,name");
    let (shown, line) = out.split_at(header.len());
    assert_eq!(shown, header);
    assert!(
        line.ends_with(&format!("|exec           |{:50}|{:9}|main\n", "<unknown type>", "")),
        "{line}"
    );
    let fields = text("main::nm -h -f val,sz,type,bind,oth");
    assert_eq!(
        fields.trim_end_matches('\n'),
        format!("0x{main:016x}|0x{size:016x}|FUNC |GLOB |0x0  |")
    );
    assert_eq!(text("main::nm -h -f size"), text("main::nm -h -f sz"));
}

#[test]
fn nm_lists_private_symbols_and_finds_them_first() {
    let add = "1000::nmadd -f -s 20 mine; 2000::nmadd -o -e 2008 yours; 10::nmadd third";
    let out =
        text(&format!("{add}; ::nm -P")).lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        out,
        [
            "Value              Size               Type  Bind  Other Shndx    Name",
            "0x0000000000001000|0x0000000000000020|FUNC |GLOB |0x0  |ABS     |mine",
            "0x0000000000000010|0x0000000000000000|NOTY |GLOB |0x0  |ABS     |third",
            "0x0000000000002000|0x0000000000000008|OBJT |GLOB |0x0  |ABS     |yours",
        ]
    );
    let last = |line: &str| {
        let out = text(&format!("{add}; {line}"));
        out.lines()
            .skip(3)
            .map(|line| line.rsplit('|').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(last("::nm -P -h -v"), ["third", "mine", "yours"]);
    assert_eq!(last("::nm -P -h -t func,objt"), ["mine", "yours"]);
    assert_eq!(last("1010::nm -h"), ["mine"]);
    assert_eq!(last("::nm -P -h -u"), Vec::<String>::new());
}

#[test]
fn nm_writes_commands_that_can_be_read_back() {
    let out = text("100a::nmadd -f -s 1f mine; ::nm -P -p");
    assert_eq!(out.lines().last(), Some("0x100a::nmadd -f -s 0x1f mine"));
    let commands = text("::nm -p -t func,objt leaf");
    assert!(commands.lines().any(|line| line.ends_with(" main")), "{commands}");
    let again = text(&format!("{commands}::nm -P -p"));
    let mut before: Vec<_> = commands.lines().collect();
    let mut after: Vec<_> = again.lines().filter(|line| line.contains("::nmadd ")).collect();
    before.sort_unstable();
    after.sort_unstable();
    before.dedup_by_key(|line| line.rsplit(' ').next());
    after.dedup_by_key(|line| line.rsplit(' ').next());
    assert_eq!(after.len(), before.len());
    assert!(after.iter().all(|line| before.contains(line)), "{before:?} {after:?}");
}

#[test]
fn externs_show_the_word_at_each_global() {
    let (main, word) = (value("main"), value("*main"));
    let out = text("$e");
    assert!(out.lines().any(|line| line == format!("main({main:x}):\t{word:x}")), "{out}");
    assert!(out.lines().all(|line| line.contains("):\t")));
    let globals =
        json("::nm -g -t func,objt leaf").iter().filter(|it| !it["address"].is_null()).count();
    let records = json("$e");
    assert_eq!(records.iter().filter(|it| it["object"] == "leaf").count(), globals);
    let radix = text("0t10$d; $e");
    assert!(radix.lines().any(|line| line == format!("main({main}):\t{word}")));
}
