//! The core file: headers, notes, damage, and reads of its memory.

use kcore_elf::{CoreFile, CoreSpace};
use kcore_mem::{Addr, AddressSpace};

/// Segments whose memory is read.
const READ: usize = 64;

/// `data` is a core file.
pub fn run(data: &[u8]) {
    let Ok(core) = CoreFile::parse(data.to_vec().into()) else { return };
    read_all(&core);
}

/// Reads at the edges of the segments of a core.
pub fn read_all(core: &CoreFile) {
    let space = CoreSpace::new(core);
    space.regions();
    for segment in space.segments().iter().take(READ) {
        let range = segment.range;
        for at in [range.start.get(), range.end.get().wrapping_sub(8), range.end.get()] {
            let at = Addr::new(at);
            let _ = (space.read_word(at), space.origin(at), space.segment_at(at));
            let _ = space.read_cstr(at, 256);
            let _ = space.read_partial(at, &mut [0; 100]);
        }
    }
}
