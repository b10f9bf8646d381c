//! Names of Ada among those of C: only the language of the code tells them apart.

mod common;

use common::Build;
use kcore_symbols::{Language, ModuleSymbols};

/// Functions whose names GNAT may have made, and one that it calls in every program.
const PROGRAM: &str = "\
void store__put(void) {}
void ada__text_io__put(void) {}
void _ada_start(void) {}
void __gnat_raise(void) {}
int main(void) { store__put(); ada__text_io__put(); __gnat_raise(); _ada_start(); return 0; }
";

/// `DW_AT_language` of Ada 95 (DWARF 5, table 7.17).
const ADA: &str = ".byte\t0xd\t# DW_AT_language";

/// Compiles the program as if it were Ada, if `is_ada`, and else as C.
fn program(flags: &str, is_ada: bool) -> Build {
    let build = Build::compile("gcc", PROGRAM, "source.s", &["-S", "-dA", "-O0", flags]);
    let assembly = std::fs::read_to_string(build.path("source.s")).unwrap();
    let as_ada = |line: &str| match line.contains("# DW_AT_language") && is_ada {
        true => ADA.to_owned(),
        false => line.to_owned(),
    };
    let lines: Vec<String> = assembly.lines().map(as_ada).collect();
    assert_eq!(lines.iter().filter(|line| *line == ADA).count(), usize::from(is_ada), "{assembly}");
    std::fs::write(build.path("source.s"), lines.join("\n") + "\n").unwrap();
    build.run("gcc", &["-o", "program", "source.s"]);
    build
}

/// What symbols of the program are called.
fn names(build: &Build) -> Vec<String> {
    let symbols = ModuleSymbols::new(Some(build.image("program")), None);
    let name = |raw: &&str| {
        let id = symbols.table().lookup(raw).unwrap().id();
        symbols.name_of(id).unwrap().to_string()
    };
    ["store__put", "ada__text_io__put", "_ada_start", "main"].iter().map(name).collect()
}

#[test]
fn names_of_ada_are_those_of_its_units() {
    assert_eq!(names(&program("-g", true)), ["store.put", "ada.text_io.put", "start", "main"]);
    assert_eq!(
        names(&program("-g", false)),
        ["store__put", "ada__text_io__put", "_ada_start", "main"]
    );
}

#[test]
fn without_debug_information_only_packages_of_the_language_are_known() {
    assert_eq!(names(&program("-g0", false)), ["store__put", "ada.text_io.put", "start", "main"]);
}

#[test]
fn a_name_of_debug_information_has_the_language_of_its_unit() {
    let symbols = ModuleSymbols::new(None, None);
    let raw = "store__put".into();
    assert_eq!(&*symbols.demangled_in(&raw, Some(Language::Ada)), "store.put");
    assert_eq!(&*symbols.demangled_in(&raw, Some(Language::C)), "store__put");
}
