//! Printers of one's own: `::load`, `::unload`, and what values then look like.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::{Opened, open, run_on};

fn nodes() -> Opened {
    open("nodes", "O0-musl-static")
}

/// A file of printers in a folder of its own.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("printers");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the file can be written");
    path
}

const NODES: &str = "\
[[type]]
name = 'bucket'
list = { head = 'b_head', next = 'n_next', value = '*this' }

[[type]]
name = 'node'
when = 'n_name'
words = '{n_id}: {n_name,s}'

[[type]]
name = 'node'
words = 'no name: {n_id}'

[[type]]
name = 'tree'
tree = { head = 'this', left = 'left', right = 'right', value = 'key' }
";

#[test]
fn a_printer_shows_what_its_file_says_and_paths_lead_into_it() {
    let nodes = nodes();
    let load = format!("::load {}", file("nodes.kcore", NODES).display());
    let shown = |line: &str| nodes.text(&format!("{load}; {line}"));
    let bucket = shown("::print hashtab[2]");
    assert!(bucket.contains("<42: \"first\">") && bucket.contains("<no name: 44>"), "{bucket}");
    let second = shown("::print hashtab[2][1]");
    assert!(second.contains("<43: \"second\\tnode\">"), "{second}");
    let records = nodes.json(&format!("{load}; ::print -d root"));
    let keys = &records[0]["value"]["children"];
    let keys: Vec<_> = keys.as_array().into_iter().flatten().map(|key| &key["value"]).collect();
    assert_eq!(
        keys,
        [1, 2, 3, 4, 5, 6]
            .iter()
            .map(|key| json!(key))
            .collect::<Vec<_>>()
            .iter()
            .collect::<Vec<_>>()
    );
    assert!(shown("::print -r root").contains("left = "), "-r asks no printer");
}

#[test]
fn what_does_not_fit_is_said_once_with_its_line() {
    let nodes = nodes();
    let path = file("wrong.kcore", "[[type]]\nname = 'node'\nsame = 'n_nothing'\n");
    let outcomes =
        run_on(&nodes.core, &format!("::load {}; ::print first; ::print second", path.display()));
    assert!(!outcomes.status.failed());
    assert!(outcomes.out.contains("n_id = 0x2a"), "{}", outcomes.out);
    let told: Vec<_> = outcomes.errors.lines().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("wrong.kcore:3: n_nothing: "), "{told:?}");
}

#[test]
fn files_are_listed_loaded_again_and_dropped() {
    let nodes = nodes();
    let path = file(
        "list.natvis",
        "<AutoVisualizer><Type Name='a'><Expand><CustomListItems><Nothing/></CustomListItems>\
        <Item Name='b'>c</Item></Expand></Type></AutoVisualizer>",
    );
    let path = path.display();
    let outcomes = run_on(&nodes.core, &format!("::load {path}; ::load {path}; ::load"));
    let listed = outcomes.out.lines().filter(|line| line.contains("list.natvis"));
    let listed: Vec<_> = listed.flat_map(str::split_whitespace).collect();
    assert_eq!(listed, ["1", "0", "0", "1", &path.to_string()]);
    let told = "list.natvis: 1 part is left out: line 1: CustomListItems";
    assert!(outcomes.errors.contains(told), "{}", outcomes.errors);
    let dropped = nodes.json(&format!("::load {path}; ::unload {path}; ::load"));
    assert!(dropped.iter().all(|file| file["name"] != path.to_string()), "{dropped:?}");
    assert_eq!(
        nodes.error("::unload none.kcore"),
        "kcore: failed to unload none.kcore: specified module is not loaded"
    );
}

#[test]
fn a_file_that_is_none_is_an_error_with_its_line() {
    let nodes = nodes();
    let path = file("broken.kcore", "[[type]]\nname = 'node'\n\nsmae = 'n_nothing'\n");
    let error = nodes.error(&format!("::load {}", path.display()));
    assert!(error.starts_with("kcore: failed to load "), "{error}");
    assert!(error.contains("broken.kcore: line 4, column 1: unknown field `smae`"), "{error}");
    std::fs::write(&path, b"# text\n\xff\xfe[\0").expect("the file can be written");
    let error = nodes.error(&format!("::load {}", path.display()));
    assert!(error.ends_with("broken.kcore: line 2: a byte that is no text in UTF-8"), "{error}");
    let missing = nodes.error("::load /nowhere/x.kcore");
    assert_eq!(missing, "kcore: failed to load /nowhere/x.kcore: no such file or directory");
    assert_eq!(nodes.text("::load -s /nowhere/x.kcore"), "");
}

/// The walkers and dcmds of the documentation, for the same program.
fn walkers() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/nodes/nodes.kcore");
    format!("::load {}", path.display())
}

fn values(records: &[serde_json::Value], key: &str) -> Vec<serde_json::Value> {
    records.iter().map(|record| record[key].clone()).collect()
}

#[test]
fn a_walker_of_a_file_walks_from_an_address_and_by_itself() {
    let (nodes, load) = (nodes(), walkers());
    let shown = |line: &str| nodes.text(&format!("{load}; {line}"));
    let chain = shown("hashtab+20::walk chain | ::print struct node n_id");
    assert_eq!(chain, "n_id = 0x2a\nn_id = 0x2b\nn_id = 0x2c\n");
    let keys: Vec<_> = nodes.json(&format!("{load}; ::walk keys")).to_vec();
    assert_eq!(
        values(&keys, "value"),
        ["0x1", "0x2", "0x3", "0x4", "0x5", "0x6"].map(|it| json!(it))
    );
    let both = shown("::walk bucket b | ::walk chain | ::eval '<b=K'");
    assert_eq!(both.lines().count(), 4, "three nodes of one bucket, and one of another: {both}");
    let error = nodes.error(&format!("{load}; ::walk chain"));
    assert_eq!(error, "kcore: failed to perform walk: walker requires starting address");
    assert!(shown("::walkers chain").starts_with("chain "));
    let help = shown("::help bucket");
    assert!(
        help.contains("[address]::walk bucket [variable]") && help.contains("nodes.kcore, line ")
    );
    assert!(shown("::which keys").contains("keys is a walker of "));
}

#[test]
fn a_table_has_a_row_for_each_element_in_text_and_in_json() {
    let (nodes, load) = (nodes(), walkers());
    let shown = |line: &str| nodes.text(&format!("{load}; {line}"));
    let table = shown("::walk bucket | ::head -1 | ::nodes");
    let lines: Vec<Vec<_>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.first(), Some(&vec!["ID", "NAME", "KIND"]), "{table}");
    assert_eq!(lines.len(), 4, "{table}");
    assert_eq!(lines[1].first(), Some(&"0x2a"), "{table}");
    assert_eq!(lines[1].last(), Some(&"(NODE_LINK)"), "{table}");
    let rows = nodes.json(&format!("{load}; hashtab+20::nodes 0t43"));
    let ids: Vec<_> = rows.iter().map(|row| row["columns"][0]["value"]["value"].clone()).collect();
    assert_eq!(ids, [json!(43), json!(44)], "those of at least 43");
    assert_eq!(rows[0]["columns"][1]["declared"], json!("const char *"));
    let piped = shown("hashtab+20::nodes 0t44 | ::print struct node n_tag");
    assert!(piped.contains("fulltext"), "{piped}");
}

#[test]
fn a_dcmd_of_a_file_is_a_pipeline_with_arguments() {
    let (nodes, load) = (nodes(), walkers());
    let line = |line: &str| format!("{load}; {line}");
    let counts = nodes.text(&line("::members n_sub.s_count"));
    assert_eq!(
        counts,
        "n_sub.s_count = 0x7\nn_sub.s_count = 0\nn_sub.s_count = 0xfffffffd\nn_sub.s_count = 0xfffffffd\n"
    );
    let missing = run_on(&nodes.core, &line("::members")).errors;
    assert!(missing.contains("Usage: ::members member"), "{missing}");
    let second = nodes.error(&line("::members 'n_id | ::quit'"));
    assert!(second.contains("an argument holds no |, ;, !"), "{second}");
    let unknown = nodes.error(&line("::member n_id"));
    assert!(unknown.contains("did you mean '::members'?"), "{unknown}");
    let help = nodes.text(&line("::help members"));
    assert!(help.contains("It runs: ::walk bucket | ::walk chain | ::print struct node $1"));
    assert!(nodes.text(&line("::dcmds -n '^members$'")).starts_with("members "));
}

#[test]
fn what_a_file_may_not_do_is_an_error_with_line_and_column() {
    let nodes = nodes();
    let refused = |name: &str, text: &str| {
        let path = file(name, text);
        let error = nodes.error(&format!("::load {}", path.display()));
        error.rsplit_once(&format!("{name}: ")).map(|(_, why)| why.to_owned()).unwrap_or(error)
    };
    let dcmd = |run: &str| format!("[[dcmd]]\nname = 'x'\nsummary = 'y'\nrun = '{run}'\n");
    for (run, why) in [
        ("::stack ! sh", "line 4, column 16: a file runs no programs"),
        ("::walk thread | ::eval a", "line 4, column 24: ::eval cannot stand in a file"),
        ("::cat /etc/passwd", "line 4, column 8: ::cat cannot stand in a file"),
        ("$<macro", "line 4, column 8: $< cannot stand in a file"),
        ("1>x", "line 4, column 9: a file sets no variables"),
        ("::x", "line 4, column 8: ::x is no dcmd of kcore"),
        ("::print $1", "line 4, column 16: there is no argument $1"),
        ("::stack; ::stack", "line 4, column 15: one pipeline is expected"),
    ] {
        let error = refused("dcmd.kcore", &dcmd(run));
        assert!(error.starts_with(why), "{run}: {error}");
    }
    let own = "[[walker]]\nname = 'thread'\nsummary = 'y'\nstart = 'a'\nfirst = 'b'\nnext = 'c'\n";
    assert_eq!(refused("own.kcore", own), "line 2, column 9: kcore has a walker thread");
    let broken = own.replace("thread", "t").replace("'c'", "'c +'");
    let error = refused("broken2.kcore", &broken);
    assert!(error.starts_with("line 6, column 12: c +: expected an operand"), "{error}");
    let both = own.replace("thread", "t") + "size = '3'\n";
    assert!(refused("both.kcore", &both).contains("a walker has first and next"));
}

#[test]
fn a_walk_that_goes_wrong_gives_what_it_found_and_says_why() {
    let nodes = nodes();
    let walker = |keys: &str| {
        let path = file(
            "walk.kcore",
            &format!(
                "[[walker]]\nname = 'w'\nsummary = 's'\nstart = 'first'\nfirst = 'this'\n{keys}"
            ),
        );
        run_on(&nodes.core, &format!("::load {}; ::walk w", path.display()))
    };
    let circle = walker("next = 'n_id == 0x2b ? this : n_next'\n");
    assert_eq!(circle.out.lines().count(), 2, "{}", circle.out);
    assert!(circle.errors.contains("walk.kcore:6: "), "{}", circle.errors);
    assert!(circle.errors.contains("the list runs in a circle"), "{}", circle.errors);
    let bound = walker("next = 'n_next'\nmax = 2\n");
    assert_eq!(bound.out.lines().count(), 2, "{}", bound.out);
    assert!(bound.errors.contains("there are more than 2 elements"), "{}", bound.errors);
    let end = walker("next = 'n_next'\nend = 'n_id == 0x2c'\n");
    assert_eq!((end.out.lines().count(), end.errors.as_str()), (2, ""));
}
