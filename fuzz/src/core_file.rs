//! The core file: headers, notes, damage, and reads of its memory.

use kcore_elf::{CoreFile, CoreSpace};
use kcore_mem::{Addr, AddrRange, AddressSpace};

/// Segments whose memory is read.
const READ: usize = 64;

/// `data` is a core file.
pub fn run(data: &[u8]) {
    let Ok(core) = CoreFile::parse(data.to_vec().into()) else { return };
    read_all(&core);
    take_excerpt(&core);
}

/// A part of a core is a core, and no larger than the whole but for what is said of it.
fn take_excerpt(core: &CoreFile) {
    let space = CoreSpace::new(core);
    let halves = space
        .regions()
        .into_iter()
        .take(READ)
        .map(|region| AddrRange::with_len(region.range.start, region.range.len().div_ceil(2)));
    let wanted: Vec<AddrRange> = halves.collect();
    let excerpt = core.excerpt(&wanted, None);
    let mut bytes = excerpt.head.clone();
    for part in &excerpt.memory {
        bytes.extend_from_slice(core.bytes().get(part.clone()).expect("bytes of the file"));
    }
    assert!(excerpt.memory.iter().map(|part| part.len()).sum::<usize>() <= core.bytes().len());
    let excerpt = CoreFile::parse(bytes.into()).expect("a core");
    assert!(excerpt.damage().is_empty() && excerpt.excerpt_of().is_some());
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
