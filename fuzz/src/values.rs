//! Objects of types of real programs, in memory that may hold anything: all printers.

use kcore_mem::Addr;
use kcore_mem::Budget;
use kcore_values::{DeclaredPrinters, Limits, Object};

use crate::{
    input::Input,
    memory::Memory,
    process::{LIMITS, Made},
    program::program,
    shown::show,
};

/// The number of a program and of a type of it, the address of the object, that of the type that
/// tables and descriptors belong to, then memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let program = program(input.byte());
    let ty = program.ty(input.word()).clone();
    let at = Addr::new(input.word());
    let dynamic = program.ty(input.word()).clone();
    let memory = Memory::read(&mut input);
    let info = Some(program.info.clone());
    let process = Made {
        memory,
        info,
        types: vec![dynamic],
        printers: DeclaredPrinters::default(),
        budget: Budget::default(),
    };
    let object = Object::at(ty, at);
    process.look_at(&object);
    show(&object.value(&process, &LIMITS));
    show(&object.layout(&process, &LIMITS));
    show(&object.value(&process, &Limits { raw: true, ..LIMITS }).with_holes(None));
}
