//! Source lines and inlined calls by DWARF.

use std::sync::Arc;

use kcore_elf::Image;
use kcore_mem::Svma;
use kcore_symbols::{Lines, ModuleSymbols};

/// Addresses that are asked about.
const ASKED: usize = 48;
/// Bytes between two of them: from the first executable segment's first byte on.
const STEP: u64 = 5;

/// `data` is an ELF file with DWARF.
pub fn run(data: &[u8]) {
    let Ok(image) = Image::parse(data.to_vec().into()) else { return };
    let image = Arc::new(image);
    let lines = Lines::new(Some(image.clone()), None);
    let symbols = ModuleSymbols::new(Some(image.clone()), None);
    let code = image.segments().iter().filter(|segment| segment.is_executable());
    let places =
        code.flat_map(|segment| (0..).map(|at| segment.svma.get().wrapping_add(at * STEP)));
    let entry = (0..).map(|at| image.entry().get().wrapping_add(at * STEP));
    for at in places.take(ASKED).chain(entry.take(ASKED)).map(Svma::new) {
        let _ = (lines.find(at), symbols.function_at(at));
    }
    let _ = lines.problem();
}
