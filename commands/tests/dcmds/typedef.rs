//! Types that a session makes, and the list of all that are known.

use crate::harness::{error, json, open, text};

/// The name, size and declaration of each type that a session has after `commands`.
fn types_after(commands: &str) -> Vec<(String, Option<u64>, String)> {
    let records = json(&format!("{commands}; ::typedef -l"));
    let types = records.iter().filter(|record| record["type"] == "session_type");
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    types.map(|ty| (word(&ty["name"]), ty["size"].as_u64(), word(&ty["declaration"]))).collect()
}

#[test]
fn a_type_gets_a_name() {
    let types = types_after("::typedef unsigned long ulong_t; ::typedef char * [4] names_t");
    let declared: Vec<_> =
        types.iter().map(|(name, size, text)| (&**name, *size, &**text)).collect();
    assert_eq!(
        declared,
        [
            ("names_t", Some(32), "typedef char *names_t[4];"),
            ("ulong_t", Some(8), "typedef long unsigned int ulong_t;"),
        ]
    );
    assert_eq!(text("::typedef int a_t; ::typedef a_t b_t; ::typedef -l"), "a_t\nb_t\n");
}

#[test]
fn structures_are_laid_out_for_the_machine() {
    let types = types_after("::typedef \"struct { int a; char *b[4]; }\" foo_t");
    assert_eq!(types[0].1, Some(40));
    let types =
        types_after("::typedef -c ILP32; ::typedef \"struct { int a; char *b[4]; }\" foo_t");
    assert_eq!(types[0].1, Some(20));
    let types = types_after("::typedef \"struct own { struct own *next; short s; }\"");
    assert_eq!((&*types[0].0, types[0].1), ("struct own", Some(16)));
}

#[test]
fn names_are_given_once_and_taken_back() {
    assert_eq!(error("::typedef int a_t; ::typedef long a_t"), "kcore: a_t already exists");
    assert_eq!(error("::typedef -d a_t"), "kcore: a_t does not exist");
    assert_eq!(
        text("::typedef int a_t; ::typedef int b_t; ::typedef -d a_t; ::typedef -l"),
        "b_t\n"
    );
    assert_eq!(text("::typedef int a_t; ::typedef -d; ::typedef -l"), "");
}

#[test]
fn what_is_no_type_is_said() {
    assert_eq!(
        error("::typedef struct nowhere a_t"),
        "kcore: failed to look up type struct nowhere: no type found corresponding to name"
    );
    assert_eq!(
        error("::typedef \"struct { void v; }\" a_t"),
        "kcore: failed to look up type struct { void v; }: void has no size"
    );
    // A parameter's structure has no name by which the type could be read again.
    assert!(error("::typedef \"int (struct new_one { int a; })\" a_t").contains("no type found"));
    assert!(error("::typedef int 5").contains("invalid type name -- 5"));
    assert!(error("::typedef -c LLP64").contains("invalid data model -- LLP64 (LP64 or ILP32)"));
    assert!(
        error("::typedef -dl")
            .contains("only one of -d, -l, -r and -w may be given, and no new type with it")
    );
}

#[test]
fn a_file_keeps_them_for_another_session() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("types.h");
    let path = path.to_str().unwrap();
    let made = "::typedef \"struct own { struct own *next; char name[16]; }\"; \
                ::typedef struct own * own_p";
    text(&format!("{made}; ::typedef -w {path}"));
    assert_eq!(types_after(&format!("::typedef -r {path}")), types_after(made));
    let more = "typedef struct pair { int a, b; } pair_t, *pair_p;\ntypedef pair_t pairs_t[3];";
    std::fs::write(path, more).unwrap();
    let types = types_after(&format!("::typedef -r {path}"));
    let sizes: Vec<_> = types.iter().map(|(name, size, _)| (&**name, size.unwrap())).collect();
    assert_eq!(sizes, [("pair_p", 8), ("pair_t", 8), ("pairs_t", 24), ("struct pair", 8)]);
    assert_eq!(
        error("::typedef -r /nowhere/types.h"),
        "kcore: failed to read types from /nowhere/types.h: no such file or directory"
    );
}

#[test]
fn all_types_are_listed_with_the_session_s_last() {
    let nodes = open("nodes", "O0-musl-static");
    let listed = nodes.text("::typedef int zz_t; ::typelist");
    let names: Vec<_> = listed.lines().collect();
    for name in ["struct node", "enum kind", "in_addr_t", "long unsigned int", "struct tree"] {
        assert_eq!(names.iter().filter(|listed| **listed == name).count(), 1, "{name}");
    }
    assert_eq!(names.last(), Some(&"zz_t"));
    assert!(names[..names.len() - 1].is_sorted());
    let node = nodes.json("::typelist nodes");
    let node = node.iter().find(|record| record["name"] == "struct node").unwrap();
    assert_eq!((&node["object"], &node["size"]), (&"nodes".into(), &0x50.into()));
    assert_eq!(
        error("::typelist nowhere.so"),
        "kcore: failed to obtain object: unknown object file name 'nowhere.so'"
    );
}
