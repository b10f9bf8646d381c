//! `::walk`, `::head`, `::grep`, `::map`, `::echo`, `$d`, `::help`, `::dcmds` and their like.

use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::Group;
use kcore_shell::Stop;

use crate::harness::{core, error, hex, json, one, run, text, value};

#[test]
fn walks_fail_in_the_words_of_mdb() {
    let failed = |reason: &str| format!("kcore: failed to perform walk: {reason}");
    assert_eq!(error("::walk zz"), failed("unknown walk name 'zz'"));
    assert_eq!(error("::walk symbol"), failed("walker requires starting address"));
    assert_eq!(error("1::walk object"), failed("walker does not accept starting address"));
    assert_eq!(error("::walk"), "kcore: too few arguments");
}

#[test]
fn head_passes_the_first() {
    let all = json("::walk mapping");
    assert_eq!(json("::walk mapping | ::head -2"), all[..2]);
    assert_eq!(json("::walk mapping | ::head -n 3"), all[..3]);
    assert_eq!(json("::walk mapping | ::head"), all[..10.min(all.len())]);
    assert_eq!(error("::head"), "kcore: ::head stands behind a pipe only");
    assert!(error("::walk mapping | ::head 2").contains("expected a count such as -5"));
    assert!(error("::walk mapping | ::head -n 0x2").contains("invalid decimal number"));
}

#[test]
fn grep_and_map_evaluate_at_each_value() {
    let stack = hex(&one("<rsp::mappings")["base"]);
    let found = one(&format!("::walk mapping | ::grep '.=={stack:x}'"));
    assert_eq!(hex(&found["value"]), stack);
    let next = one(&format!("::walk mapping | ::grep '.=={stack:x}' | ::map '.+1'"));
    assert_eq!(hex(&next["value"]), stack + 1);
    assert!(error("1::map zz").contains("unknown symbol name"));
}

#[test]
fn echo_prints_words_and_values() {
    assert_eq!(text("::echo a 'b c' $[1f+1]"), "a b c 20 \n");
    assert_eq!(one("::echo x")["text"], "x ");
}

#[test]
fn the_radix_is_shown_in_decimal() {
    assert_eq!(text("$d"), "radix = 16 base ten\n");
    assert_eq!(text("0t10$d; 16=D"), format!("radix = 10 base ten\n{:16}{:16}\n", "", "16"));
    assert!(error("0t17$d").starts_with("kcore: expected radix from 2 to 16"));
}

#[test]
fn dcmds_and_walkers_are_listed_by_name() {
    let names: usize = DCMDS.iter().map(|dcmd| dcmd.spec().aliases.len() + 1).sum();
    let listed = json("::dcmds");
    assert_eq!(listed.len(), names);
    assert!(listed.is_sorted_by_key(|it| it["name"].as_str().map(str::to_owned)));
    let dump = "dump                     - dump memory from an address";
    assert!(text("::dcmds").lines().any(|line| line == dump));
    assert_eq!(json("::dcmds -n ^dump$").len(), 1);
    assert_eq!(json("::walkers").len(), WALKERS.len());
    assert_eq!(one("::walkers -n ^symbol$")["address"], "required");
    assert!(error("::dcmds [").starts_with("kcore: failed to compile regular expression '['"));
}

#[test]
fn help_has_the_sections_of_mdb() {
    let page = text("::help dump");
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
        assert!(page.lines().any(|line| line == section), "{section}");
    }
    assert!(page.starts_with(
        "\nNAME\n  dump - dump memory from an address\n\nSYNOPSIS\n  [address][,count]::dump "
    ));
    assert_eq!(page, text("::help ::dump"));
    assert_eq!(error("::help zz"), "kcore: unknown command: zz");
    assert_eq!(one("::help dump")["options"][0]["flag"], "e");
}

#[test]
fn help_without_a_name_lists_all_by_subject() {
    let page = text("::help");
    assert!(page.contains("[ address [, count]] verb [ arguments ... ]"));
    assert!(page.lines().all(|line| line.chars().count() < 100));
    for dcmd in DCMDS.iter().filter(|dcmd| dcmd.spec().group != Group::Unsupported) {
        assert!(page.contains(&format!("  {}", dcmd.spec().name)), "{}", dcmd.spec().name);
    }
    assert!(one("::help")["groups"].as_array().is_some_and(|groups| groups.len() >= 4));
}

#[test]
fn which_tells_what_a_name_is() {
    assert_eq!(text("::which $m"), "$m is a built-in dcmd: mappings\n");
    assert_eq!(text("::whence object"), "object is a built-in walker\n");
    assert_eq!(run("::which zz").errors, "kcore: zz not found\n");
}

#[test]
fn quit_ends_what_follows() {
    let outcomes = run("::quit; ::version");
    assert_eq!(outcomes.status.stop(), Some(Stop::Quit));
    assert_eq!(outcomes.out, "");
    assert!(text("::version").starts_with("kcore "));
    assert_eq!(one("::version")["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn threads_print_so_that_they_can_be_typed_back() {
    let tids = core().tids();
    let expected: String = tids.iter().map(|tid| format!("0t{tid}\n")).collect();
    assert_eq!(text("::walk thread"), expected);
    assert_eq!(value(&format!("0t{}", tids[0])), u64::from(tids[0].get()));
}
