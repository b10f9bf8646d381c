//! A module with debug information: its own file, the one that `dwz` made beside it, and the ones of
//! split units.

use std::sync::Arc;

use kcore_elf::Image;
use kcore_symbols::{DebugContext, ModuleSymbols, SplitFiles, SplitName};

use crate::{
    input::Input,
    sections::{MAIN, SPLIT, read},
};

/// What else there is besides the module's own file.
pub const SUPPLEMENTARY: u8 = 1;
/// The file of a split unit, whatever its name.
pub const SPLIT_UNIT: u8 = 2;
/// A package of split units.
pub const PACKAGE: u8 = 4;

/// A byte that says which files there are, then the sections of each.
pub fn symbols(input: &mut Input<'_>) -> ModuleSymbols {
    let flags = input.byte();
    let main = image(input, &MAIN);
    let supplementary = (flags & SUPPLEMENTARY != 0).then(|| image(input, &MAIN)).flatten();
    let has_split = flags & (SPLIT_UNIT | PACKAGE) != 0;
    let split = has_split.then(|| image(input, &SPLIT)).flatten();
    let found = Found { file: split, is_package: flags & PACKAGE != 0 };
    let context = DebugContext { split: Some(Arc::new(found)), cache: None };
    ModuleSymbols::with_supplementary(main, None, supplementary, context)
}

fn image(input: &mut Input<'_>, names: &[&'static str]) -> Option<Arc<Image>> {
    Image::parse(read(input, names).into()).ok().map(Arc::new)
}

/// Finds one file for all units.
struct Found {
    file: Option<Arc<Image>>,
    is_package: bool,
}

impl SplitFiles for Found {
    fn file(&self, _: &SplitName) -> Option<Arc<Image>> {
        self.file.clone().filter(|_| !self.is_package)
    }

    fn package(&self) -> Option<Arc<Image>> {
        self.file.clone().filter(|_| self.is_package)
    }
}
