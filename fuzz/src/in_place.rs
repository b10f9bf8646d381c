//! The agent's walk: in memory that was set aside, with rows that were got ready before and without.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, CodeAddr, Target};
use kcore_unwind::{
    Frame,
    in_place::{Room, Tables, TablesBuilder},
    machine,
};

use crate::{input::Input, memory::Memory, unwind};

/// Frames that there is room for.
const FRAMES: usize = 512;
/// Bytes of code.
const TEXT_SIZE: u64 = 1 << 20;

/// The same input as for [`unwind::run`]. The rows that are got ready must lead to the same frames as those that
/// the walk reads itself.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let cfi = crate::cfi::read(&mut input);
    let with_cfi = input.byte() & 1 == 1;
    let memory = Memory::read(&mut input);
    let regs = unwind::registers(&mut input);
    let text = AddrRange::with_len(Addr::new(unwind::TEXT), TEXT_SIZE);
    let Some(machine) = machine(Target::X86_64, None) else { return };
    let builder = TablesBuilder::new(machine, vec![text]);
    let mut tables = match with_cfi {
        true => builder.module(text, Arc::new(cfi)).build(),
        false => builder.build(),
    };
    let mut room = Room::new(FRAMES);
    let mut walk = |tables: &Tables| {
        let end = room.walk(tables, &memory, &regs);
        (places(room.frames()), format!("{end:?}"))
    };
    let first = walk(&tables);
    assert!(first.0.len() <= FRAMES, "{} frames", first.0.len());
    tables.learn(first.0.iter().map(|(pc, _)| *pc));
    assert_eq!(walk(&tables), first, "rows that were got ready lead elsewhere");
}

fn places(frames: &[Frame]) -> Vec<(CodeAddr, Option<Addr>)> {
    frames.iter().map(|frame| (frame.pc, frame.cfa)).collect()
}
