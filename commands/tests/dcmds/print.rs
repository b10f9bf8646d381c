//! `::print`: what it takes, where it reads, and what it says of what it cannot.

use serde_json::json;

use crate::harness::{Opened, hex, open};

fn nodes() -> Opened {
    open("nodes", "O0-musl-static")
}

fn cpp() -> Opened {
    open("values-cpp", "O0-pie")
}

#[test]
fn a_variable_is_printed_with_and_without_an_address() {
    let nodes = nodes();
    let whole = nodes.text("::print first");
    assert_eq!(nodes.text("first::print"), whole);
    assert_eq!(nodes.text("first::print struct node"), whole);
    assert_eq!(nodes.text("first::map . | ::print struct node"), whole);
    assert!(whole.starts_with("{\n    n_id = 0x2a\n    n_name = 0x"), "{whole}");
    let value = nodes.one("::print first")["value"].clone();
    assert_eq!(value["type"], "struct node");
    assert_eq!(value["children"][0]["name"], "n_id");
    assert_eq!(value["children"][0]["value"], json!(42));
}

#[test]
fn a_type_alone_is_its_layout() {
    let nodes = nodes();
    assert_eq!(nodes.text("::print -t struct point"), "struct point {\n    int x\n    int y\n}\n");
    assert_eq!(nodes.text("::print int"), "int\n");
    assert_eq!(nodes.one("::print struct point")["type"], "layout");
}

#[test]
fn what_cannot_be_read_is_a_failure_with_its_address() {
    let nodes = nodes();
    let failed = "kcore: failed to read 80 bytes at 10: no mapping for address";
    assert_eq!(nodes.error("10::print struct node"), failed);
    let record = &nodes.json("10::print struct node")[0];
    assert_eq!((&record["type"], &record["address"]), (&json!("error"), &json!("0x10")));
    assert_eq!(
        nodes.error("10::print"),
        "kcore: no symbol information for 0x10: no symbol corresponds to address"
    );
}

#[test]
fn each_option_has_its_effect() {
    let nodes = nodes();
    let shown = |line: &str| nodes.text(line);
    let at = hex(&nodes.one("first=K")["value"]);
    assert_eq!(shown("first::print -a struct node n_id"), format!("{at:x} n_id = 0x2a\n"));
    assert_eq!(shown("first::print -d struct node n_id"), "n_id = 0t42\n");
    assert_eq!(shown("first::print -xd struct node n_id"), "n_id = 0x2a\n");
    assert_eq!(shown("first::print -t struct node n_id"), "int n_id = 0x2a\n");
    assert_eq!(shown("first::print -n struct node n_next").matches("second").count(), 0);
    assert_eq!(shown("first::print struct node n_next"), "n_next = second\n");
    assert_eq!(shown("first::print -s 0 struct node"), "{ ... }\n");
    assert_eq!(shown("first::print -c 3 struct node n_tag").matches("leaf").count(), 0);
    assert_eq!(shown("first::print struct node n_tag"), "n_tag = [ \"leaf\" ]\n");
    assert_eq!(shown("first::print -l 2 struct node n_vals"), "n_vals = [ 0x1, 0x2, ... ]\n");
    assert_eq!(shown("limits::print").matches("...").count(), 1);
    assert_eq!(shown("limits::print -L").matches("...").count(), 0);
    assert!(shown("request::print -h").contains("<<HOLE>>"));
    assert!(shown("request::print -T time_t").contains("time_t <<"));
    assert_eq!(shown("5::print -i int"), "0x5\n");
    assert_eq!(nodes.error("::print -i int"), "kcore: -i needs an address");
    assert_eq!(
        nodes.error("first::print -p int"),
        "kcore: failed to print type: operation not supported by target"
    );
    let cpp = cpp();
    assert!(cpp.text("::print -r m_ages").contains("_M_t"));
    assert!(!cpp.text("::print m_ages").contains("_M_t"));
}

#[test]
fn paths_begin_with_a_variable_or_lead_to_one() {
    let nodes = nodes();
    let shown = |line: &str| nodes.text(line);
    assert_eq!(shown("::print head->n_next->n_id"), "head->n_next->n_id = 0x2b\n");
    assert_eq!(shown("::print (*head).n_id"), "(*head).n_id = 0x2a\n");
    assert_eq!(shown("::print *head"), shown("::print first"));
    assert_eq!(
        shown("::print ((struct node *)head)->n_id"),
        "((struct node *)head)->n_id = 0x2a\n"
    );
    assert_eq!(shown("::print first.n_vals[1..2]"), "n_vals[1] = 0x2\nn_vals[2] = 0x3\n");
    assert_eq!(shown("first::print struct node $[0]"), "n_id = 0x2a\n");
    assert_eq!(shown("first::print a.out`struct node n_id"), "n_id = 0x2a\n");
    assert_eq!(shown("::print calls"), "0x11\n", "a static variable of a function");
}

#[test]
fn an_index_beyond_an_array_is_a_note_and_beyond_a_container_a_failure() {
    let nodes = nodes();
    let beyond = crate::harness::run_on(&nodes.core, "::print first n_vals[2..5]");
    assert_eq!(beyond.errors, "kcore: note: indices 4 .. 5 are outside of array bounds [0 .. 3]\n");
    // As they are typed: decimal, whatever the radix of the session.
    let beyond = crate::harness::run_on(&nodes.core, "::print first n_vals[10..11]");
    assert_eq!(
        beyond.errors,
        "kcore: note: indices 10 .. 11 are outside of array bounds [0 .. 3]\n"
    );
    assert!(beyond.out.starts_with("n_vals[10] = "), "{}", beyond.out);
    let cpp = cpp();
    assert_eq!(
        cpp.error("::print v_many[100]"),
        "kcore: index 100 is outside of container bounds [0 .. 99]"
    );
    assert_eq!(cpp.error("::print v_empty[0]"), "kcore: index 0 of an empty container");
}

#[test]
fn keys_lead_into_maps_however_they_are_quoted() {
    let cpp = cpp();
    for typed in ["m_ages[\"Ada\"]", "'m_ages[\"Ada\"]'", "u_ages[\"Ada\"]"] {
        let value = cpp.one(&format!("::print {typed}"))["value"].clone();
        assert_eq!(value["value"], 36, "{typed}");
    }
    assert_eq!(cpp.error("::print m_ages[\"Nobody\"]"), "kcore: no key \"Nobody\"");
    let go = open("values-go", "O0-static");
    assert_eq!(go.one("::print main.gAges[\"Ada\"]")["value"]["value"], 36);
    let rust = open("values-rust", "debug-pie");
    assert_eq!(rust.one("::print HASH_AGES[\"Ada\"]")["value"]["value"], 36);
}

/// What a value shows by a name is reached by it.
#[test]
fn parts_that_printers_name_are_reached_by_their_names() {
    let cpp = cpp();
    assert_eq!(cpp.text("::print t_three.1"), "t_three.1 = \"two\"\n");
    assert_eq!(cpp.text("::print t_nested.0.0"), "t_nested.0.0 = 0x7\n");
    assert!(
        cpp.error("::print t_three.3").starts_with("kcore: failed to find member 3 of std::tuple<")
    );
    assert_eq!(cpp.text("::print k_mutex.locked"), "k_mutex.locked = true\n");
    assert_eq!(cpp.text("::print k_free_mutex.locked"), "k_free_mutex.locked = false\n");
    assert_eq!(cpp.text("::print *o_some"), "0x2a\n");
    assert_eq!(cpp.text("::print o_point->y"), "o_point->y = 0x2\n");
    assert_eq!(cpp.text("::print *w_text"), "\"text\"\n");
    assert_eq!(cpp.error("::print *o_none"), "kcore: nullopt holds no value");
    assert_eq!(
        cpp.error("::print w_text[0]"),
        "kcore: cannot index into non-array, non-pointer type std::variant<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::monostate>"
    );
}

#[test]
fn the_data_of_a_variant_is_reached_with_its_name_and_without() {
    let rust = open("values-rust", "debug-pie");
    let shown = |path: &str| rust.text(&format!("::print {path}"));
    assert_eq!(shown("CIRCLE.radius"), "CIRCLE.radius = +2.5000000e+00\n");
    assert_eq!(shown("CIRCLE.Circle.radius"), "CIRCLE.Circle.radius = +2.5000000e+00\n");
    assert_eq!(shown("SQUARE.0"), "SQUARE.0 = 0x7\n");
    assert_eq!(shown("LINE.1.y"), "LINE.1.y = 0x4\n");
    assert_eq!(shown("OPTION_SOME.0"), "OPTION_SOME.0 = 0x2a\n");
    assert_eq!(shown("NICHE_FLAG.0"), "NICHE_FLAG.0 = true\n");
    for (path, begins, ends) in [
        ("SQUARE.radius", "failed to find member radius of", "it is Shape::Square"),
        ("NOTHING.0", "failed to find member 0 of", "it is Shape::Nothing"),
        ("OPTION_NONE.0", "failed to find member 0 of", "it is None"),
    ] {
        let error = rust.error(&format!("::print {path}"));
        assert!(error.contains(begins) && error.ends_with(ends), "{path}: {error}");
    }
}

#[test]
fn bytes_behind_the_end_of_a_text_are_shown() {
    let c = open("values-c", "O0-pie");
    assert_eq!(c.text("::print g_middle"), "[ \"ab\\000c\" ]\n");
    assert_eq!(c.one("::print g_middle")["value"]["value"], "ab\0c");
    assert_eq!(c.text("::print g_short_text"), "[ \"short\" ]\n");
    assert_eq!(c.text("::print g_empty_text"), "[ \"\" ]\n");
}

#[test]
fn a_virtual_base_has_no_certain_place_in_the_layout_of_a_type() {
    let cpp = cpp();
    let layout = cpp.text("::print -at demo::ViaA");
    assert!(layout.contains("? <demo::Top> <its place depends on the object>\n"), "{layout}");
}

#[test]
fn smart_pointers_and_classes_lead_on() {
    let cpp = cpp();
    assert_eq!(cpp.text("::print q_animal->legs"), "q_animal->legs = 0x4\n");
    // A member that only the class has that it truly is.
    assert_eq!(
        cpp.text("::print demo::g_animal->weeks"),
        "demo::g_animal->weeks = +6.5000000e+00\n"
    );
    assert_eq!(cpp.error("::print q_null->x"), "kcore: could not dereference pointer 0");
    assert_eq!(
        cpp.error("::print demo::g_animal->wings"),
        "kcore: failed to find member wings of demo::Animal: no such member of structure or union"
    );
    let go = open("values-go", "O0-static");
    assert_eq!(go.text("::print runtime.allgs[0].goid"), "runtime.allgs[0].goid = 0x1\n");
}

#[test]
fn what_is_no_path_is_said_with_its_part() {
    let nodes = nodes();
    for (words, why) in [
        ("zz`int", "failed to look up type zz`int: unknown object file name"),
        ("zz`struct node", "failed to look up type zz`struct node: unknown object file name"),
        ("struct", "struct is not a valid type"),
        ("nosuch.x", "no variable or type has the name 'nosuch'"),
        ("*nosuch", "no variable or type has the name 'nosuch'"),
        ("&nosuch", "&nosuch: column 2: no variable, function or type has the name 'nosuch'"),
        ("first.n_id+", "first.n_id+: column 12: expected an operand, found the end"),
        ("first.n_id/0", "first.n_id/0: column 1: division by zero"),
        (
            "first.n_id=3",
            "first.n_id=3: column 11: an assignment is not possible: the process does not run",
        ),
        ("main(1)", "main(1): column 5: a call is not possible: the process does not run"),
        ("nosuch", "no variable or type has the name 'nosuch'"),
        ("first n_next->", "no member behind '->'"),
        ("first ..n_id", "no member behind '.'"),
        ("first n_id[0]", "cannot index into non-array, non-pointer type int"),
        ("first n_vals[1", "no trailing ']'"),
        ("first n_vals[3..1]", "[3..1] is not a range"),
        ("first (n_id", "no trailing ')'"),
        ("first n_id+1", "'+' is not a valid delimiter"),
        ("first n_id.x", "int is not a struct or union type"),
        ("first n_sub->s_count", "struct sub is not a pointer type"),
        ("first $[999]", "invalid offset 999"),
        ("-l zz first", "failed to dereference symbol 'zz': unknown symbol name"),
    ] {
        assert_eq!(nodes.error(&format!("::print {words}")), format!("kcore: {why}"), "{words}");
    }
}

#[test]
fn an_expression_is_computed_as_c_does_it() {
    let nodes = nodes();
    let printed = |words: &str| nodes.text(&format!("::print {words}"));
    assert_eq!(printed("first.n_id+1"), "first.n_id+1 = 0x2b\n");
    assert_eq!(printed("first.n_id * 2 - second.n_id"), "first.n_id * 2 - second.n_id = 0x29\n");
    assert_eq!(printed("' -third.n_vals[0] << 3'"), "-third.n_vals[0] << 3 = 0x8\n");
    assert_eq!(
        printed("-d 'first.n_vals[second.n_id - 0x29] - 9'"),
        "first.n_vals[second.n_id - 0x29] - 9 = -0t6\n"
    );
    assert_eq!(
        printed("'first.n_next == &second && first.n_kind == NODE_LINK'"),
        "first.n_next == &second && first.n_kind == NODE_LINK = 0x1\n"
    );
    assert_eq!(printed("'first.n_name == \"first\"'"), "first.n_name == \"first\" = 0x1\n");
    assert_eq!(printed("'first.n_sub.s_ratio * 4'"), "first.n_sub.s_ratio * 4 = +2.0000000e+00\n");
    assert_eq!(printed("&first"), "&first = first\n");
    assert_eq!(
        printed("'&first.n_vals[3] - &first.n_vals[1]'"),
        "&first.n_vals[3] - &first.n_vals[1] = 0x2\n"
    );
    assert_eq!(
        printed("'((struct node *)head)->n_id | 1'"),
        "((struct node *)head)->n_id | 1 = 0x2b\n"
    );
    assert_eq!(printed("'*first.n_vals@2'"), "*first.n_vals@2 = [ 0x1, 0x2 ]\n");
    assert_eq!(printed("main"), "main = main\n");
    assert_eq!(
        printed("hashtab[first.n_pts[0].y].b_count"),
        "hashtab[first.n_pts[0].y].b_count = 0x3\n"
    );
    assert_eq!(nodes.text("::print 'first.n_next + 1' | ::eval .=K"), nodes.text("second+50=K"));
    let record = nodes.one("::print 'first.n_id + 1ul'");
    assert_eq!(
        (&record["value"]["type"], &record["value"]["value"]),
        (&json!("unsigned long"), &json!(43))
    );
}

#[test]
fn an_expression_in_braces_is_an_operand() {
    let nodes = nodes();
    assert_eq!(nodes.text("{first.n_id + 1}=D").trim(), "43");
    assert_eq!(nodes.text("{head->n_next->n_next}::print struct node n_id"), "n_id = 0x2c\n");
    assert_eq!(nodes.text("{third.n_vals[0]} + 2=D").trim(), "1");
    let greater = "first::list struct node n_next | ::grep '{((struct node *).)->n_id > 42}' | ::print struct node n_id";
    assert_eq!(nodes.text(greater), "n_id = 0x2b\nn_id = 0x2c\n");
    assert_eq!(
        nodes.text("first::list struct node n_next | ::map '{((struct node *).)->n_id}'"),
        "0x2a\n0x2b\n0x2c\n"
    );
    assert_eq!(
        nodes.error("{first.n_id +}=D"),
        "kcore: first.n_id +: column 13: expected an operand, found the end"
    );
    assert_eq!(nodes.error("{first"), "kcore: syntax error: { unmatched");
}

#[test]
fn a_pipe_gets_numbers_pointers_and_addresses() {
    let nodes = nodes();
    let at = |name: &str| nodes.text(&format!("{name}=K"));
    assert_eq!(nodes.text("first::print struct node n_id | ::eval .=K").trim(), "2a");
    assert_eq!(nodes.text("first::print struct node n_next | ::eval .=K"), at("second"));
    assert_eq!(nodes.text("first::print struct node n_sub | ::map '.-first'"), "0x38\n");
    assert_eq!(nodes.text("first::print -a struct node n_next | ::map '.-first'"), "0x10\n");
}
