//! Files of printers that may say anything, for objects of types of real programs.

use std::sync::Arc;

use kcore_mem::{Addr, Budget};
use kcore_values::{DeclaredPrinters, Object, PrinterFile, TypePattern};

use crate::{
    input::Input,
    memory::Memory,
    process::{LIMITS, Made},
    program::program,
    shown::show,
};

/// The file, then the number of a program and of a type of it, the address of the object, and memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let text = String::from_utf8_lossy(input.part());
    let Ok(file) = PrinterFile::parse("fuzz", &text) else { return };
    let program = program(input.byte());
    let ty = program.ty(input.word()).clone();
    let at = Addr::new(input.word());
    let memory = Memory::read(&mut input);
    let info = Some(program.info.clone());
    let names = ty.qualified_name().into_iter().chain(["A<B<*>, C>::D".to_owned()]);
    for (name, pattern) in names.zip(text.lines()) {
        let _ = TypePattern::new(pattern).captures(&name);
    }
    let mut printers = DeclaredPrinters::shipped();
    printers.load(Arc::new(file));
    let budget = Budget::default();
    let process = Made { memory, info, types: Vec::new(), printers, budget };
    show(&Object::at(ty, at).value(&process, &LIMITS));
    let _ = process.printers.take_troubles();
}
