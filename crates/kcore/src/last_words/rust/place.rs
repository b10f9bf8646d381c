//! Where a panic came about: `core::panic::Location`, the file as a `&str`, then line and column.

use kcore_mem::Addr;

use super::payload::{text, word_at};
use crate::{Core, PanicPlace};

const LEN: u64 = 8;
const LINE_AND_COLUMN: u64 = 16;
const MAX_PATH: u64 = 4096;

/// The `Location` at an address. Those that a compiler makes lie in modules.
pub fn at(core: &Core, at: u64) -> Option<PanicPlace> {
    let at = Addr::new(at);
    if !at.get().is_multiple_of(8) || core.modules().at(at).is_none() {
        return None;
    }
    let len = word_at(core, at, LEN).filter(|len| *len <= MAX_PATH)?;
    let file = text(core, word_at(core, at, 0)?, len)?;
    // Newer compilers count the zero behind the path as well.
    let file = file.strip_suffix('\0').unwrap_or(&file);
    let numbers = word_at(core, at, LINE_AND_COLUMN)?.to_le_bytes();
    let (line, column) = numbers.split_first_chunk::<4>()?;
    let line = u32::from_le_bytes(*line);
    let column = u32::from_le_bytes(*column.first_chunk::<4>()?);
    let is_one = line > 0 && column > 0 && !file.is_empty() && !file.contains(char::is_control);
    is_one.then(|| PanicPlace { file: file.to_owned(), line, column })
}
