//! Mini debug information: a small ELF file in the section `.gnu_debugdata` of another, packed with xz. It has the names of
//! functions that are not exported, and `.debug_frame` if there is one (gdb manual, «Debugging information in a special
//! section»; Fedora, «Features/MiniDebugInfo»).

use std::io::Read;

use kcore_elf::{FileBytes, Image};
use kcore_mem::{Budget, Cut, Resource};

use crate::{Format, frames::Frames};

/// Where it lies.
const SECTION: &str = ".gnu_debugdata";
/// Bytes that are unpacked at a time.
const CHUNK: usize = 64 << 10;

/// The file in `.gnu_debugdata` of another one. `None` when there is none, when it is damaged, or when the budget is
/// exhausted, which then says so.
pub fn mini_debug(image: &Image) -> Option<Image> {
    let packed = image.section_data(SECTION)?;
    if Format::detect(&packed) != Some(Format::Xz) {
        return None;
    }
    let budget = image.budget();
    budget.add_packed(packed.len() as u64);
    let bytes = unpack(&packed, budget)?;
    let mini = Image::parse(FileBytes::from(bytes)).ok()?;
    Some(mini.within(budget, SECTION))
}

fn unpack(packed: &[u8], budget: &Budget) -> Option<Vec<u8>> {
    let mut frames = Frames::new(packed)?;
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    loop {
        let read = frames.read(&mut chunk).ok()?;
        if read == 0 {
            return Some(bytes);
        }
        if !budget.spend(Resource::Inflated, read as u64) {
            let size = bytes.len().saturating_add(read) as u64;
            let packed = packed.len() as u64;
            budget.cut(Cut::Section { name: SECTION.to_owned(), size, packed });
            return None;
        }
        bytes.extend_from_slice(chunk.get(..read)?);
    }
}
