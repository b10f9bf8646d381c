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
    assert_eq!(json("::walk mapping | ::head -n 0x2"), all[..2]);
    assert!(error("::walk mapping | ::head -n b").contains("invalid decimal number"));
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
    // `dump` is a word of lldb too, which is told behind the page.
    assert!(page.starts_with(&text("::help ::dump")) && page.contains("memory read"), "{page}");
    assert!(error("::help zz").starts_with("kcore: unknown command: zz (subjects are "));
    assert_eq!(one("::help ::dump")["options"][0]["flag"], "e");
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

#[test]
fn text_is_run_at_each_value() {
    assert_eq!(text("::eval '1+1=D; 2=X'"), text("2=D; 2=X"));
    assert_eq!(text("10::eval '.+1'; .=X"), text("11=X"));
    let threads = core().tids().len();
    assert_eq!(json("::walk thread | ::eval '::thread'").len(), threads);
    assert_eq!(error("::eval '::nosuch'"), "kcore: invalid command '::nosuch': unknown dcmd name");
}

#[test]
fn values_are_sorted_counted_and_passed_once() {
    let list = "::echo \"5\\n3\\nffffffffffffffff\\n3\"";
    assert_eq!(text(&format!("{list} | ::sort")), "3\n3\n5\n0xffffffffffffffff\n");
    assert_eq!(text(&format!("{list} | ::sort -r")), "0xffffffffffffffff\n5\n3\n3\n");
    assert_eq!(text(&format!("{list} | ::sort -n")), "0xffffffffffffffff\n3\n3\n5\n");
    assert_eq!(text(&format!("{list} | ::uniq")), "5\n3\n0xffffffffffffffff\n");
    assert_eq!(
        text(&format!("{list} | ::uniq -c")),
        "      1 5\n      2 3\n      1 0xffffffffffffffff\n"
    );
    assert_eq!(text(&format!("{list} | ::count")), "4\n");
    for alone in ["sort", "uniq", "count"] {
        assert_eq!(
            error(&format!("::{alone}")),
            format!("kcore: ::{alone} stands behind a pipe only")
        );
    }
}

#[test]
fn threads_keep_their_type_through_filters() {
    let (stacks, threads) = (json("::walk thread | ::stack"), core().tids().len());
    assert_eq!(stacks.len(), threads);
    assert_eq!(json("::walk thread | ::sort | ::sort -r | ::uniq | ::stack").len(), threads);
    let tids = core().tids();
    let counted = format!("      1 0t{}\n", tids[0]);
    assert!(text("::walk thread | ::uniq -c").starts_with(&counted));
}

#[test]
fn a_walk_binds_a_variable_for_the_stages_behind_it() {
    let tid = core().tids()[0].get();
    let shown = text("::walk thread t | ::walk frame | ::head -2 | ::eval '<t=D'");
    assert_eq!(shown, format!("{:16}{tid:<16}\n", "").repeat(2));
    for name in ["thread", "rip"] {
        let expected = format!("kcore: variable {name} is read-only");
        assert_eq!(error(&format!("::walk thread {name}")), expected);
    }
    assert_eq!(error("::walk thread a-b"), "kcore: '-' may not be used in a variable name");
}

#[test]
fn files_are_shown_and_their_lines_feed_pipes() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "10\n\tmain // where it begins\n").unwrap();
    let path = file.path().display();
    let pipe = format!("{path}.pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(
        error(&format!("::cat {pipe}")),
        format!("kcore: failed to read {pipe}: not a file")
    );
    std::fs::remove_file(pipe).unwrap();
    assert_eq!(text(&format!("::cat {path}")), "10\n\tmain // where it begins\n");
    let main = value("main");
    assert_eq!(text(&format!("::cat {path} | ::map .")), format!("0x10\n{main:#x}\n"));
    let outcomes = run("::cat /nowhere/x /; ::echo on");
    assert!(outcomes.status.failed());
    assert_eq!(outcomes.out, "on \n");
    assert_eq!(
        outcomes.errors,
        "kcore: failed to read /nowhere/x: no such file or directory\n\
         kcore: failed to read /: is a directory\n"
    );
}

#[test]
fn variables_are_listed_marked_and_removed() {
    assert_eq!(text("5>x; ::typeset -t x y; ::vars -t"), "x = 5\ny = 0\n");
    assert_eq!(text("ff>x; ::typeset -t x; ::vars -tp"), "0xff>x\n");
    assert_eq!(text("5>x; ::typeset -t x; ::typeset +t x; ::vars -t"), "");
    let kept = text("5>x; ::vars -p");
    assert!(kept.lines().any(|line| line == "0x5>x"), "{kept}");
    assert_eq!(text(&kept), "", "what -p shows can be read back");
    assert!(text("5>x; $v").lines().any(|line| line == "x = 5"));
    assert!(error("5>x; ::unset x; <x=X").contains("variable 'x' is not defined"));
    assert!(run("::unset b").errors.starts_with("kcore: cannot remove persistent variable 'b'"));
    assert!(
        run("::unset rip").errors.starts_with("kcore: cannot remove persistent variable 'rip'")
    );
    let rip = format!("rip = {:x}", value("<rip"));
    assert!(text("::vars").lines().any(|line| line == rip));
}

#[test]
fn variables_say_where_the_executable_lies() {
    let exe = std::fs::read(crate::harness::case().exe).unwrap();
    let magic = u32::from_le_bytes(exe[..4].try_into().unwrap());
    assert_eq!(value("<m"), u64::from(magic));
    assert_eq!(value("<e"), value("_start"));
    assert!((value("<b")..value("<b+<d")).contains(&value("data_start")));
}

#[test]
fn the_last_number_shown_is_remembered() {
    assert_eq!(text("0t1234=X; <0=D").lines().last().unwrap().trim(), "1234");
    assert!(text("1>_; main/X").starts_with(&format!("{:#x}: ", value("main"))));
}

#[test]
fn settings_are_shown_and_changed() {
    let shown = text("::set -P 'k> ' -o repeatlast +o pager -s 10 -I /a:/b; ::set");
    for line in [
        "               macro path: /a:/b",
        "  symbol matching distance: 0x10 (absolute mode)",
        "           command prompt: \"k> \"",
        "         debugger options: repeatlast",
    ] {
        assert!(shown.lines().any(|shown| shown.trim_start() == line.trim_start()), "{shown}");
    }
    assert_eq!(error("::set -o nosuch"), "kcore: invalid debugger option -- nosuch");
    let long = "x".repeat(36);
    assert_eq!(
        error(&format!("$P {long}")),
        format!("kcore: prompt may not exceed 35 characters: '{long}'")
    );
    assert_eq!(text("0t132$w"), "output page width = 132\n");
    assert_eq!(text("$w"), "output page width = 80\n");
    assert_eq!(
        text("$s; 20$s"),
        "symbol matching distance = 0 (smart mode)\nsymbol matching distance = 0x20 (absolute mode)\n"
    );
    assert_eq!(text("$G; $G"), "C++ symbol demangling disabled\nC++ symbol demangling enabled\n");
}

#[test]
fn lines_wrap_at_the_page_width() {
    let columns = |line: &str| text(line).lines().map(str::len).max().unwrap();
    assert_eq!(columns("<rsp/8X"), 80);
    assert_eq!(columns("0t48$w; <rsp/8X"), 48);
}

#[test]
fn a_distance_names_what_lies_behind_a_symbol() {
    let end = format!("{:x}", value("main") + 0x1000);
    assert_eq!(text(&format!("{end}=p")).trim(), format!("0x{end}"));
    assert!(text(&format!("ffffffff$s; {end}=p")).lines().last().unwrap().contains('+'));
}

#[test]
fn private_symbols_come_first() {
    assert_eq!(text("1000::nmadd -f -s 20 mine"), "added mine, value=1000 size=20\n");
    assert_eq!(text("1000::nmadd -e 1020 mine; mine=X").lines().last().unwrap().trim(), "1000");
    assert_eq!(text("1000::nmadd -s 20 mine; 1010=p").lines().last().unwrap().trim(), "mine+0x10");
    assert_eq!(text("main::nmadd mine; main=p").lines().last().unwrap().trim(), "mine");
    let stack = text("<rip-10::nmadd -s 100 mine; $c");
    assert!(stack.lines().any(|line| line == "mine+0x10(0, 2)"), "{stack}");
    assert!(text("<rip-10::nmadd -s 100 mine; <rip::whatis").contains(" is mine+0x10, in "));
    assert!(text("<rsp::nmadd -s 8 top; <rsp::whatis").contains(" is top, in [ stack"));
    assert_eq!(
        error("1::nmadd x; ::nmdel x; ::nmdel x"),
        "kcore: symbol 'x' not found in private symbol table"
    );
    assert_eq!(error("1::nmadd a-b"), "kcore: specified name contains illegal characters: 'a-b'");
}

#[test]
fn which_shows_definitions() {
    assert_eq!(
        text("::which -v $m"),
        "$m is a built-in dcmd: mappings\n   >  definition list:\n  [1] kcore`mappings\n"
    );
    assert!(run("::which zz").status.failed());
}

#[test]
fn identifiers_are_of_threads() {
    let tid = core().tids()[0].get();
    assert_eq!(
        text(&format!("0t{tid}::whatis -i")),
        format!("{tid:x} is the identifier of thread {tid}\n")
    );
    assert_eq!(text("1::whatis -i"), "1 is unknown\n");
    let typed = text("::walk thread | ::head -1 | ::whatis");
    assert_eq!(typed, format!("{tid:x} is the identifier of thread {tid}\n"));
    assert!(
        text("1::whatis -v").starts_with("Searching kcore`stacks...\nSearching kcore`mappings")
    );
}

#[test]
fn help_explains_subjects_and_words_of_gdb() {
    assert!(text("::help expressions").contains("    0t31                   decimal\n"));
    assert!(
        text("::help stacks").contains("SYNOPSIS") && text("::help stacks").contains("::stacks -c")
    );
    assert!(text("::help bt").contains("* bt full"));
    let topic = one("::help live");
    assert_eq!((&topic["type"], &topic["name"]), (&"help_topic".into(), &"live".into()));
    assert!(error("::help nosuch").contains("subjects are language, expressions"));
}

#[test]
fn an_address_behind_a_dcmd_is_put_before_it() {
    let shown = run("::whatis 4b80e0").errors;
    assert!(shown.ends_with("kcore: type the address first: 4b80e0::whatis\n"), "{shown}");
    assert!(!run("::whatis zz").errors.contains("stands first"));
}

#[test]
fn nobody_typed_the_lines_of_a_script() {
    assert_eq!(text("1=X; ::history"), "                1               \n");
}
