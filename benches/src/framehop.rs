//! framehop over the files and the memory of a core.

use std::ops::Range;

use framehop::{
    ExplicitModuleSectionInfo, Module as HopModule, Unwinder,
    x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64},
};
use kcore::{Addr, Core, Image, MAX_FRAMES, Module, Tid};

/// An unwinder that knows the modules of a core.
pub struct Hop {
    unwinder: UnwinderX86_64<Vec<u8>>,
}

impl Hop {
    /// Tells framehop of all modules.
    pub fn new(core: &Core) -> Self {
        let mut unwinder = UnwinderX86_64::new();
        let modules = core.modules().all().iter().filter_map(module);
        modules.for_each(|module| unwinder.add_module(module));
        Self { unwinder }
    }

    /// Walks all threads and counts their frames.
    pub fn count_frames(&self, core: &Core) -> usize {
        let mut cache = CacheX86_64::new();
        core.tids().into_iter().map(|tid| self.count_of(core, tid, &mut cache)).sum()
    }

    fn count_of(&self, core: &Core, tid: Tid, cache: &mut CacheX86_64) -> usize {
        let registers = core.registers().user(tid);
        let register = |name: &str| registers.iter().find(|it| it.name == name).map(|it| it.value);
        let (Some(pc), Some(sp), Some(bp)) = (register("rip"), register("rsp"), register("rbp"))
        else {
            return 0;
        };
        let mut read = |at: u64| core.space().read_word(Addr::new(at)).map_err(|_| ());
        let registers = UnwindRegsX86_64::new(pc, sp, bp);
        let mut frames = self.unwinder.iter_frames(pc, registers, cache, &mut read);
        // An error is its usual end.
        std::iter::from_fn(|| frames.next().ok().flatten()).take(MAX_FRAMES).count()
    }
}

fn module(module: &Module) -> Option<HopModule<Vec<u8>>> {
    let image = module.image()?;
    let bias = module.bias()?.cast_unsigned();
    let span = module.span();
    let range = span.start.get()..span.end.get();
    Some(HopModule::new(module.name().to_owned(), range, bias, sections(image)))
}

fn sections(image: &Image) -> ExplicitModuleSectionInfo<Vec<u8>> {
    let bytes = |name: &str| image.section_data(name).map(|section| section.to_vec());
    ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: place(image, ".text"),
        got_svma: place(image, ".got"),
        eh_frame_svma: place(image, ".eh_frame"),
        eh_frame: bytes(".eh_frame"),
        eh_frame_hdr_svma: place(image, ".eh_frame_hdr"),
        eh_frame_hdr: bytes(".eh_frame_hdr"),
        ..ExplicitModuleSectionInfo::default()
    }
}

fn place(image: &Image, name: &str) -> Option<Range<u64>> {
    let section = image.section(name)?;
    Some(section.svma.get()..section.svma.get().checked_add(section.size)?)
}
