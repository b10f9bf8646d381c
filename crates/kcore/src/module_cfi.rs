//! The unwind information of a module: from its file, its debug file, or memory alone.

use std::sync::Arc;

use kcore_elf::{Image, MemoryImage, Section};
use kcore_mem::{Addr, AddressSpace, Cursor, Svma, Target};
use kcore_unwind::{Cfi, CfiBuilder};

use crate::Module;

/// Unwind information that is copied out of a core, at most.
const MAX_IN_MEMORY: u64 = 256 << 20;

/// Gathers what there is. A separate debug file has no bytes in its `.eh_frame`, so that section
/// comes from the module's own file, and `.debug_frame` from either.
pub fn load(module: &Module) -> Option<Cfi> {
    let bias = module.bias()?;
    let builder = || CfiBuilder::new(module.target(), bias).within(module.budget());
    if let Some(image) = module.image() {
        let debug = module.debug_image().map(Arc::as_ref);
        return Some(module.shared_cfi(bias, || from_file(builder(), image, debug).build()));
    }
    in_memory(builder(), module).or_else(|| by_breakpad(builder(), module))
}

/// Of a module without a file: what its memory has.
fn in_memory(builder: CfiBuilder, module: &Module) -> Option<Cfi> {
    let image = module.mapped().image.as_ref()?;
    let space = module.space()?;
    let read = |at, len| space.read_held(at, len);
    from_memory(builder, image, module.target(), &read).map(CfiBuilder::build)
}

/// Of a module without a file and without memory: what a symbol file of Breakpad has.
fn by_breakpad(builder: CfiBuilder, module: &Module) -> Option<Cfi> {
    let frames = module.breakpad_image()?.section_data(".debug_frame")?;
    Some(builder.debug_frame(Arc::new(frames)).build())
}

fn from_file(mut builder: CfiBuilder, image: &Image, debug: Option<&Image>) -> CfiBuilder {
    let place = |name: &str| image.section(name).map(|section| section.svma);
    builder = builder.bases(place(".text"), place(".got"));
    if let Some((bytes, svma)) = loaded(image, ".eh_frame") {
        builder = builder.eh_frame(Arc::new(bytes), svma);
    }
    if let Some((bytes, svma)) = loaded(image, ".eh_frame_hdr") {
        builder = builder.eh_frame_hdr(Arc::new(bytes), svma);
    }
    let debug_frame = image
        .section_data(".debug_frame")
        .or_else(|| debug.and_then(|debug| debug.section_data(".debug_frame")));
    if let Some(bytes) = debug_frame {
        builder = builder.debug_frame(Arc::new(bytes));
    }
    if image.section(".eh_frame").is_none() { by_segment(builder, image) } else { builder }
}

fn loaded(image: &Image, name: &str) -> Option<(Section, Svma)> {
    let svma = image.section(name)?.svma;
    Some((image.section_data(name)?, svma))
}

/// Without section headers: `PT_GNU_EH_FRAME` names the header, which names the section.
fn by_segment(builder: CfiBuilder, image: &Image) -> CfiBuilder {
    const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
    let found = || {
        let segment = image.segments().iter().find(|segment| segment.kind == PT_GNU_EH_FRAME)?;
        let header = image.bytes_at(segment.svma)?;
        let header = header.get(..usize::try_from(segment.file_size).ok()?)?;
        let section = eh_frame_address(header, segment.svma, image.target())?;
        let bytes = image.bytes_at(section)?;
        Some((header.to_vec(), segment.svma, bytes.to_vec(), section))
    };
    match found() {
        Some((header, header_at, bytes, at)) => {
            builder.eh_frame_hdr(Arc::new(header), header_at).eh_frame(Arc::new(bytes), at)
        }
        None => builder,
    }
}

/// Where `.eh_frame` lies by its header: version, three encodings, then a pointer, which every
/// linker writes as 32 bits relative to itself (LSB, «The .eh_frame_hdr section»).
fn eh_frame_address(header: &[u8], at: Svma, target: kcore_mem::Target) -> Option<Svma> {
    const PCREL_SDATA4: u8 = 0x1b;
    let mut cursor = Cursor::new(header, target);
    cursor.skip(1).ok()?;
    let encoding = cursor.u8().ok()?;
    cursor.skip(2).ok()?;
    let place = at.get().checked_add(cursor.position() as u64)?;
    let offset = cursor.u32().ok()?.cast_signed();
    (encoding == PCREL_SDATA4).then(|| Svma::new(place.wrapping_add_signed(offset.into())))
}

/// The unwind information of a module as memory has it, copied by `read`, which gives the bytes that it
/// can; `None` when there is none.
pub fn from_memory(
    builder: CfiBuilder,
    image: &MemoryImage,
    target: Target,
    read: &dyn Fn(Addr, u64) -> Vec<u8>,
) -> Option<CfiBuilder> {
    let copy = |at, len: u64| Some(read(at, len.min(MAX_IN_MEMORY))).filter(|it| !it.is_empty());
    let (header_at, header_size) = image.eh_frame_hdr()?;
    let header = copy(image.addr(header_at), header_size)?;
    let section_at = eh_frame_address(&header, header_at, target)?;
    let start = image.addr(section_at);
    // Its length is written nowhere: it ends with the loaded segment, or with a null entry before.
    let segment = image.segments.iter().filter(|segment| segment.is_load()).find(|segment| {
        section_at.offset_from(segment.svma).is_some_and(|into| into < segment.file_size)
    })?;
    let into = section_at.offset_from(segment.svma)?;
    let bytes = copy(start, segment.file_size.checked_sub(into)?)?;
    Some(builder.eh_frame_hdr(Arc::new(header), header_at).eh_frame(Arc::new(bytes), section_at))
}
