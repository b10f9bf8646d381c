//! Containers of libraries whose lengths, pointers and shapes lie.

use crate::assembly::{Unit, V, at, tag};
use crate::run::ask;

/// A type of this name whose members are words.
fn of_words(unit: &mut Unit, label: &str, name: &str, members: &[(&str, &str)]) {
    let size = 8 * members.len() as u64;
    unit.open(label, tag::STRUCTURE, &[(at::NAME, V::Text(name)), (at::BYTE_SIZE, V::U(size))]);
    for (index, (member, ty)) in members.iter().enumerate() {
        let attributes = [
            (at::NAME, V::Text(member)),
            (at::TYPE, V::To(ty)),
            (at::MEMBER_LOCATION, V::U(8 * index as u64)),
        ];
        unit.leaf("", tag::MEMBER, &attributes);
    }
    let element = [(at::NAME, V::Text("T")), (at::TYPE, V::To("int"))];
    unit.leaf("", tag::TEMPLATE_TYPE, &element).close();
}

fn pointer(unit: &mut Unit, label: &str, to: &str) {
    unit.leaf(label, tag::POINTER, &[(at::TYPE, V::To(to)), (at::BYTE_SIZE, V::U(8))]);
}

/// Names for which there are printers, on types of one member that has nothing to do with them.
const NAMES: &[&str] = &[
    "std::vector<int, std::allocator<int> >",
    "std::deque<int, std::allocator<int> >",
    "std::map<int, int>",
    "std::unordered_map<int, int>",
    "std::list<int>",
    "std::optional<int>",
    "std::variant<int>",
    "std::shared_ptr<int>",
    "std::function<int (int)>",
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
    "alloc::vec::Vec<u8, alloc::alloc::Global>",
    "alloc::string::String",
    "&str",
    "&[u8]",
    "std::collections::hash::map::HashMap<u8, u8>",
    "alloc::collections::btree::map::BTreeMap<u8, u8>",
    "alloc::rc::Rc<u8>",
    "string",
    "[]int",
    "map[string]int",
    "runtime.eface",
];

#[test]
fn types_that_only_have_the_name_of_a_container() {
    let mut unit = Unit::default();
    unit.basic();
    let mut commands = String::new();
    for (index, name) in NAMES.iter().enumerate() {
        let label = format!("c{index}");
        of_words(&mut unit, &label, name, &[("what", "long")]);
        unit.variable(&format!("v{index}"), &label).data(&format!("v{index}: .quad 0x1234567"));
        commands.push_str(&format!("::print v{index}; ::print -r v{index};"));
    }
    ask(&unit, &commands).says("0x1234567");
}

#[test]
fn a_slice_and_a_string_longer_than_all_memory() {
    let mut unit = Unit::default();
    unit.basic();
    pointer(&mut unit, "chars", "char");
    pointer(&mut unit, "ints", "int");
    of_words(&mut unit, "str", "&str", &[("data_ptr", "chars"), ("length", "long")]);
    of_words(&mut unit, "slice", "&[i32]", &[("data_ptr", "ints"), ("length", "long")]);
    of_words(&mut unit, "string", "string", &[("str", "chars"), ("len", "long")]);
    of_words(&mut unit, "goslice", "[]int", &[("array", "ints"), ("len", "long"), ("cap", "long")]);
    let mut commands = String::new();
    for (name, at, len) in [
        ("long", "text", "0x7fffffffffffffff"),
        ("minus", "text", "-1"),
        ("wild", "0xdead000000000000", "0x1000000"),
        ("null", "0", "5"),
        ("top", "-8", "64"),
    ] {
        for ty in ["str", "slice", "string", "goslice"] {
            let variable = format!("{ty}_{name}");
            unit.variable(&variable, ty).data(&format!("{variable}: .quad {at}, {len}, {len}"));
            commands.push_str(&format!("::print {variable}; ::print -CL {variable};"));
        }
    }
    unit.data("text: .ascii \"some text\"");
    ask(&unit, &commands);
}

/// A list of libstdc++ whose nodes go in a circle that never meets the head, and say nothing of it.
#[test]
fn a_list_that_never_comes_back() {
    let mut unit = Unit::default();
    unit.basic().open("std", tag::NAMESPACE, &[(at::NAME, V::Text("std"))]);
    unit.open("detail", tag::NAMESPACE, &[(at::NAME, V::Text("__detail"))]);
    pointer(&mut unit, "node_pointer", "node");
    of_words(
        &mut unit,
        "node",
        "_List_node_base",
        &[("_M_next", "node_pointer"), ("_M_prev", "node_pointer")],
    );
    unit.close();
    of_words(
        &mut unit,
        "head",
        "_List_node_header",
        &[("_M_next", "node_pointer"), ("_M_prev", "node_pointer"), ("_M_size", "long")],
    );
    of_words(&mut unit, "impl", "_List_impl", &[("_M_node", "head")]);
    of_words(&mut unit, "list", "list<int, std::allocator<int> >", &[("_M_impl", "impl")]);
    unit.close().variable("thing", "list");
    unit.data(
        "thing: .quad one, two, 0x7fffffffffffffff\none: .quad two, two, 1\ntwo: .quad one, one, 2",
    );
    ask(&unit, "::print thing; ::print -L thing; ::print -r thing");
}

/// Owning pointers, each of which owns the next, without end.
#[test]
fn owners_of_owners() {
    let mut unit = Unit::default();
    unit.basic().open("alloc", tag::NAMESPACE, &[(at::NAME, V::Text("alloc"))]);
    unit.open("boxed", tag::NAMESPACE, &[(at::NAME, V::Text("boxed"))]);
    pointer(&mut unit, "next", "box");
    of_words(&mut unit, "box", "Box<Box>", &[("pointer", "next")]);
    unit.close().close();
    let name = [(at::NAME, V::Text("alloc::boxed::Box<Link>")), (at::TYPE, V::To("link"))];
    unit.leaf("owner", tag::POINTER, &name);
    of_words(&mut unit, "link", "Link", &[("next", "owner")]);
    unit.variable("thing", "box")
        .variable("chain", "link")
        .data("thing: .quad other\nother: .quad thing");
    unit.data("chain:\n.set at, 0\n.rept 10000\n.set at, at + 8\n.quad chain + at\n.endr\n.quad 0");
    ask(&unit, "::print thing; ::print chain; ::print -s 0t1000000 chain; ::print -t thing");
}
