//! `::sizeof`, `::offsetof`, `::enum`, `::list`, `::array` and `::printf`.

use serde_json::json;

use crate::harness::{Opened, open, run_on};

fn nodes() -> Opened {
    open("nodes", "O0-musl-static")
}

#[test]
fn sizes_are_those_of_the_program() {
    let nodes = nodes();
    assert_eq!(nodes.text("::sizeof struct node"), "sizeof (struct node) = 0x50\n");
    assert_eq!(nodes.text("::sizeof struct node | ::map ."), "0x50\n");
    assert_eq!(nodes.one("::sizeof struct node[3]")["size"], 240);
    assert_eq!(nodes.error("5::sizeof int"), "kcore: ::sizeof takes no address");
    assert_eq!(nodes.error("::sizeof struct"), "kcore: struct is not a valid type");
    let cpp = open("values-cpp", "O0-pie");
    let template = run_on(&cpp.core, "::sizeof std::vector");
    assert!(
        template.errors.starts_with("kcore: note: std::vector stands for std::vector<"),
        "{}",
        template.errors
    );
}

#[test]
fn offsets_end_at_pointers() {
    let nodes = nodes();
    assert_eq!(
        nodes.text("::offsetof struct node n_next"),
        "offsetof (struct node, n_next) = 0x10, sizeof (...->n_next) = 8\n"
    );
    let bits = nodes.one("::offsetof struct request retries");
    assert_eq!((&bits["offset"], &bits["bit"]), (&json!(16), &json!(1)));
    assert_eq!(nodes.text("::offsetof struct node n_pts[1].y | ::map ."), "0x4c\n");
    assert_eq!(
        nodes.error("::offsetof struct node n_next->n_id"),
        "kcore: failed to find member n_next->n_id of type struct node: it leads through a pointer"
    );
    assert_eq!(
        nodes.error("::offsetof struct node zz"),
        "kcore: failed to find member zz of type struct node: no such member of structure or union"
    );
}

#[test]
fn enumerations_are_listed_and_decoded() {
    let nodes = nodes();
    let names = nodes.json("::enum kind");
    let names: Vec<_> = names.iter().map(|row| (&row["name"], &row["value"])).collect();
    let expected = [("NODE_LEAF", 1), ("NODE_DIR", 2), ("NODE_LINK", 3)];
    let expected = expected.map(|(name, value)| (json!(name), json!(value)));
    assert_eq!(names, expected.iter().map(|(name, value)| (name, value)).collect::<Vec<_>>());
    assert_eq!(nodes.text("::enum perm 3"), "   VALUE NAME\n       3 READ|WRITE\n");
    assert_eq!(nodes.text("3::enum perm"), nodes.text("::enum perm 3"));
    assert_eq!(nodes.text("::enum -e kind 2"), "      VALUE NAME\n          2 DIR\n");
    assert_eq!(nodes.text("::enum -x kind 2"), "   VALUE NAME\n       2 NODE_DIR\n");
    assert_eq!(nodes.text("::enum kind | ::map .+1"), "2\n3\n4\n");
    assert_eq!(nodes.error("::enum kind ZZ"), "kcore: name \"ZZ\" not in 'enum kind'");
    assert_eq!(nodes.error("::enum kind 99"), "kcore: value 0t153 not in 'enum kind'");
    assert_eq!(nodes.error("::enum int"), "kcore: 'int': not an enumeration");
}

#[test]
fn lists_and_arrays_give_addresses() {
    let nodes = nodes();
    assert_eq!(
        nodes.text("first::list struct node n_next | ::print struct node n_id"),
        "n_id = 0x2a\nn_id = 0x2b\nn_id = 0x2c\n"
    );
    assert_eq!(nodes.json("first::list $[10]").len(), 3);
    assert_eq!(nodes.error("first::list struct node n_id"), "kcore: n_id is not a pointer: int");
    let broken = run_on(&nodes.core, "10::list struct node n_next");
    assert_eq!(broken.out, "0x10\n");
    assert!(broken.errors.ends_with("next pointer from object 10: no mapping for address\n"));
    assert_eq!(nodes.text("hashtab::array | ::count"), "128\n");
    assert_eq!(nodes.text("hashtab::array struct bucket 3 | ::map .-hashtab"), "0\n0x10\n0x20\n");
    assert_eq!(
        nodes.error("first::array"),
        "kcore: no symbol information for first: struct node is not an array of known length"
    );
    assert_eq!(nodes.error("hashtab::array void 3"), "kcore: void has no size");
    assert_eq!(
        nodes.error("10::array"),
        "kcore: no symbol information for 0x10: no symbol corresponds to address"
    );
    assert_eq!(nodes.error("::array"), "kcore: ::array needs an address");
}

#[test]
fn formats_show_members() {
    let nodes = nodes();
    assert_eq!(
        nodes.text("first::list struct node n_next | ::printf \"%d %s|\" struct node n_id n_tag"),
        "42 leaf|43 |44 fulltext|\n"
    );
    assert_eq!(nodes.one("first::printf \"%x\\n\" struct node n_id")["text"], "2a\n");
    for (words, why) in [
        ("\"%d\" struct node n_id n_kind", "missing format specifiers (found 1, expected 2)"),
        ("\"%d%d\" struct node n_id", "extra format specifiers (found 2, expected 1)"),
        ("\"%k\" struct node n_id", "illegal format string at or near 'k' (position 2)"),
        ("\"%d\" struct node n_name", "expected integer type"),
        ("\"%s\" struct node n_id", "expected pointer or array type"),
        ("\"%s\" struct node .", "expected integer or pointer format specifier for '.'"),
        ("\"%d\" struct node", "at least one member must be specified"),
        ("", "expected a format string"),
    ] {
        assert_eq!(nodes.error(&format!("first::printf {words}")), format!("kcore: {why}"));
    }
    assert_eq!(
        nodes.error("10::printf \"%d\" struct node n_id"),
        "kcore: failed to read 4 bytes at 10: no mapping for address"
    );
    assert_eq!(nodes.error("::printf \"%d\" int ."), "kcore: ::printf needs an address");
}
