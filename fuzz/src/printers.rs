//! Files of printers, walkers and dcmds that may say anything, for objects of types of real programs.

use std::sync::Arc;

use kcore_mem::{Addr, Budget};
use kcore_values::{
    DcmdAction, DeclaredPrinters, Object, PrinterFile, TypePattern, WalkElement, holds_for_element,
    over_element,
};

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
    let file = Arc::new(file);
    printers.load(Arc::clone(&file));
    let budget = Budget::default();
    let process = Made { memory, info, types: Vec::new(), printers, budget };
    let object = Object::at(ty, at);
    show(&object.value(&process, &LIMITS));
    let _ = process.printers.take_troubles();
    walk(&process, &file, &object);
}

/// Elements of a walk that are looked at.
const ELEMENTS: usize = 64;

/// All walks of a file from an object, and all its tables over their first elements.
fn walk(process: &Made, file: &PrinterFile, object: &Object) {
    let mut elements = vec![object.clone()];
    for walker in &file.walkers {
        let Ok(walk) = walker.walk(process, object) else { continue };
        for element in walk.take(ELEMENTS) {
            match element {
                Ok(WalkElement::Object(element)) => elements.push(element),
                Ok(_) => {}
                Err(trouble) => drop(trouble.to_string()),
            }
        }
    }
    for dcmd in &file.dcmds {
        let DcmdAction::Table { when, columns, .. } = &dcmd.action else { continue };
        for element in elements.iter().take(ELEMENTS) {
            let _ = holds_for_element(process, element, when.as_ref(), &[1, 2]);
            for column in columns {
                if let Ok(part) = over_element(process, element, &column.value, &[1, 2]) {
                    show(&part.value(process, &LIMITS));
                }
            }
        }
    }
}
