//! What names mean in the code that uses them, and values that only some programs have, held against what the
//! programs were written to hold.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod programs;

use programs::{all_builds, crashed};
use serde_json::json;

const SCOPES: [&str; 2] = ["first.c", "second.c"];

#[test]
fn a_name_means_what_the_code_of_the_frame_means_by_it() {
    for program in all_builds(&SCOPES) {
        let build = &program.build;
        let of = |frame: u8, name: &str| {
            program.value(&format!("::frame {frame}; ::print {name}"))["value"].clone()
        };
        assert_eq!((of(0, "twice"), of(1, "twice")), (json!(222), json!(111)), "{build}");
        assert_eq!((of(0, "calls"), of(1, "calls")), (json!(6), json!(5)), "{build}");
        let size = |frame: u8, ty: &str| program.text(&format!("::frame {frame}; ::sizeof {ty}"));
        assert!(size(0, "struct same").ends_with("= 2\n"), "{build}: the block's own");
        assert!(size(1, "struct same").ends_with("= 0x10\n"), "{build}");
        assert!(size(0, "mine_t").ends_with("= 8\n"), "{build}");
        assert!(size(1, "mine_t").ends_with("= 4\n"), "{build}");
        let kinds = |frame: u8| program.text(&format!("::frame {frame}; ::enum enum kind"));
        assert!(kinds(0).contains("SECOND_B") && !kinds(0).contains("FIRST"), "{build}");
        assert!(kinds(1).contains("FIRST_B") && !kinds(1).contains("SECOND"), "{build}");
    }
}

#[test]
fn the_name_of_an_enumerator_is_the_value_that_the_code_means() {
    for program in all_builds(&SCOPES) {
        let build = &program.build;
        let of = |frame: u8, name: &str| {
            program.value(&format!("::frame {frame}; ::print {name}"))["value"].clone()
        };
        assert_eq!((of(0, "LIMIT"), of(1, "LIMIT")), (json!(30), json!(3)), "{build}");
        assert_eq!(of(0, "DEEP"), json!(-4), "{build}: the function's own");
        assert_eq!(of(1, "LIMIT+FIRST_B"), json!(5), "{build}");
        assert_eq!(of(1, "flags == FLAG_A + FLAG_C"), json!(1), "{build}");
        assert_eq!(of(1, "words[FIRST_B]"), of(1, "words[2]"), "{build}");
        assert_eq!(of(1, "first_kind == FIRST_B"), json!(1), "{build}");
        let word = program.text("::frame 1; {FLAG_A<<8}=X");
        assert_eq!(word.split_whitespace().last(), Some("100"), "{build}");
        let shown = program.text("::frame 1; ::print kind::FIRST_B");
        assert!(shown.ends_with("\nkind::FIRST_B = 0x2 (FIRST_B)\n"), "{build}: {shown}");
    }
}

#[test]
fn an_enumerator_of_several_values_is_refused_where_the_code_has_none() {
    let Some(program) = crashed("gcc", &["-O0"], &SCOPES) else { return };
    let told = program.notes("::frame 2; ::print LIMIT");
    assert!(told.contains("'LIMIT' may be 3 of an enumeration without a name or 30 of"), "{told}");
    assert_eq!(program.value("::frame 2; ::print SECOND_B")["value"], 8);
}

#[test]
fn a_pipe_says_whose_code_is_meant() {
    let Some(program) = crashed("gcc", &["-O0"], &SCOPES) else { return };
    let walked = program.text("::walk frame | ::head -2 | ::print twice");
    assert_eq!(walked, "0xde\n0x6f\n");
    let own = program.text("::walk frame | ::head -2 | ::print own");
    assert_eq!(own, "{\n    z = +2.5000000e+00\n}\n0x1\n");
    let notes = program.notes("::walk frame | ::head -2 | ::print hidden");
    assert!(notes.contains("frame 1 (main) of thread") && notes.contains("has no variable hidden"));
}

#[test]
fn a_file_or_function_before_a_name_chooses_it() {
    for program in all_builds(&SCOPES) {
        let build = &program.build;
        let of = |name: &str| program.value(&format!("::print {name}"))["value"].clone();
        assert_eq!(
            (of("first.c`twice"), of("second.c`twice")),
            (json!(111), json!(222)),
            "{build}"
        );
        assert_eq!((of("'first.c'::twice"), of("second.c::twice")), (json!(111), json!(222)));
        assert_eq!((of("main::calls"), of("other::calls")), (json!(5), json!(6)), "{build}");
        assert_eq!(program.text("main::calls/D").split_whitespace().last(), Some("5"), "{build}");
    }
}

#[test]
fn what_was_taken_of_several_is_told() {
    let Some(program) = crashed("gcc", &["-O0"], &SCOPES) else { return };
    // The caller of main sees neither.
    let far = |what: &str| program.notes(&format!("::frame 2; ::print {what}"));
    let told = far("twice");
    assert!(told.contains("`first.c;") && told.contains("`second.c"), "{told}");
    let told = far("struct same");
    assert!(told.contains("struct same is that of") && told.contains("`second.c"), "{told}");
    assert_eq!(program.notes("::print twice; ::sizeof mine_t"), "");
}

#[test]
fn what_one_unit_only_declares_another_defines() {
    for program in all_builds(&SCOPES) {
        let text = program.text("::frame 0; ::print *hidden; second_same::print struct hidden");
        assert!(text.contains("number = 0x2a") && text.contains("next = only"), "{text}");
        let declared = program.text("::frame 1; only::print struct hidden; ::sizeof struct hidden");
        assert!(declared.contains("number = 0x2a"), "{}: {declared}", program.build);
    }
}

#[test]
fn lists_are_walked_by_links_in_their_elements() {
    let Some(program) = crashed("gcc", &["-O0"], &["lists.c"]) else { return };
    let ids = |list: &str, element: &str| {
        let text = program.text(&format!("{list} | ::printf \"%d \" struct {element} id"));
        text.trim().to_owned()
    };
    for member in ["link", "link.next"] {
        assert_eq!(ids(&format!("head::list struct item {member}"), "item"), "10 11 12");
        assert_eq!(ids(&format!("items::list struct item {member}"), "item"), "10 11 12");
    }
    assert_eq!(ids("head::list struct item link.prev", "item"), "12 11 10");
    assert_eq!(ids("items::list struct item after", "item"), "10 11 12");
    assert_eq!(ids("queue::list struct entry queue", "entry"), "22 21 20");
    assert_eq!(ids("owner+8::list -h struct item link", "item"), "30 31");
    let told = program.notes("owned::list struct item link");
    assert!(told.contains("may be that of the list's head"), "{told}");
}

#[test]
fn a_member_that_leads_to_no_element_is_an_error() {
    let Some(program) = crashed("gcc", &["-O0"], &["lists.c"]) else { return };
    let error = |member: &str| program.notes(&format!("items::list struct item {member}"));
    assert!(
        error("name").contains("name points to char, and not to struct item"),
        "{}",
        error("name")
    );
    assert!(error("id").contains("id is not a pointer: int"), "{}", error("id"));
    assert!(error("nothing").contains("no such member"), "{}", error("nothing"));
}

#[test]
fn characters_keep_their_sign_and_texts_their_bytes() {
    let Some(program) = crashed("gcc", &["-O0"], &["lists.c"]) else { return };
    let value = |name: &str| program.value(&format!("::print {name}"))["value"].clone();
    assert_eq!((value("negative"), value("lowest")), (json!(-5), json!(-128)));
    let text = program.text("::print controls; ::print latin; ::print behind");
    assert!(text.starts_with("[ \"x\\001y\\033[\" ]\n[ \"caf\\351\" ]\n"), "{text}");
    assert!(text.ends_with("\"bell\\a caf\\351 \\\"quoted\\\" \\\\\"\n"), "{text}");
}

#[test]
fn numbers_are_told_from_all_others() {
    let Some(program) = crashed("gcc", &["-O0"], &["lists.c"]) else { return };
    let text = program.text("::print numbers");
    assert!(text.contains("third = +3.333333333333333e-01\n"), "{text}");
    assert!(text.contains("tenth = +1.0000000e-01\n"), "{text}");
    assert!(text.contains("wide = +3.33333333333333333342e-01\n"), "{text}");
    assert_eq!(program.value("::print numbers.beyond")["value"], json!("9007199254740993"));
    let printed = "numbers::printf \"%f %.3e %g %a\" struct numbers third third tenth third";
    assert_eq!(program.text(printed), "0.333333 3.333e-01 0.1 0x1.5555555555555p-2\n");
}

#[test]
fn a_setting_makes_integers_decimal() {
    let Some(program) = crashed("gcc", &["-O0"], &["lists.c"]) else { return };
    let decimal = |command: &str| program.text(&format!("::set -o decimal; {command}"));
    let locals = "less = -0t7\nmuch = -0t123456789012\n";
    assert_eq!(decimal("::locals"), locals);
    assert!(decimal("$C").contains("die+") && decimal("$C").contains("(-0t7, -0t123456789012)"));
    assert!(decimal("::stack -v").contains("less=-0t7"), "{}", decimal("::stack -v"));
    assert!(program.text("::locals").starts_with("less = 0xfffffff9\n"));
}

#[test]
fn values_that_clang_converts_and_cuts_into_pieces_are_read() {
    let Some(program) = crashed("clang", &["-O2", "-gdwarf-5"], &["folded.c"]) else { return };
    let value = |path: &str| program.value(&format!("::print {path}"));
    assert_eq!(value("product")["value"], json!(35));
    assert_eq!(value("eleven")["value"], json!(77));
    let of_top = |path: &str| program.value(&format!("::frame 1; ::print {path}"));
    assert_eq!(of_top("parts.a")["value"], json!(7));
    assert_eq!(of_top("parts.in.d")["value"], json!(2));
    // Only the low half of it is described, as gdb says too.
    assert_eq!(of_top("parts.b")["absent"], json!("optimized_out"));
}

const DROPPED: &[&str] =
    &["-O0", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-w"];

#[test]
fn a_variable_that_the_linker_dropped_is_optimized_out() {
    let Some(program) = crashed("gcc", DROPPED, &["dropped.c"]) else { return };
    assert_eq!(
        program.text("::print dropped_number; ::print kept_number"),
        "<optimized out>\n0x6\n"
    );
}

#[test]
fn a_function_within_another_sees_its_variables() {
    let Some(program) = crashed("gcc", DROPPED, &["dropped.c"]) else { return };
    let of = |frame: u8, name: &str| {
        program.value(&format!("::frame {frame}; ::print {name}"))["value"].clone()
    };
    // The innermost call is of depth 0, and has a host of its own; the outer one of depth 1 has another.
    assert_eq!((of(0, "of_host"), of(2, "of_host")), (json!(32), json!(33)));
    assert_eq!((of(0, "depth"), of(2, "depth")), (json!(0), json!(1)));
    assert_eq!((of(0, "hidden_by_inner"), of(1, "hidden_by_inner")), (json!(2), json!(1)));
}

#[test]
fn variables_of_a_class_are_found_however_often_they_are_asked_for() {
    for compiler in ["g++", "clang++"] {
        let Some(program) = crashed(compiler, &["-O0"], &["statics.cc"]) else { continue };
        let asked = ["::print Counts::made; ::print Counts::lost"; 12].join("; ");
        assert_eq!(program.text(&asked), "0x29\n0x2a\n".repeat(12), "{compiler}");
        let constant = program.text("::print Limits::most; ::print limits.most");
        assert_eq!(constant, "0x5\nlimits.most = 0x5\n", "{compiler}");
    }
}
