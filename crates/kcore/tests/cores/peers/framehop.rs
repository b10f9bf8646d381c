//! framehop's stacks, over the same files and the same memory.

use std::ops::Range;

use framehop::{
    ExplicitModuleSectionInfo, Module as HopModule, Unwinder,
    x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64},
};
use kcore::{Addr, Core, Image, Module, Tid};
use kcore_elf::Section;

use super::{PeerFrame, Stacks};

/// More frames than the deepest stack has.
const MAX_FRAMES: usize = 1 << 20;

/// Walks all stacks of a core.
pub fn stacks(core: &Core) -> Stacks {
    let mut unwinder = UnwinderX86_64::new();
    core.modules().all().iter().filter_map(module).for_each(|module| unwinder.add_module(module));
    let mut cache = CacheX86_64::new();
    let threads = core.threads().iter().map(|thread| thread.tid);
    threads.map(|tid| (tid.get(), stack(core, tid, &unwinder, &mut cache))).collect()
}

fn stack(
    core: &Core,
    tid: Tid,
    unwinder: &UnwinderX86_64<Section>,
    cache: &mut CacheX86_64,
) -> Vec<PeerFrame> {
    let registers = core.user_registers(tid);
    let register = |name: &str| registers.iter().find(|it| it.name == name).map(|it| it.value);
    let (Some(pc), Some(sp), Some(bp)) = (register("rip"), register("rsp"), register("rbp")) else {
        return Vec::new();
    };
    let mut read = |at: u64| core.space().read_word(Addr::new(at)).map_err(|_| ());
    let mut frames = unwinder.iter_frames(pc, UnwindRegsX86_64::new(pc, sp, bp), cache, &mut read);
    let mut found = Vec::new();
    // An error is its usual end.
    while let Ok(Some(frame)) = frames.next() {
        found.push(PeerFrame { pc: frame.address(), name: None });
        if found.len() == MAX_FRAMES {
            break;
        }
    }
    found
}

fn module(module: &Module) -> Option<HopModule<Section>> {
    let image = module.image()?;
    let bias = module.bias()?.cast_unsigned();
    let span = module.span();
    let range = span.start.get()..span.end.get();
    Some(HopModule::new(module.name().to_owned(), range, bias, sections(image)))
}

fn sections(image: &Image) -> ExplicitModuleSectionInfo<Section> {
    ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: place(image, ".text"),
        got_svma: place(image, ".got"),
        eh_frame_svma: place(image, ".eh_frame"),
        eh_frame: image.section_data(".eh_frame"),
        eh_frame_hdr_svma: place(image, ".eh_frame_hdr"),
        eh_frame_hdr: image.section_data(".eh_frame_hdr"),
        debug_frame: image.section_data(".debug_frame"),
        ..ExplicitModuleSectionInfo::default()
    }
}

fn place(image: &Image, name: &str) -> Option<Range<u64>> {
    let section = image.section(name)?;
    Some(section.svma.get()..section.svma.get().checked_add(section.size)?)
}
