//! Types of real programs, whose debug information was cut down to them; see `seeds/make/programs.rs`.

use std::sync::{Arc, LazyLock};

use kcore_elf::Image;
use kcore_symbols::{DebugInfo, Type};

/// A program: its types, in the order of their names.
pub struct Program {
    /// The debug information.
    pub info: Arc<DebugInfo>,
    /// The types that have names.
    pub types: Vec<(String, Type)>,
}

/// The files, by the number that inputs know them by.
pub const NAMES: [&str; 5] = ["c", "cpp", "libcxx", "rust", "go"];

const FILES: [&[u8]; 5] = [
    include_bytes!("../programs/c"),
    include_bytes!("../programs/cpp"),
    include_bytes!("../programs/libcxx"),
    include_bytes!("../programs/rust"),
    include_bytes!("../programs/go"),
];

static PROGRAMS: LazyLock<Vec<Program>> =
    LazyLock::new(|| FILES.into_iter().map(Program::read).collect());

/// The program of a number, which may be any.
pub fn program(number: u8) -> &'static Program {
    &PROGRAMS[usize::from(number) % FILES.len()]
}

impl Program {
    /// That of a file.
    pub fn read(file: &[u8]) -> Self {
        let image = Image::parse(file.to_vec().into()).expect("a program is ELF");
        let info = Arc::new(DebugInfo::open(&image, None));
        let mut ids = Vec::new();
        info.each_type(|id, name| {
            ids.push((name.to_owned(), id));
            std::ops::ControlFlow::Continue(())
        });
        ids.sort();
        let typed = |(name, id)| Some((name, info.type_at(id).ok()?));
        let types = ids.into_iter().filter_map(typed).collect();
        Self { info, types }
    }

    /// The type of a number, which may be any.
    pub fn ty(&self, number: u64) -> &Type {
        &self.types[(number % self.types.len() as u64) as usize].1
    }
}
