//! framehop over the files, registers and memory of a core.

use std::ops::Range;

use framehop::{
    ExplicitModuleSectionInfo, Module as HopModule, Unwinder as _,
    x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64},
};
use kcore::{Addr, Core, Image, Module, Tid};
use kcore_elf::Section;

/// Knows the modules of a core.
pub type Unwinder = UnwinderX86_64<Section>;
/// What framehop is told of a module.
pub type Sections = ExplicitModuleSectionInfo<Section>;

/// An unwinder that knows the modules of a core by these sections of each.
pub fn unwinder(core: &Core, sections: fn(&Image) -> Sections) -> Unwinder {
    let mut unwinder = Unwinder::new();
    let modules = core.modules().all().iter().filter_map(|it| module(it, sections));
    modules.for_each(|module| unwinder.add_module(module));
    unwinder
}

/// The addresses of the frames of a thread, innermost first, at most `most`.
pub fn addresses(core: &Core, tid: Tid, unwinder: &Unwinder, most: usize) -> Vec<u64> {
    let registers = core.registers().user(tid);
    let register = |name: &str| registers.iter().find(|it| it.name == name).map(|it| it.value);
    let (Some(pc), Some(sp), Some(bp)) = (register("rip"), register("rsp"), register("rbp")) else {
        return Vec::new();
    };
    let mut read = |at: u64| core.space().read_word(Addr::new(at)).map_err(|_| ());
    let (registers, mut cache) = (UnwindRegsX86_64::new(pc, sp, bp), CacheX86_64::new());
    let mut frames = unwinder.iter_frames(pc, registers, &mut cache, &mut read);
    // An error is its usual end.
    let next = || frames.next().ok().flatten().map(|frame| frame.address());
    std::iter::from_fn(next).take(most).collect()
}

fn module(module: &Module, sections: fn(&Image) -> Sections) -> Option<HopModule<Section>> {
    let image = module.image()?;
    let bias = module.bias()?.cast_unsigned();
    let span = module.span();
    let range = span.start.get()..span.end.get();
    Some(HopModule::new(module.name().to_owned(), range, bias, sections(image)))
}

/// Where the parts of a module lie, and its unwind information.
pub fn sections(image: &Image) -> Sections {
    ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: place(image, ".text"),
        got_svma: place(image, ".got"),
        eh_frame_svma: place(image, ".eh_frame"),
        eh_frame: image.section_data(".eh_frame"),
        eh_frame_hdr_svma: place(image, ".eh_frame_hdr"),
        eh_frame_hdr: image.section_data(".eh_frame_hdr"),
        ..ExplicitModuleSectionInfo::default()
    }
}

fn place(image: &Image, name: &str) -> Option<Range<u64>> {
    let section = image.section(name)?;
    Some(section.svma.get()..section.svma.get().checked_add(section.size)?)
}
