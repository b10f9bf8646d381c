//! Source lines of programs that the C compiler makes.

mod common;
#[path = "common/symbols.rs"]
mod symbols;

use std::sync::Arc;

use common::Build;
use kcore_elf::{FileBytes, Image};
use kcore_mem::Svma;
use kcore_symbols::{Language, Lines, ModuleSymbols, SymbolTable};
use symbols::value_of;

/// The call to `outer` stands in line 5, `inner` is inlined into `outer` in line 3.
const PROGRAM: &str = "volatile int sink;
static inline __attribute__((always_inline)) void inner(int x) { sink = x; }
__attribute__((noinline)) void outer(int x) { inner(x + 1); }
int main(void) {
  outer(1);
  return 0;
}
";

fn store_in_outer(table: &SymbolTable, lines: &Lines) -> Svma {
    let outer = table.lookup("outer").unwrap();
    let all = (0..outer.size()).map(|at| outer.value().checked_add(at).unwrap());
    all.into_iter().find(|at| lines.find(*at).len() == 2).expect("an inlined address")
}

#[test]
fn an_inlined_call_is_a_frame_of_its_own() {
    let build = Build::compile("gcc", PROGRAM, "program", &["-O2", "-g"]);
    let image = build.image("program");
    let symbols = ModuleSymbols::new(Some(Arc::clone(&image)), None);
    let at = store_in_outer(symbols.table(), symbols.lines());
    let frames = symbols.lines().find(at);
    let names: Vec<_> = frames.iter().map(|frame| frame.function.as_deref()).collect();
    assert_eq!(names, [Some("inner"), Some("outer")]);
    assert_eq!((frames[0].inline, frames[1].inline), (true, false));
    assert_eq!((frames[0].line, frames[1].line), (Some(2), Some(3)));
    assert!(frames[0].file.as_deref().unwrap().ends_with("source.c"));
    assert!(frames[0].file.as_deref().unwrap().starts_with('/'));
    assert_eq!(frames[0].language, Some(Language::C));
    assert_eq!(symbols.function_at(at).unwrap().name.as_ref(), "outer");
    assert_eq!(symbols.lines().problem(), None);
}

#[test]
fn lines_come_from_the_debug_file_of_a_stripped_one() {
    let build = Build::compile("gcc", PROGRAM, "program", &["-O0", "-g", "-gz"]);
    build.run("objcopy", &["--only-keep-debug", "program", "program.debug"]);
    build.run("objcopy", &["--strip-all", "program", "stripped"]);
    let (stripped, debug) = (build.image("stripped"), build.image("program.debug"));
    assert!(!Lines::new(Some(Arc::clone(&stripped)), None).has_debug_info());
    let symbols = ModuleSymbols::new(Some(stripped), Some(debug));
    let main = value_of(symbols.table(), "main");
    let frames = symbols.lines().find(main);
    assert_eq!((frames.len(), frames[0].line), (1, Some(4)));
    assert_eq!(frames[0].function.as_deref(), Some("main"));
}

#[test]
fn dwarf_4_and_a_relative_path_work_too() {
    let build = Build::compile("gcc", PROGRAM, "program", &["-O0", "-gdwarf-4"]);
    let symbols = ModuleSymbols::new(Some(build.image("program")), None);
    let main = value_of(symbols.table(), "main");
    assert_eq!(symbols.lines().find(main)[0].line, Some(4));
}

#[test]
fn without_debug_information_there_are_no_lines_and_no_problem() {
    let build = Build::compile("gcc", PROGRAM, "program", &["-O0"]);
    let lines = Lines::new(Some(build.image("program")), None);
    assert!(!lines.has_debug_info());
    assert!(lines.find(Svma::new(0x1139)).is_empty());
    assert_eq!(lines.problem(), None);
    assert!(Lines::new(None, None).find(Svma::new(0)).is_empty());
}

#[test]
fn assembly_has_lines_and_a_language() {
    let build = Build::compile("gcc", "int main(void){return 0;}", "unused", &[]);
    std::fs::write(build.path("a.s"), ".globl start_here\nstart_here:\n nop\n ret\n").unwrap();
    build.run("gcc", &["-g", "-shared", "-o", "lib.so", "a.s"]);
    let symbols = ModuleSymbols::new(Some(build.image("lib.so")), None);
    let at = value_of(symbols.table(), "start_here");
    let frames = symbols.lines().find(at.checked_add(1).unwrap());
    assert_eq!(frames[0].line, Some(4));
    assert_eq!(frames[0].language, Some(Language::Asm));
    assert!(!frames[0].inline);
}

#[test]
fn split_dwarf_falls_back_to_what_the_skeleton_says() {
    let build = Build::compile("gcc", PROGRAM, "program", &["-O0", "-g", "-gsplit-dwarf"]);
    let symbols = ModuleSymbols::new(Some(build.image("program")), None);
    let frames = symbols.lines().find(value_of(symbols.table(), "main"));
    assert_eq!(frames[0].line, Some(4));
    assert_eq!(frames[0].function, None);
}

#[test]
fn damaged_dwarf_never_panics_and_is_told_once() {
    let build = Build::compile("g++", PROGRAM, "program", &["-O2", "-g"]);
    let image = build.image("program");
    let sections = [".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists", ".debug_str"];
    let mut problems = 0;
    let mut random = 7_u32;
    let outer = SymbolTable::from_images(Some(&image), None);
    let at = outer.iter().find(|symbol| symbol.name() == b"_Z5outeri").unwrap().value();
    for round in 0..300 {
        let mut bytes = image.bytes().to_vec();
        let section = image.section(sections[round % sections.len()]).unwrap();
        let (start, len) = section.file_range().unwrap();
        for _ in 0..4 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let offset = u64::from(random >> 8) % len;
            bytes[(start.get() + offset) as usize] = random as u8;
        }
        let damaged = Arc::new(Image::parse(FileBytes::from(bytes)).unwrap());
        let lines = Lines::new(Some(damaged), None);
        for offset in 0..8 {
            lines.find(at.checked_add(offset).unwrap());
        }
        problems += usize::from(lines.problem().is_some());
    }
    assert!(problems > 10, "only {problems} of 300 damages were told");
}

#[test]
fn symbols_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<ModuleSymbols>();
    shared::<SymbolTable>();
    shared::<Lines>();
}
