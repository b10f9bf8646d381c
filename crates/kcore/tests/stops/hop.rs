//! framehop, over the same files, registers and memory.

use std::ops::Range;

use framehop::{
    ExplicitModuleSectionInfo, Module as HopModule, Unwinder,
    x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64},
};
use kcore::{Addr, Core, Image, Module, Tid};
use kcore_elf::Section;

use crate::claim::Claim;

/// The callers of the innermost frames of all threads. It tells pcs alone.
pub fn claims(core: &Core) -> Vec<Claim> {
    let mut unwinder = UnwinderX86_64::new();
    core.modules().all().iter().filter_map(module).for_each(|module| unwinder.add_module(module));
    let caller = |tid: Tid| {
        caller(core, tid, &unwinder).map(|pc| Claim { tid: tid.get().into(), pc, sp: None })
    };
    core.tids().into_iter().filter_map(caller).collect()
}

fn caller(core: &Core, tid: Tid, unwinder: &UnwinderX86_64<Section>) -> Option<u64> {
    let registers = core.user_registers(tid);
    let register = |name: &str| registers.iter().find(|it| it.name == name).map(|it| it.value);
    let (pc, sp, bp) = (register("rip")?, register("rsp")?, register("rbp")?);
    let mut read = |at: u64| core.space().read_word(Addr::new(at)).map_err(|_| ());
    let (registers, mut cache) = (UnwindRegsX86_64::new(pc, sp, bp), CacheX86_64::new());
    let mut frames = unwinder.iter_frames(pc, registers, &mut cache, &mut read);
    frames.next().ok()??;
    Some(frames.next().ok()??.address())
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
        text: image.section_data(".text"),
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
