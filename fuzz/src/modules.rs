//! Module discovery: notes, headers in memory, the link map, dynamic symbols in memory.

use std::sync::Arc;

use kcore_elf::{
    CoreFile, CoreSpace, Image, MemoryImage, ModuleFiles, dynamic_symbols, link_map, modules_of,
};
use kcore_mem::Addr;

use crate::{input::Input, memory::Memory, synthetic::core};

/// Notes, then memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let notes = input.part();
    let memory = Memory::read(&mut input);
    for (start, _) in &memory.0 {
        discover(&memory, Addr::new(*start));
    }
    let Ok(core) = CoreFile::parse(core(notes, &memory.0).into()) else { return };
    let space = CoreSpace::new(&core);
    for module in modules_of(&core, &space, &NoFiles) {
        let _ = (module.span(), module.image.map(|image| dynamic_symbols(&space, &image)));
    }
}

/// Nothing on the disk.
struct NoFiles;

impl ModuleFiles for NoFiles {
    fn find(&self, _: &[u8], _: bool, _: &dyn Fn(&Image) -> bool) -> Option<Arc<Image>> {
        None
    }
}

fn discover(memory: &Memory, at: Addr) {
    let from_headers = MemoryImage::from_program_headers(memory, at, 3);
    for image in [MemoryImage::load(memory, at), from_headers].into_iter().flatten() {
        let _ = (link_map(memory, &image), dynamic_symbols(memory, &image), image.eh_frame_hdr());
    }
}
