//! What is built for all later answers ends with the command that builds it, and the next command has all of it.

mod common;

use std::sync::{Arc, atomic::Ordering};
use std::time::Duration;

use common::Build;
use kcore_elf::Image;
use kcore_mem::{Allowance, Budget, Svma};
use kcore_symbols::{ModuleSymbols, TypeError};

/// Functions `f` of one byte each, with a line and a symbol each; then `g`, into which as many calls of `h` are
/// inlined; then a type.
const SOURCE: &str = r#"
.section .debug_abbrev
.byte 1, 0x11, 1, 0x11, 1, 0x12, 6, 0x10, 0x17, 0, 0
.byte 2, 0x2e, 0, 3, 8, 0x11, 1, 0x12, 11, 0, 0
.byte 3, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 6, 0, 0
.byte 4, 0x1d, 0, 3, 8, 0x11, 1, 0x12, 11, 0, 0
.byte 5, 0x13, 0, 3, 8, 11, 11, 0, 0
.byte 0
.section .debug_line
lines:
.section .debug_info
.long 2f - 1f
1: .short 4
.long 0
.byte 8, 1
.quad code
.long 2 * COUNT
.long lines
.set number, 0
.rept COUNT
.byte 2, 0x66, 0
.quad code + number
.byte 1
.set number, number + 1
.endr
.byte 3, 0x67, 0
.quad code + COUNT
.long COUNT
.rept COUNT
.byte 4, 0x68, 0
.quad code + number
.byte 1
.set number, number + 1
.endr
.byte 0, 5, 0x74, 0, 8, 0
2:
.text
.file 1 "many.c"
.macro line
s\\@: .loc 1 3
nop
.loc 1 4
nop
.endm
code:
.rept COUNT
line
.endr
"#;
const COUNT: u64 = 20_000;

struct Halted {
    _build: Build,
    image: Arc<Image>,
    budget: Budget,
}

impl Halted {
    fn new(budget: Budget) -> Self {
        let assembly = SOURCE.replace("COUNT", &COUNT.to_string());
        let assembly = assembly.replace('"', "\\\"").replace('\n', "\\n");
        let source = format!("__asm__(\"{assembly}\"); int main(void) {{ return 0; }}");
        let build = Build::compile("gcc", &source, "program", &["-g0", "-no-pie"]);
        let image = Arc::into_inner(build.image("program")).expect("nobody else has it");
        let image = image.within(&budget, "program");
        Self { _build: build, image: Arc::new(image), budget }
    }

    fn interrupt(&self, on: bool) {
        self.budget.interrupt().store(on, Ordering::SeqCst);
    }

    fn symbols(&self) -> ModuleSymbols {
        ModuleSymbols::new(Some(Arc::clone(&self.image)), None)
    }

    fn code(&self) -> Svma {
        let table = kcore_symbols::SymbolTable::from_images(Some(&self.image), None);
        table.lookup("code").expect("it has a symbol").value()
    }
}

fn names(symbols: &ModuleSymbols, at: Svma) -> Vec<String> {
    let frames = symbols.lines().find(at);
    frames.iter().map(|frame| frame.function.as_deref().unwrap_or("?").to_owned()).collect()
}

#[test]
fn the_next_command_has_what_a_halted_one_had_not() {
    let halted = Halted::new(Budget::default());
    let code = halted.code().get();
    let (last, inner) = (Svma::new(code + COUNT - 1), Svma::new(code + 2 * COUNT - 1));
    let symbols = halted.symbols();
    halted.interrupt(true);
    for _ in 0..6 {
        assert!(names(&symbols, last).is_empty() && names(&symbols, inner).is_empty());
    }
    assert_eq!(symbols.scopes_at(last, &halted.budget).unwrap_err(), TypeError::Exhausted);
    let info = symbols.debug_info().expect("it has debug information");
    assert!(info.find_types("t").is_empty() && symbols.table().find_before(inner).is_none());
    assert!(symbols.table().is_empty());
    assert_eq!(symbols.lines().problem(), None, "nothing is damaged");
    halted.interrupt(false);
    for _ in 0..6 {
        assert_eq!(names(&symbols, last), ["f"]);
        assert_eq!(names(&symbols, inner), ["h", "g"]);
    }
    assert_eq!(symbols.lines().find(inner)[0].line, Some(4));
    assert!(symbols.scopes_at(last, &halted.budget).is_ok_and(|scopes| scopes.is_some()));
    assert_eq!(info.find_types("t").len(), 1);
    assert!(symbols.table().len() > COUNT as usize);
    assert!(symbols.table().find_before(inner).is_some_and(|symbol| symbol.value() > last));
    halted.interrupt(true);
    assert_eq!(names(&symbols, Svma::new(code + 7)), ["f"], "what is whole is kept");
}

#[test]
fn indexes_that_begin_in_a_halted_command_end_in_the_next_one() {
    let halted = Halted::new(Budget::default());
    let code = halted.code().get();
    let symbols = halted.symbols();
    // The functions of the unit are known, and the calls in the last one are not.
    assert_eq!(names(&symbols, Svma::new(code)), ["f"]);
    halted.interrupt(true);
    for at in COUNT + 4096..COUNT + 4106 {
        assert!(names(&symbols, Svma::new(code + at + 1000)).is_empty());
    }
    let table = symbols.table();
    assert!(table.is_empty() && table.lookup("main").is_none());
    halted.interrupt(false);
    for at in COUNT + 4096..COUNT + 4106 {
        assert_eq!(names(&symbols, Svma::new(code + at + 1000)), ["h", "g"]);
    }
    let table = symbols.table();
    halted.interrupt(true);
    assert!(table.lookup("main").is_none());
    halted.interrupt(false);
    assert!(table.lookup("main").is_some());
}

#[test]
fn no_index_is_built_when_the_time_is_over() {
    let late = Allowance { time: Some(Duration::ZERO), ..Allowance::default() };
    let halted = Halted::new(Budget::new(late));
    let symbols = halted.symbols();
    let at = halted.image.entry();
    assert!(names(&symbols, at).is_empty() && symbols.table().is_empty());
    assert!(symbols.debug_info().is_some_and(|info| info.find_types("t").is_empty()));
    assert!(halted.budget.is_late(), "it is said");
}
