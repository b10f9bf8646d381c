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
        "<AutoVisualizer><Type Name='a'><Expand><CustomListItems/>\
        <Item Name='b'>c</Item></Expand></Type></AutoVisualizer>",
    );
    let path = path.display();
    let outcomes = run_on(&nodes.core, &format!("::load {path}; ::load {path}; ::load"));
    let listed = outcomes.out.lines().filter(|line| line.contains("list.natvis"));
    let listed: Vec<_> = listed.flat_map(str::split_whitespace).collect();
    assert_eq!(listed, ["1", "1", &path.to_string()]);
    let told = "list.natvis: 1 parts are left out: line 1: CustomListItems";
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
    assert!(error.contains("broken.kcore: line 4: unknown field `smae`"), "{error}");
    let missing = nodes.error("::load /nowhere/x.kcore");
    assert_eq!(missing, "kcore: failed to load /nowhere/x.kcore: no such file or directory");
    assert_eq!(nodes.text("::load -s /nowhere/x.kcore"), "");
}
