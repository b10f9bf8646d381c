//! Symbol tables of programs that the C compiler makes.

mod common;
#[path = "common/symbols.rs"]
mod symbols;

use std::sync::Arc;

use common::Build;
use kcore_elf::{SymbolBinding, SymbolKind};
use kcore_mem::Svma;
use kcore_symbols::{ModuleSymbols, RawSymbol, SymbolSource, SymbolTable};
use symbols::value_of;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int counter = 7;
static int hidden(int x) { return x * 3 + counter; }
int alias_target(int x) { return hidden(x) + 1; }
int _alias_of(int) __attribute__((alias("alias_target")));
int weak_alias(int) __attribute__((weak, alias("alias_target")));
__asm__(".text\n.globl bare_asm\nbare_asm:\n nop\n nop\n nop\n ret\n"
        ".globl next_asm\n.type next_asm,@function\nnext_asm:\n ret\n.size next_asm,1\n"
        ".Llocal_label:\n nop\n");
__thread int per_thread;
int main(int argc, char **argv) { puts(argv[0]); per_thread = argc; return alias_target(abs(atoi(argv[0]))); }
"#;

/// The raw name at an address.
fn name_at(table: &SymbolTable, at: Svma) -> Option<String> {
    table.find(at).map(|symbol| String::from_utf8_lossy(symbol.name()).into_owned())
}

fn program(flags: &[&str]) -> (Build, SymbolTable) {
    let build = Build::compile("gcc", PROGRAM, "program", flags);
    let table = SymbolTable::from_images(Some(&build.image("program")), None);
    (build, table)
}

#[test]
fn a_function_covers_its_size_and_data_too() {
    let (_build, table) = program(&["-O0"]);
    let main = table.lookup("main").unwrap();
    assert_eq!((main.kind(), main.binding()), (SymbolKind::Function, SymbolBinding::Global));
    let last = main.value().checked_add(main.size() - 1).unwrap();
    assert_eq!(name_at(&table, last).as_deref(), Some("main"));
    assert_ne!(name_at(&table, last.checked_add(1).unwrap()).as_deref(), Some("main"));
    let counter = table.lookup("counter").unwrap();
    assert_eq!((counter.kind(), counter.size()), (SymbolKind::Object, 4));
    assert_eq!(
        name_at(&table, counter.value().checked_add(3).unwrap()).as_deref(),
        Some("counter")
    );
}

#[test]
fn of_aliases_the_global_one_with_few_underscores_is_shown() {
    let (_build, table) = program(&["-O0"]);
    let at = value_of(&table, "alias_target");
    assert_eq!(value_of(&table, "weak_alias"), at);
    assert_eq!(value_of(&table, "_alias_of"), at);
    assert_eq!(name_at(&table, at).as_deref(), Some("alias_target"));
}

#[test]
fn a_weak_name_is_better_than_a_global_one_with_underscores() {
    let aliased = "int __wait_for(int n) { return n; }
        int wait_for(int) __attribute__((weak, alias(\"__wait_for\")));
        int main(void) { return wait_for(0); }";
    let build = Build::compile("gcc", aliased, "aliased", &["-O0"]);
    let table = SymbolTable::from_images(Some(&build.image("aliased")), None);
    assert_eq!(name_at(&table, value_of(&table, "__wait_for")).as_deref(), Some("wait_for"));
}

#[test]
fn a_copy_of_a_function_is_found_by_its_name() {
    let copies = "__asm__(\".text\\n\"
        \".type wait.cold,@function\\nwait.cold: ret\\n.size wait.cold,1\\n\"
        \".type wait.isra.0,@function\\nwait.isra.0: nop\\nret\\n.size wait.isra.0,2\\n\"
        \".type poll.part.0,@function\\npoll.part.0: ret\\n.size poll.part.0,1\\n\"
        \".globl poll\\n.type poll,@function\\npoll: ret\\n.size poll,1\\n\");
        int main(void) { return 0; }";
    let build = Build::compile("gcc", copies, "copies", &["-O0"]);
    let table = SymbolTable::from_images(Some(&build.image("copies")), None);
    let found = |name: &str| table.lookup(name).map(|symbol| symbol.name().to_owned());
    assert_eq!(found("wait").as_deref(), Some(&b"wait.isra.0"[..]));
    assert_eq!(found("poll").as_deref(), Some(&b"poll"[..]));
    assert_eq!(found("wait.cold").as_deref(), Some(&b"wait.cold"[..]));
    assert_eq!(found("wai"), None);
}

#[test]
fn assembly_without_a_size_reaches_to_the_next_symbol() {
    let (_build, table) = program(&["-O0"]);
    let bare = table.lookup("bare_asm").unwrap();
    assert_eq!((bare.size(), bare.extent()), (0, 4));
    assert_eq!(name_at(&table, bare.value().checked_add(3).unwrap()).as_deref(), Some("bare_asm"));
    assert_eq!(name_at(&table, bare.value().checked_add(4).unwrap()).as_deref(), Some("next_asm"));
    assert_ne!(name_at(&table, bare.value().checked_add(5).unwrap()).as_deref(), Some("bare_asm"));
}

#[test]
fn symbols_of_sections_that_are_not_loaded_are_no_places_in_memory() {
    const WARNING: &str = r#"
__asm__(".section .remarks,\"\",@progbits\n.globl a_warning\na_warning:\n .ascii \"unsafe\"\n.text\n");
int main(void) { return 0; }
"#;
    let build = Build::compile("gcc", WARNING, "program", &["-O0"]);
    let table = SymbolTable::from_images(Some(&build.image("program")), None);
    let names: Vec<_> = table.iter().map(|symbol| symbol.name().to_vec()).collect();
    assert!(names.contains(&b"a_warning".to_vec()), "::nm still lists it");
    assert_eq!(name_at(&table, Svma::new(0)), None);
    assert_ne!(
        table.find_before(Svma::new(8)).map(|symbol| symbol.name()),
        Some(&b"a_warning"[..])
    );
}

#[test]
fn thread_local_variables_files_and_sections_are_no_places_in_memory() {
    let (_build, table) = program(&["-O0"]);
    let per_thread = table.lookup("per_thread").unwrap();
    assert_eq!(per_thread.kind(), SymbolKind::Tls);
    assert_ne!(name_at(&table, per_thread.value()).as_deref(), Some("per_thread"));
    assert!(table.iter().any(|symbol| symbol.kind() == SymbolKind::File));
}

#[test]
fn linkage_table_entries_have_the_names_of_what_they_call() {
    for flags in [
        &["-O0", "-fcf-protection=full", "-Wl,-z,lazy"][..],
        &["-O0", "-fcf-protection=none", "-Wl,-z,lazy"],
        &["-O0", "-no-pie"],
        &["-O0", "-Wl,-z,now"],
    ] {
        let (build, table) = program(flags);
        let puts = table.lookup("puts@plt").unwrap_or_else(|| panic!("no puts@plt with {flags:?}"));
        assert_eq!(puts.source(), SymbolSource::Plt);
        let disassembly = std::process::Command::new("objdump")
            .args(["-d", "--no-show-raw-insn", "program"])
            .current_dir(build.path(""))
            .output()
            .unwrap();
        let disassembly = String::from_utf8_lossy(&disassembly.stdout).into_owned();
        let there = format!("{:016x} <puts@plt>", puts.value());
        assert!(disassembly.contains(&there), "{flags:?}: objdump has no {there}");
        assert_eq!(
            name_at(&table, puts.value().checked_add(5).unwrap()).as_deref(),
            Some("puts@plt")
        );
    }
}

#[test]
fn linkage_entries_of_a_static_program_have_the_names_of_their_resolvers() {
    let (_build, table) = program(&["-O0", "-static"]);
    let entries = table.iter().filter(|symbol| symbol.source() == SymbolSource::Plt);
    let names: Vec<_> = entries.map(|symbol| String::from_utf8_lossy(symbol.name())).collect();
    assert!(names.iter().any(|name| name.contains("strlen@plt")), "{names:?}");
}

#[test]
fn a_stripped_file_and_its_debug_file_are_one_table() {
    let (build, whole) = program(&["-O0", "-g"]);
    build.run("objcopy", &["--only-keep-debug", "program", "program.debug"]);
    build.run("objcopy", &["--strip-all", "program", "stripped"]);
    let (stripped, debug) = (build.image("stripped"), build.image("program.debug"));
    let alone = SymbolTable::from_images(Some(&stripped), None);
    assert!(alone.lookup("hidden").is_none());
    let both = SymbolTable::from_images(Some(&stripped), Some(&debug));
    assert_eq!(value_of(&both, "hidden"), value_of(&whole, "hidden"));
    assert_eq!(both.len(), whole.len());
    let twice = SymbolTable::from_images(Some(&build.image("program")), Some(&debug));
    assert_eq!(twice.len(), whole.len());
    let bare = both.lookup("bare_asm").unwrap();
    assert_eq!(bare.extent(), 4);
}

#[test]
fn lookup_ignores_versions_and_prefers_what_is_defined() {
    let (_build, table) = program(&["-O0"]);
    let puts = table.lookup("puts").unwrap();
    assert!(!puts.is_defined());
    assert!(table.lookup("puts@GLIBC_9.9").is_none());
    assert!(table.lookup("no_such_symbol").is_none());
}

#[test]
fn completion_is_sorted_and_bounded() {
    let (_build, table) = program(&["-O0"]);
    let complete = |prefix, max| table.complete(prefix, max, &|| true).unwrap();
    assert_eq!(complete("alias_", 10), ["alias_target"]);
    let all = complete("", 10_000);
    assert!(all.is_sorted() && all.len() > 4, "{all:?}");
    assert!(!all.iter().any(|name| name.starts_with(".L")));
    let ends = [&all[..2], &all[all.len() - 1..]].concat();
    assert_eq!(complete("", 3), ends, "the first ones and the last");
}

#[test]
fn completion_stops_when_it_is_told_to() {
    let (_build, table) = program(&["-O0"]);
    assert_eq!(table.complete("", 10, &|| false), None);
}

#[test]
fn cpp_names_are_found_as_the_source_spells_them() {
    let source = "namespace ns { template<class T> struct Box { T value; void put(T, int) __attribute__((noinline)); };
        template<class T> void Box<T>::put(T v, int) { value = v; } }
        int free_function(int x) { return x; }
        int main() { ns::Box<int> box; box.put(1, 2); return box.value; }";
    let build = Build::compile("g++", source, "program", &["-O0"]);
    let table = SymbolTable::from_images(Some(&build.image("program")), None);
    let put = table.lookup("ns::Box<int>::put").unwrap();
    assert_eq!(put.name(), b"_ZN2ns3BoxIiE3putEii");
    assert_eq!(table.lookup("ns::Box<int>::put(int, int)"), Some(put));
    assert_eq!(table.lookup("ns::Box<int>::put(int)"), None);
    assert_eq!(table.lookup("_ZN2ns3BoxIiE3putEii"), Some(put));
    assert_eq!(table.lookup("free_function").unwrap().name(), b"_Z13free_functioni");
}

#[test]
fn cpp_names_are_completed_as_the_source_spells_them() {
    let source = "namespace ns { struct Parser { int parse(int); int print(); }; namespace inner { int run() { return 1; } }
        int Parser::parse(int x) { return x; } int Parser::print() { return 2; } }
        int free_function(int x) { return x; }
        int main() { return free_function(ns::inner::run()); }";
    let build = Build::compile("g++", source, "program", &["-O0"]);
    let table = SymbolTable::from_images(Some(&build.image("program")), None);
    let complete = |prefix| table.complete(prefix, 10, &|| true).unwrap();
    assert_eq!(complete("free_f"), ["free_function"]);
    assert_eq!(complete("ns"), ["ns::"]);
    assert_eq!(complete("ns::"), ["ns::Parser::", "ns::inner::"]);
    assert_eq!(complete("ns::Parser::p"), ["ns::Parser::parse", "ns::Parser::print"]);
    assert_eq!(complete("ns::inner::r"), ["ns::inner::run"]);
    assert_eq!(complete("_Z13free"), ["_Z13free_functioni"], "a mangling to who types one");
    for whole in ["free_function", "ns::Parser::parse", "ns::inner::run"] {
        assert!(table.lookup(whole).is_some(), "{whole} is offered and cannot be typed");
    }
}

fn raw(name: &str, value: u64, size: u64, kind: SymbolKind) -> RawSymbol {
    RawSymbol {
        index: 1,
        name: name.into(),
        value: Svma::new(value),
        size,
        kind,
        binding: SymbolBinding::Global,
        other: 0,
        section: 1,
    }
}

#[test]
fn symbols_from_memory_work_without_sections() {
    let function = SymbolKind::Function;
    let table = SymbolTable::from_raw(vec![
        raw("last", 0x300, 0, function),
        raw("first", 0x100, 0, function),
        raw("second", 0x200, 0x10, function),
        raw("imported", 0, 0, function),
        RawSymbol { section: 0, ..raw("undefined", 0x100, 8, function) },
    ]);
    assert_eq!(name_at(&table, Svma::new(0x1ff)).as_deref(), Some("first"));
    assert_eq!(name_at(&table, Svma::new(0x210)), None);
    assert_eq!(table.find_nearest(Svma::new(0x2f0)).unwrap().name(), b"last");
    assert_eq!(table.find_nearest(Svma::new(0x218)).unwrap().name(), b"second");
    assert_eq!(table.find_nearest(Svma::new(u64::MAX)).unwrap().name(), b"last");
    assert_eq!(table.lookup("first").unwrap().source(), SymbolSource::Memory);
}

#[test]
fn hostile_sizes_and_values_do_no_harm() {
    let function = SymbolKind::Function;
    let mut symbols: Vec<_> = (0..2000)
        .map(|at| raw("f", at * 8, u64::MAX - at, function))
        .chain((0..2000).map(|at| raw("u", u64::MAX - at, u64::MAX, function)))
        .collect();
    symbols.push(raw("", u64::MAX, u64::MAX, function));
    let table = SymbolTable::from_raw(symbols);
    assert!(table.find(Svma::new(1999 * 8 + 7)).is_some());
    assert!(table.find(Svma::new(u64::MAX)).is_none());
    assert!(SymbolTable::from_raw(Vec::new()).find_nearest(Svma::new(1)).is_none());
}

#[test]
fn demangled_names_are_remembered_and_shared() {
    let build = Build::compile(
        "g++",
        "int twice(int x) { return 2 * x; } int main() { return twice(1); }",
        "program",
        &["-O0"],
    );
    let symbols = ModuleSymbols::new(Some(build.image("program")), None);
    let twice = symbols.table().lookup("twice").unwrap();
    let inside = twice.value().checked_add(2).unwrap();
    let function = symbols.function_at(inside).unwrap();
    assert_eq!(
        (function.name.as_ref(), function.start, function.size),
        ("twice", twice.value(), twice.size())
    );
    assert!(Arc::ptr_eq(&function.name, &symbols.function_at(twice.value()).unwrap().name));
    let raw = Arc::from("_Z5twicei");
    assert_eq!(&*symbols.demangled(&raw), "twice");
    assert!(Arc::ptr_eq(&symbols.demangled(&raw), &symbols.demangled(&raw)));
}
