//! Call frame information: rows, and the expressions in them.

use std::sync::Arc;

use kcore_mem::{Addr, Arch, Svma, Target};
use kcore_unwind::{Cfi, CfiBuilder};

use crate::{
    input::Input,
    memory::Memory,
    unwind::{Process, TEXT},
};

/// Frames of one walk: rows are to be read, not stacks.
const FRAMES: usize = 4;
/// Places in the code that are stepped from, and bytes between them.
const PLACES: u64 = 16;
const STEP: u64 = 8;

/// Unwind information, then memory, then registers.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let cfi = read(&mut input);
    let process = Process::new(Memory::read(&mut input), Some(cfi));
    let regs = crate::unwind::registers(&mut input);
    for place in 0..PLACES {
        let pc = regs.pc().get().wrapping_add(place * STEP);
        process.walk(Arch::X86_64, &regs.with_pc(Addr::new(pc)), FRAMES);
    }
}

/// `.eh_frame` and `.eh_frame_hdr`, each behind its address, then `.debug_frame`; empty ones are
/// left out.
pub fn read(input: &mut Input<'_>) -> Cfi {
    let (eh_frame_at, eh_frame) = (Svma::new(input.word()), input.part());
    let (header_at, header) = (Svma::new(input.word()), input.part());
    let debug_frame = input.part();
    let mut builder = CfiBuilder::new(Target::X86_64, 0).bases(Some(Svma::new(TEXT)), None);
    if !eh_frame.is_empty() {
        builder = builder.eh_frame(Arc::new(eh_frame.to_vec()), eh_frame_at);
    }
    if !header.is_empty() {
        builder = builder.eh_frame_hdr(Arc::new(header.to_vec()), header_at);
    }
    if !debug_frame.is_empty() {
        builder = builder.debug_frame(Arc::new(debug_frame.to_vec()));
    }
    builder.build()
}
