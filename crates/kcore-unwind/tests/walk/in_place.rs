//! The walk of a signal handler, branch by branch. It finds what the other walk finds, where both may look.

use kcore_mem::{Addr, CodeAddr, Fault};
use kcore_unwind::{End, Frame, Trust, in_place::Room};

use crate::process::{Process, RBP, RSP, STACK, Unwind};

fn at(index: u64, offset: u64) -> u64 {
    Process::function(index, offset)
}

fn pcs(frames: &[Frame]) -> Vec<u64> {
    frames.iter().map(|frame| frame.pc.addr().get()).collect()
}

fn walk(process: &Process, pc: u64, word: u64) -> (Vec<Frame>, End) {
    process.walk_in_place(pc, word, 100, |_| {})
}

/// Both walks of one stack, which must be the same one.
fn walk_both_ways(process: &Process, pc: u64, word: u64) -> (Vec<Frame>, End) {
    let (frames, end) = walk(process, pc, word);
    let (others, other_end) = process.walk(pc, word);
    let others: Vec<Frame> = others.into_iter().map(|(frame, _)| frame).collect();
    assert_eq!((&frames, end), (&others, other_end));
    (frames, end)
}

#[test]
fn plain_frames_lead_to_the_outermost_one() {
    let process = Process::new(&[Unwind::Plain(16), Unwind::Plain(8), Unwind::Outermost])
        .words(0, &[7, at(1, 4), at(2, 4)]);
    let (frames, end) = walk_both_ways(&process, at(0, 2), 0);
    assert_eq!(pcs(&frames), [at(0, 2), at(1, 4), at(2, 4)]);
    assert_eq!((end, frames[1].trust), (End::Outermost, Trust::Cfi));
    assert_eq!((frames[0].cfa, frames[1].sp), (Some(Addr::new(STACK + 16)), frames[0].cfa));
}

#[test]
fn rules_of_expressions_are_evaluated() {
    let process = Process::new(&[Unwind::Dereference(8), Unwind::Outermost])
        .words(0, &[0, STACK + 40, 0, 0, at(1, 4)]);
    let (frames, end) = walk_both_ways(&process, at(0, 2), 0);
    assert_eq!((frames.len(), end), (2, End::Outermost));
}

#[test]
fn an_interrupted_frame_is_exact_and_may_lie_lower() {
    let process =
        Process::new(&[Unwind::Plain(8), Unwind::Signal, Unwind::Plain(8), Unwind::Outermost])
            .words(100, &[at(1, 0), at(2, 0), STACK])
            .words(0, &[at(3, 4)]);
    let (frames, end) = walk_both_ways(&process, at(0, 2), 100);
    assert_eq!(pcs(&frames), [at(0, 2), at(1, 0), at(2, 0), at(3, 4)]);
    assert!(frames[1].signal_trampoline && frames[2].trust == Trust::Signal);
    assert_eq!((frames[2].pc, end), (CodeAddr::Pc(Addr::new(at(2, 0))), End::Outermost));
}

#[test]
fn a_restorer_without_unwind_information_is_known_by_its_bytes() {
    let process = Process::interrupted_before_a_restorer();
    let (frames, end) = walk_both_ways(&process, at(0, 2), 0);
    assert_eq!(pcs(&frames), [at(0, 2), at(1, 0), at(2, 0), at(3, 4)]);
    assert!(frames[1].signal_trampoline);
    assert_eq!(end, End::Outermost);
}

#[test]
fn a_call_to_where_there_is_no_code_shows_its_caller() {
    let process =
        Process::new(&[Unwind::Plain(8), Unwind::Outermost]).words(0, &[at(0, 4), at(1, 4)]);
    let (frames, end) = walk_both_ways(&process, 0, 0);
    assert_eq!((pcs(&frames), end), (vec![0, at(0, 4), at(1, 4)], End::Outermost));
    assert_eq!(frames[1].trust, Trust::NullCall);
    // The word on the stack is a place in code, but no call is before it.
    let process = process.code(0, &[0x90; 8]);
    let (frames, end) = walk(&process, 0, 0);
    assert_eq!((frames.len(), end), (1, End::WildPc(Addr::new(0))));
}

#[test]
fn a_smashed_return_address_ends_the_stack_and_is_no_frame() {
    let wild = 0x4141_4141_4141_4141;
    let process = Process::new(&[Unwind::Plain(8)]).words(0, &[wild, at(0, 4), at(0, 4)]);
    let (frames, end) = walk_both_ways(&process, at(0, 2), 0);
    assert_eq!((frames.len(), end), (1, End::NotCode(Addr::new(wild))));
}

#[test]
fn a_return_address_of_zero_is_where_a_stack_begins() {
    let process = Process::new(&[Unwind::Plain(8)]).words(0, &[at(0, 4), 0]);
    let (frames, end) = walk(&process, at(0, 2), 0);
    assert_eq!((frames.len(), end), (2, End::Outermost));
}

#[test]
fn a_stack_that_goes_round_ends() {
    let process = Process::new(&[Unwind::Dereference(0)]).words(0, &[at(0, 4), STACK + 8]);
    let (frames, end) = walk_both_ways(&process, at(0, 2), 1);
    assert_eq!((frames.len(), end), (1, End::DidNotAdvance(Addr::new(at(0, 4)))));
}

#[test]
fn a_signal_frame_that_interrupted_itself_ends_the_walk() {
    let process = Process::new(&[Unwind::Signal]).words(0, &[at(0, 4), STACK]);
    let (frames, end) = process.walk_in_place(at(0, 4), 0, 1000, |_| {});
    assert!(frames.len() < 100, "{} frames", frames.len());
    assert_eq!(end, End::DidNotAdvance(Addr::new(at(0, 4))));
}

#[test]
fn memory_that_cannot_be_read_is_said() {
    let process = Process::new(&[Unwind::Plain(8)]);
    let (frames, end) = walk(&process, at(0, 2), 1 << 20);
    let slot = Addr::new(STACK + (8 << 20));
    assert_eq!((frames.len(), end), (1, End::Fault(Fault::NotDumped(slot))));
}

#[test]
fn a_register_that_is_lost_is_said() {
    let process = Process::new(&[Unwind::LosingRsp, Unwind::Plain(8)])
        .words(0, &[STACK + 800, at(1, 4), 0, 0]);
    let (frames, end) = process.walk_in_place(at(0, 2), 0, 100, |regs| regs.set(RBP, Some(STACK)));
    assert_eq!(frames.len(), 2);
    assert_eq!(end, End::UnknownRegister { register: RSP.0, at: Addr::new(at(1, 4)) });
}

#[test]
fn there_are_no_more_frames_than_there_is_room_for() {
    let process = Process::new(&[Unwind::Plain(8), Unwind::Outermost])
        .words(0, &[at(0, 4), at(0, 4), at(1, 4)]);
    let (frames, end) = process.walk_in_place(at(0, 2), 0, 2, |_| {});
    assert_eq!((pcs(&frames), end), (vec![at(0, 2), at(0, 4)], End::Limit(2)));
    let (frames, end) = process.walk_in_place(at(0, 2), 0, 4, |_| {});
    assert_eq!((frames.len(), end), (4, End::Outermost));
}

#[test]
fn without_unwind_information_the_frame_pointer_leads_on() {
    let process =
        Process::new(&[Unwind::None, Unwind::Outermost]).words(4, &[STACK + 320, at(1, 8)]);
    let by = |value| process.walk_in_place(at(0, 2), 0, 100, |regs| regs.set(RBP, value));
    let (frames, end) = by(Some(STACK + 32));
    assert_eq!((pcs(&frames), end), (vec![at(0, 2), at(1, 8)], End::Outermost));
    assert_eq!((frames[1].trust, frames[1].guess), (Trust::UncheckedFramePointer, true));
    // One that points to no return address, and one that is not known.
    for value in [Some(STACK), Some(STACK + (8 << 20)), None] {
        let (frames, end) = by(value);
        assert_eq!((frames.len(), end), (1, End::NoRule(Addr::new(at(0, 2)))), "{value:?}");
    }
}

#[test]
fn rows_that_were_learnt_lead_the_same_way() {
    let process = Process::new(&[Unwind::Plain(16), Unwind::SavingRbx(24, 16), Unwind::Outermost])
        .words(0, &[7, at(1, 4), 0, 0xbb, at(2, 4)]);
    let (frames, end) = walk(&process, at(0, 2), 0);
    let mut tables = process.tables();
    assert_eq!((tables.ready(), tables.modules()), (0, 1));
    tables.learn(frames.iter().map(|frame| frame.pc));
    assert_eq!(tables.ready(), 3);
    let mut regs = kcore_unwind::Regs::new(Addr::new(at(0, 2)));
    regs.set(RSP, Some(STACK));
    let mut room = Room::new(10);
    for _ in 0..2 {
        assert_eq!(room.walk(&tables, &process, &regs), end);
        assert_eq!(room.frames(), frames);
    }
}

/// Function 3 was entered as if function 1 had called it before its first instruction, right behind function 0.
fn entered_before_the_first_instruction() -> Process {
    Process::new(&[Unwind::Plain(24), Unwind::Plain(8), Unwind::Outermost, Unwind::Plain(16)])
        .code(0, &[0x90; 0x100])
        .words(0, &[7, at(1, 0), at(2, 4), 0, at(3, 4)])
}

#[test]
fn a_return_address_that_no_call_left_is_exact() {
    let process = entered_before_the_first_instruction();
    let (frames, end) = walk_both_ways(&process, at(3, 2), 0);
    assert_eq!((pcs(&frames), end), (vec![at(3, 2), at(1, 0), at(2, 4)], End::Outermost));
    assert_eq!(frames[1].pc, CodeAddr::Pc(Addr::new(at(1, 0))));
    assert_eq!((frames[1].trust, frames[1].guess), (Trust::Cfi, false));
}

#[test]
fn code_that_cannot_be_read_may_have_called() {
    let process = entered_before_the_first_instruction().without_text();
    let (frames, _) = walk_both_ways(&process, at(3, 2), 0);
    assert_eq!(pcs(&frames)[..3], [at(3, 2), at(1, 0), at(3, 4)], "as function 0 is unwound");
    assert_eq!(frames[1].pc, CodeAddr::Return(Addr::new(at(1, 0))));
}

#[test]
fn a_row_that_was_learnt_is_not_taken_for_what_no_call_left() {
    let process = entered_before_the_first_instruction();
    let (frames, end) = walk(&process, at(3, 2), 0);
    let mut tables = process.tables();
    // Another thread stands at the byte before.
    let before = CodeAddr::Pc(Addr::new(at(1, 0) - 1));
    tables.learn(frames.iter().map(|frame| frame.pc).chain([before]));
    let mut regs = kcore_unwind::Regs::new(Addr::new(at(3, 2)));
    regs.set(RSP, Some(STACK));
    let mut room = Room::new(10);
    assert_eq!(room.walk(&tables, &process, &regs), end);
    assert_eq!(room.frames(), frames);
}

#[test]
fn a_context_that_cannot_be_read_has_no_registers() {
    let process = Process::new(&[Unwind::Plain(8)]);
    let mut room = Room::new(10);
    let (_, end) = room.walk_context(&process.tables(), &process, Addr::new(8));
    assert_eq!((room.frames().len(), end), (0, End::NoRegisters));
}
