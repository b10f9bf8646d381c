//! A module's file: segments, sections, symbols, build-id, and the symbol table made of it.

use kcore_elf::{Image, SymbolTableKind};
use kcore_mem::Svma;
use kcore_symbols::SymbolTable;

/// Addresses that are looked up.
const LOOKED_UP: usize = 64;

/// `data` is an ELF file.
pub fn run(data: &[u8]) {
    let Ok(image) = Image::parse(data.to_vec().into()) else { return };
    let _ = (image.build_id(), image.debug_link(), image.note(b"GNU", 1));
    for section in image.sections() {
        let _ = image.section_data(&section.name);
    }
    for segment in image.segments() {
        let _ = image.bytes_at(segment.svma);
    }
    for kind in [SymbolTableKind::Full, SymbolTableKind::Dynamic] {
        let _ = image.symbols(kind).count();
    }
    look_up(&SymbolTable::from_images(Some(&image), Some(&image)));
}

fn look_up(table: &SymbolTable) {
    for symbol in table.iter().take(LOOKED_UP) {
        let at = symbol.value().get();
        for at in [at, at.wrapping_sub(1), at.wrapping_add(symbol.extent())].map(Svma::new) {
            let _ = (table.find(at).map(|found| found.extent()), table.find_nearest(at));
            let _ = table.find_before(at);
        }
        let _ = table.lookup(&String::from_utf8_lossy(symbol.versioned_name()));
    }
    let _ = table.complete("m", LOOKED_UP, &|| true);
}
