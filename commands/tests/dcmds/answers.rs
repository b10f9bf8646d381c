//! Dcmds that MDB's users type and that need little of the core: `::dem`, `::files`, `::dmods`,
//! `::load`, `::dismode`, `::tmodel`, `::term`, and those that no core can run.

use kcore_commands::DCMDS;
use kcore_dcmd::Group;

use crate::harness::{error, json, one, run, text};

#[test]
fn names_are_demangled() {
    assert_eq!(
        text("::dem _ZN3app4ViewC2Ei main"),
        "_ZN3app4ViewC2Ei == app::View::View(int)\nmain == main\n"
    );
    let rust = "_RNvCs1234_7mycrate3foo";
    assert_eq!(one(&format!("::dem {rust}"))["function"], "mycrate::foo");
    assert_eq!(text("::dem _Z3foov.cold"), "_Z3foov.cold == foo() [clone .cold]\n");
    assert_eq!(error("::dem"), "kcore: too few arguments");
}

#[test]
fn source_files_are_those_of_the_symbol_table() {
    let files = json("::files leaf");
    let names: Vec<_> = files.iter().map(|it| it["name"].as_str().unwrap_or_default()).collect();
    assert!(names.contains(&"main.c") && names.contains(&"truth.c"), "{names:?}");
    assert_eq!((&files[0]["index"], &files[0]["object"]), (&1.into(), &"leaf".into()));
    let first = names[0];
    assert!(text("$f leaf").starts_with(&format!("1\t{first}\n2\t")));
    let expected = "kcore: failed to obtain object: unknown object file name 'zz'";
    assert_eq!(error("::files zz"), expected);
}

#[test]
fn the_one_module_of_dcmds_is_built_in() {
    assert_eq!(text("::dmods"), "kcore\n");
    let long = text("::dmods -l");
    assert!(long.starts_with("kcore\n  dcmd "), "{long}");
    assert!(long.contains("\n  dcmd dump                 - dump memory from an address\n"));
    assert!(long.contains("\n  walk thread               - "));
    assert_eq!(error("::dmods libc"), "kcore: libc: specified module is not loaded");
    assert_eq!(
        error("::unload kcore"),
        "kcore: failed to unload kcore: cannot unload built-in module"
    );
    assert_eq!(
        error("::unload libc"),
        "kcore: failed to unload libc: specified module is not loaded"
    );
    assert_eq!(
        error("::load libumem"),
        "kcore: failed to load module libumem: every dcmd is built in, and files of printers end with .kcore or .natvis"
    );
    assert_eq!(text("::load -s libumem"), "");
}

#[test]
fn the_disassembler_follows_from_the_target() {
    assert_eq!(text("::dismode"), "disassembly mode is amd64 (x86-64, AT&T syntax)\n");
    assert_eq!(text("$V amd64"), text("::dismode"));
    let failed = |reason: &str| format!("kcore: failed to set disassembly mode: {reason}");
    assert_eq!(error("::dismode zz"), failed("unknown disassembler name 'zz'"));
    assert_eq!(
        error("::dismode aarch64"),
        failed("the target is of another architecture 'aarch64'")
    );
    assert_eq!(
        text("::disasms").lines().next(),
        Some("amd64                    - x86-64, AT&T syntax")
    );
}

#[test]
fn there_is_one_kind_of_threads() {
    assert_eq!(text("::tmodel lwp; ::tmodel thread"), "");
    assert_eq!(error("::tmodel"), "kcore: too few arguments");
    assert_eq!(error("::tmodel zz"), "kcore: unknown thread model -- zz");
    assert_eq!(text("::term").lines().count(), 1);
}

#[test]
fn stackregs_is_the_stack_with_frame_pointers() {
    assert_eq!(text("::stackregs"), text("$C"));
}

/// The commands of MDB that a core cannot run, as its reference lists them.
const REFUSED: &str = "\
    ::attach ::release ::kill ::run ::cont ::step ::next ::bp ::wp ::sigbp ::sysbp ::fltbp \
    ::events ::evset ::delete ::gcore ::setenv ::unsetenv ::vtop ::write $W $b $i $p \
    :A :R :k :r :c :s :S :e :u :b :a :p :w :d :z :t :i";

#[test]
fn what_no_core_can_do_is_refused_in_one_line() {
    for command in REFUSED.split_whitespace() {
        for line in
            [command.to_owned(), format!("{command} -x +d 5 'a b'"), format!("main{command}")]
        {
            let outcomes = run(&line);
            assert_eq!(
                outcomes.errors, "kcore: command is not supported by current target\n",
                "{line}"
            );
            assert_eq!(outcomes.out, "");
        }
    }
}

#[test]
fn what_is_refused_is_listed_last_and_briefly() {
    let refused = DCMDS.iter().map(|dcmd| dcmd.spec());
    let refused: Vec<_> = refused.filter(|spec| spec.group == Group::Unsupported).collect();
    let spellings = refused.iter().flat_map(|spec| spec.spellings());
    let mut spellings: Vec<String> = spellings.collect();
    let mut expected: Vec<&str> = REFUSED.split_whitespace().collect();
    spellings.sort_unstable();
    expected.sort_unstable();
    assert_eq!(spellings, expected);
    let page = text("::help");
    let (_, last) = page.split_once("Not supported on a core\n").expect("they are listed");
    assert!(last.lines().count() < 6, "{last}");
    for spec in refused {
        assert!(last.contains(spec.name), "{}", spec.name);
    }
}
