//! Symbol files of Breakpad.

use std::sync::Arc;

use kcore_elf::Image;
use kcore_files::breakpad::to_debug_file;
use kcore_mem::{Arch, Budget, Endian, Svma, Target};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::CfiBuilder;

/// Bytes that are made of each byte of the text at most, and of none.
const GROWTH: usize = 64;
const LEAST: usize = 4096;
/// Where code is looked up.
const LOOKED_UP: [u64; 4] = [0x0040_0000, 0x0040_1000, 0x0040_1008, 0x0040_1fff];

/// `data` is a symbol file. What is made of it is a file that can be read, and not much longer.
pub fn run(data: &[u8]) {
    for (arch, word, endian) in [(Arch::X86_64, 8, Endian::Little), (Arch::Mips, 4, Endian::Big)] {
        let target = Target { arch, word, endian };
        let Ok(made) = to_debug_file(data, Svma::new(0x0040_0000), target, &Budget::default())
        else {
            return;
        };
        assert!(made.len() <= data.len().saturating_mul(GROWTH).saturating_add(LEAST));
        let image = Arc::new(Image::parse(made.into()).expect("an ELF file"));
        if let Some(frames) = image.section_data(".debug_frame") {
            let _ = CfiBuilder::new(target, 0).debug_frame(Arc::new(frames)).build();
        }
        let symbols = ModuleSymbols::new(None, Some(image));
        for at in LOOKED_UP.map(Svma::new) {
            let _ = (symbols.function_at(at), symbols.lines().find(at));
        }
    }
}
