//! The walk, branch by branch, on processes made in code.

mod calls;
mod code;
mod in_place;
mod other_stack;
mod process;
mod rule;

use std::sync::atomic::Ordering;

use kcore_mem::{Addr, Budget, CodeAddr, Fault};
use kcore_unwind::{End, Trust};
use process::{Process, RBP, RBX, STACK, Unwind};

fn at(index: u64, offset: u64) -> u64 {
    Process::function(index, offset)
}

fn pcs(frames: &[(kcore_unwind::Frame, kcore_unwind::Regs)]) -> Vec<u64> {
    frames.iter().map(|(frame, _)| frame.pc.addr().get()).collect()
}

#[test]
fn plain_frames_lead_to_the_outermost_one() {
    let process = Process::new(&[Unwind::Plain(16), Unwind::Plain(8), Unwind::Outermost])
        .words(0, &[7, at(1, 4), at(2, 4)]);
    let (frames, end) = process.walk(at(0, 2), 0);
    assert_eq!(pcs(&frames), [at(0, 2), at(1, 4), at(2, 4)]);
    assert_eq!(end, End::Outermost);
    let trust: Vec<_> = frames.iter().map(|(frame, _)| frame.trust).collect();
    assert_eq!(trust, [Trust::Context, Trust::Cfi, Trust::Cfi]);
    assert_eq!(frames[0].0.cfa, Some(Addr::new(STACK + 16)));
    assert_eq!(frames[1].0.sp, Some(Addr::new(STACK + 16)));
}

#[test]
fn a_return_address_is_looked_up_in_the_function_of_its_call() {
    // The return address is the first byte of function 2: the call was the last of function 1.
    let process =
        Process::new(&[Unwind::Plain(8), Unwind::Plain(8), Unwind::Plain(64), Unwind::Outermost])
            .words(0, &[at(2, 0), at(3, 4)]);
    let (frames, end) = process.walk(at(0, 0), 0);
    assert_eq!(pcs(&frames), [at(0, 0), at(2, 0), at(3, 4)]);
    assert_eq!((end, frames[1].0.pc), (End::Outermost, CodeAddr::Return(Addr::new(at(2, 0)))));
}

#[test]
fn saved_registers_are_recovered_and_scratch_registers_forgotten() {
    let process = Process::new(&[Unwind::SavingRbx(24, 16), Unwind::Outermost])
        .words(0, &[0, 0xbb, at(1, 4)]);
    let (frames, _) = process.walk_with(at(0, 2), 0, 10, |regs| {
        regs.set(RBX, Some(1));
        regs.set(RBP, Some(2));
        regs.set(kcore_unwind::RegisterId(0), Some(3));
    });
    let caller = frames[1].1;
    assert_eq!(caller.get(RBX), Some(0xbb), "as saved");
    assert_eq!(caller.get(RBP), Some(2), "preserved without a rule");
    assert_eq!(caller.get(kcore_unwind::RegisterId(0)), None, "rax is the callee's");
}

#[test]
fn a_cfa_may_be_the_value_of_an_expression() {
    let process = Process::new(&[Unwind::Dereference(8), Unwind::Outermost])
        .words(0, &[0, STACK + 40, 0, 0, at(1, 4)]);
    let (frames, end) = process.walk(at(0, 2), 0);
    assert_eq!((frames[0].0.cfa, end), (Some(Addr::new(STACK + 40)), End::Outermost));
}

#[test]
fn an_interrupted_frame_is_exact_and_may_lie_lower() {
    // The handler runs higher up, on a stack of its own, and was entered at function 2's start.
    let process =
        Process::new(&[Unwind::Plain(8), Unwind::Signal, Unwind::Plain(8), Unwind::Outermost])
            .words(100, &[at(1, 0), at(2, 0), STACK])
            .words(0, &[at(3, 4)]);
    let (frames, end) = process.walk(at(0, 2), 100);
    assert_eq!(pcs(&frames), [at(0, 2), at(1, 0), at(2, 0), at(3, 4)]);
    assert!(frames[1].0.signal_trampoline && !frames[2].0.signal_trampoline);
    assert_eq!(frames[2].0.trust, Trust::Signal);
    assert_eq!(frames[2].0.pc, CodeAddr::Pc(Addr::new(at(2, 0))));
    assert_eq!(end, End::Outermost);
}

#[test]
fn a_call_to_where_there_is_no_code_shows_its_caller() {
    for wild in [0, 0x4141_4141] {
        let process =
            Process::new(&[Unwind::Plain(8), Unwind::Outermost]).words(0, &[at(0, 4), at(1, 4)]);
        let (frames, end) = process.walk(wild, 0);
        assert_eq!(pcs(&frames), [wild, at(0, 4), at(1, 4)]);
        assert_eq!((frames[1].0.trust, end), (Trust::NullCall, End::Outermost));
    }
}

#[test]
fn a_smashed_return_address_ends_the_stack_and_is_no_frame() {
    let wild = 0x4141_4141_4141_4141;
    let process = Process::new(&[Unwind::Plain(8)]).words(0, &[wild, at(0, 4), at(0, 4)]);
    let (frames, end) = process.walk(at(0, 2), 0);
    assert_eq!((frames.len(), end), (1, End::NotCode(Addr::new(wild))));
}

#[test]
fn a_stack_that_goes_round_ends() {
    let process = Process::new(&[Unwind::Dereference(0)]).words(0, &[at(0, 4), STACK + 8]);
    let (frames, end) = process.walk(at(0, 2), 1);
    assert_eq!((frames.len(), end), (1, End::DidNotAdvance(Addr::new(at(0, 4)))));
}

#[test]
fn a_stack_that_was_not_dumped_says_so() {
    let process = Process::new(&[Unwind::Plain(8)]);
    let (frames, end) = process.walk(at(0, 2), 1 << 20);
    let slot = Addr::new(STACK + (8 << 20));
    assert_eq!((frames.len(), end), (1, End::Fault(Fault::NotDumped(slot))));
}

#[test]
fn a_stack_that_was_written_as_zeros_says_so() {
    const PAGE: usize = 4096 / 8;
    let whole = Process::new(&[Unwind::Plain(8)]).walk(at(0, 2), 0);
    assert_eq!((whole.0.len(), whole.1), (1, End::Zeros(Addr::new(STACK))));
    // Its caller's frame begins a page of zeros, and it lies at the end of one that was written.
    let process = Process::new(&[Unwind::Plain(8), Unwind::Plain(24)])
        .words(PAGE - 1, &[at(1, 4)])
        .words(2 * PAGE, &[1]);
    let (frames, end) = process.walk(at(0, 2), PAGE as u64 - 1);
    let pushed = Addr::new(STACK + (PAGE as u64 + 2) * 8);
    assert_eq!((frames.len(), end), (2, End::Zeros(pushed)));
    // A return address of 0 where something else is in the page is where a stack ends.
    let (frames, end) = process.words(2 * PAGE - 1, &[1]).walk(at(0, 2), PAGE as u64 - 1);
    assert_eq!((frames.len(), end), (2, End::Outermost));
    // Nor is there a way on without unwind information.
    let (_, end) = Process::new(&[Unwind::None]).code(0, &[0x06]).walk(at(0, 2), 0);
    assert_eq!(end, End::Zeros(Addr::new(STACK)));
}

#[test]
fn a_walk_ends_where_the_command_has_to_end_and_guesses_nothing() {
    let budget = Budget::default();
    let functions: Vec<Unwind> = (0..10_000).map(|_| Unwind::Plain(8)).collect();
    let process = Process::within(&functions, &budget).words(0, &[at(0, 4), at(0, 4), 0]);
    budget.interrupt().store(true, Ordering::SeqCst);
    let (frames, end) = process.walk(at(0, 2), 0);
    assert_eq!((frames.len(), end), (1, End::Halted(Addr::new(at(0, 2)))));
    assert_eq!(frames[0].0.cfa, None);
    budget.interrupt().store(false, Ordering::SeqCst);
    let (frames, end) = process.walk(at(0, 2), 0);
    assert_eq!((pcs(&frames), end), (vec![at(0, 2), at(0, 4), at(0, 4)], End::Outermost));
}

#[test]
fn the_limit_is_said_but_not_at_the_last_frame() {
    let process = Process::new(&[Unwind::Plain(8), Unwind::Outermost])
        .words(0, &[at(0, 4), at(0, 4), at(1, 4)]);
    let (frames, end) = process.walk_with(at(0, 2), 0, 2, |_| {});
    assert_eq!((frames.len(), end), (2, End::Limit(2)));
    let (frames, end) = process.walk_with(at(0, 2), 0, 4, |_| {});
    assert_eq!((frames.len(), end), (4, End::Outermost));
}

#[test]
fn without_unwind_information_the_code_tells() {
    // push %rbx; sub $0x10,%rsp; nop
    let process = Process::new(&[Unwind::None, Unwind::Outermost])
        .code(0, &[0x53, 0x48, 0x83, 0xec, 0x10, 0x90])
        .words(0, &[0, 0, 0xbb, at(1, 4)]);
    let (frames, end) = process.walk(at(0, 5), 0);
    assert_eq!((frames[1].0.trust, end), (Trust::Code, End::Outermost));
    assert!(!frames[1].0.guess);
    assert_eq!(frames[1].1.get(RBX), Some(0xbb));
}

#[test]
fn then_the_frame_pointer_and_then_a_scan() {
    // A pc within an instruction cannot be traced to.
    let code = [0x48, 0x81, 0xec, 0, 0x10, 0, 0];
    let process = Process::new(&[Unwind::None, Unwind::Outermost])
        .code(0, &code)
        .words(0, &[0, 0, 0, at(1, 4), 0, 0, at(1, 8)]);
    let (frames, _) = process.walk_with(at(0, 2), 0, 10, |regs| regs.set(RBP, Some(STACK + 40)));
    assert_eq!(
        (frames[1].0.trust, frames[1].0.pc.addr()),
        (Trust::UncheckedFramePointer, Addr::new(at(1, 8)))
    );
    let (frames, _) = process.walk(at(0, 2), 0);
    assert_eq!((frames[1].0.trust, frames[1].0.pc.addr()), (Trust::Scan, Addr::new(at(1, 4))));
}

#[test]
fn a_row_that_says_nothing_of_the_return_address_ends_no_stack_of_code_made_at_run_time() {
    let process = || {
        let functions = [Unwind::CfaAlone, Unwind::Outermost];
        // ret
        Process::new(&functions).code(0, &[0x90, 0x90, 0xc3]).words(0, &[at(1, 4)])
    };
    let walk = |process: Process| {
        let (frames, end) = process.walk_with(at(0, 2), 0, 10, |regs| regs.set(RBP, Some(7)));
        (pcs(&frames), end)
    };
    let made = process().made_at_run_time(0);
    assert_eq!(walk(made), (vec![at(0, 2), at(1, 4)], End::Outermost));
    assert_eq!(walk(process()), (vec![at(0, 2)], End::Outermost), "whoever wrote it meant it");
}

#[test]
fn code_made_at_run_time_need_not_call_where_frame_pointers_lead_on() {
    // Function 1 has no call in front of the return address, as in interpreters that jump.
    let process = || {
        Process::new(&[Unwind::None, Unwind::None, Unwind::Outermost])
            .code(0, &[0x48, 0x81, 0xec, 0, 0x10, 0, 0])
            .code(1, &[0x90; 16])
            .made_at_run_time(1)
            .without_symbols()
            .words(5, &[STACK + 64, at(1, 8)])
    };
    let with_rbp = |process: Process| {
        process.walk_with(at(0, 2), 0, 3, |regs| regs.set(RBP, Some(STACK + 40))).0
    };
    let frames = with_rbp(process());
    let found = frames.get(1).map(|(frame, _)| (frame.trust, frame.pc.addr().get()));
    assert_eq!(found, None, "the next frame record is no record");
    let chained = process().words(8, &[STACK + 96, at(2, 8)]);
    let found: Vec<_> =
        with_rbp(chained).iter().map(|(frame, _)| (frame.trust, frame.pc.addr().get())).collect();
    let trust = Trust::UncheckedFramePointer;
    assert_eq!(found[1..], [(trust, at(1, 8)), (trust, at(2, 8))]);
}

#[test]
fn frame_pointers_are_guesses_where_no_code_can_be_read() {
    let process = Process::new(&[Unwind::None, Unwind::None])
        .without_text()
        .words(0, &[0, 0, 0, at(1, 4), 0, STACK + 64, at(1, 8), 0, 0]);
    let (frames, _) = process.walk_with(at(0, 2), 0, 10, |regs| regs.set(RBP, Some(STACK + 40)));
    assert_eq!(
        (frames[1].0.trust, frames[1].0.pc.addr()),
        (Trust::UncheckedFramePointer, Addr::new(at(1, 8)))
    );
    assert!(frames[1].0.trust.is_guess());
    let (frames, _) = process.walk(at(0, 2), 0);
    assert_eq!(frames.len(), 1, "no scan for calls that cannot be seen");
}

#[test]
fn a_frame_pointer_of_zero_ends_no_stack_where_no_code_can_be_read() {
    let process = Process::new(&[Unwind::None]);
    let walk =
        |process: Process| process.walk_with(at(0, 2), 0, 10, |regs| regs.set(RBP, Some(0))).1;
    assert_eq!(walk(process.code(0, &[0x06])), End::Outermost, "code that tells nothing");
    let lost = walk(Process::new(&[Unwind::None]).without_text().words(9, &[1]));
    assert_eq!(lost, End::NoRule(Addr::new(at(0, 2))), "optimised code has anything in rbp");
}

#[test]
fn a_stack_that_goes_round_without_a_stack_pointer_ends() {
    let process = Process::new(&[Unwind::LosingRsp]).words(2, &[STACK + 16, at(0, 4)]);
    let (frames, end) =
        process.walk_with(at(0, 2), 0, 1000, |regs| regs.set(RBP, Some(STACK + 16)));
    assert_eq!((frames.len(), end), (2, End::DidNotAdvance(Addr::new(at(0, 4)))));
}

#[test]
fn where_every_stack_begins_nothing_is_guessed() {
    let process =
        Process::new(&[Unwind::None, Unwind::Outermost]).words(0, &[at(1, 4)]).entry(at(0, 0));
    let (frames, end) = process.walk(at(0, 8), 0);
    assert_eq!((frames.len(), end), (1, End::Outermost));
}

/// As `runtime.mcall` of Go: while it has called nothing, it has its caller still.
#[test]
fn a_function_that_left_its_stack_has_no_caller_there() {
    let process = Process::new(&[Unwind::Plain(8), Unwind::Plain(8), Unwind::Outermost]);
    let process = process.words(0, &[at(1, 4), at(2, 4)]).first_on_stack(1);
    let (frames, end) = process.walk(at(0, 2), 0);
    assert_eq!((pcs(&frames), end), (vec![at(0, 2), at(1, 4)], End::Outermost));
    let (frames, end) = process.walk(at(1, 2), 1);
    assert_eq!((pcs(&frames), end), (vec![at(1, 2), at(2, 4)], End::Outermost));
}

#[test]
fn a_restorer_without_unwind_information_is_known_by_its_bytes() {
    let process = Process::interrupted_before_a_restorer();
    let (frames, end) = process.walk(at(0, 2), 0);
    assert_eq!(pcs(&frames), [at(0, 2), at(1, 0), at(2, 0), at(3, 4)]);
    assert!(frames[1].0.signal_trampoline);
    assert_eq!(end, End::Outermost);
}

#[test]
fn a_signal_frame_that_interrupted_itself_ends_the_walk() {
    // The trampoline's frame restores its own pc and stack pointer, for ever.
    let process = Process::new(&[Unwind::Signal]).words(0, &[at(0, 4), STACK]);
    let (frames, end) = process.walk_with(at(0, 4), 0, 1_000_000, |_| {});
    assert!(frames.len() <= 3, "{} frames", frames.len());
    assert_eq!(end, End::DidNotAdvance(Addr::new(at(0, 4))));
}
