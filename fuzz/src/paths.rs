//! Paths from objects to their parts, and expressions of C, as users type them.

use kcore_mem::Addr;
use kcore_mem::Budget;
use kcore_symbols::Type;
use kcore_values::expression::{ExpressionNames, evaluate};
use kcore_values::{DeclaredPrinters, Object, PathWalker, PathWords, Process};

use crate::{
    input::Input,
    memory::Memory,
    process::{LIMITS, Made},
    program::{Program, program},
};

/// Parts whose values are read.
const READ: usize = 16;

/// The number of a program and of a type of it, the address of the object, the path, then memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let program = program(input.byte());
    let object = Object::at(program.ty(input.word()).clone(), Addr::new(input.word()));
    let Ok(path) = std::str::from_utf8(input.part()) else { return };
    let memory = Memory::read(&mut input);
    let process = Made {
        memory,
        info: Some(program.info.clone()),
        types: Vec::new(),
        printers: DeclaredPrinters::shipped(),
        budget: Budget::default(),
    };
    let words = Words(program);
    follow(&PathWalker::new(&process, &words), &process, &object, path);
    follow(&PathWalker::new(&process, &words).without_memory(), &process, &object, path);
    let names = Names { words, object };
    let Ok(end) = evaluate(&process, &names, path) else { return };
    for part in end.parts.iter().take(READ) {
        let _ = part.object.value(&process, &LIMITS);
    }
}

fn follow(walker: &PathWalker<'_>, process: &dyn Process, object: &Object, path: &str) {
    let Ok(end) = walker.follow(object, path) else { return };
    for part in end.parts.iter().take(READ) {
        let _ = (part.object.value(process, &LIMITS), part.object.part_at(process, 3));
    }
}

/// Names of one letter are the object.
struct Names<'a> {
    words: Words<'a>,
    object: Object,
}

impl PathWords for Names<'_> {
    fn number(&self, text: &str) -> Result<u64, String> {
        self.words.number(text)
    }

    fn type_named(&self, text: &str) -> Result<Type, String> {
        self.words.type_named(text)
    }
}

impl ExpressionNames for Names<'_> {
    fn object(&self, name: &str) -> Option<Object> {
        (name.len() == 1).then(|| self.object.clone())
    }

    fn register(&self, name: &str) -> Option<Object> {
        self.object(name)
    }

    fn dot(&self) -> Addr {
        self.object.address().unwrap_or_default()
    }
}

/// Numbers in hexadecimal, types by their names alone.
struct Words<'a>(&'a Program);

impl PathWords for Words<'_> {
    fn number(&self, text: &str) -> Result<u64, String> {
        u64::from_str_radix(text.trim(), 16).map_err(|error| error.to_string())
    }

    fn type_named(&self, text: &str) -> Result<Type, String> {
        let name = text.trim_end_matches(['*', ' ']);
        let found = self.0.info.find_types(name).into_iter().next();
        let found = found.ok_or_else(|| name.to_owned())?;
        let pointers = text.chars().filter(|letter| *letter == '*').take(8);
        Ok(pointers.fold(found, |ty, _| ty.pointer(8)))
    }
}
