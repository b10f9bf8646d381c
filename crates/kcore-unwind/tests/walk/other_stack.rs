//! Unwind information that leads to another stack, which may lie below.

use kcore_mem::Addr;
use kcore_unwind::{End, Flow, Phase, Regs, RuleFrame, RuleStep, StepRule, Walker};

use crate::process::{LOWER_STACK, Process, RSP, STACK, Unwind};

fn at(index: u64, offset: u64) -> u64 {
    Process::function(index, offset)
}

/// The pcs of all frames, whether each lies on another stack than the one before, and the end.
fn walk(process: &Process, word: u64) -> (Vec<(u64, bool)>, End) {
    let (frames, end) = process.walk(at(0, 2), word);
    let frames = frames.iter().map(|(frame, _)| (frame.pc.addr().get(), frame.on_other_stack));
    (frames.collect(), end)
}

/// The same by both walks, which must agree.
fn walk_both_ways(process: &Process, word: u64) -> (Vec<(u64, bool)>, End) {
    let (frames, end) = process.walk_in_place(at(0, 2), word, 100, |_| {});
    let frames: Vec<_> =
        frames.iter().map(|frame| (frame.pc.addr().get(), frame.on_other_stack)).collect();
    assert_eq!((&frames, end), (&walk(process, word).0, walk(process, word).1));
    (frames, end)
}

#[test]
fn another_mapping_is_another_stack() {
    let process = Process::new(&[Unwind::Dereference(0), Unwind::Outermost])
        .words(0, &[LOWER_STACK + 8])
        .lower_words(&[at(1, 4), 0]);
    assert_eq!(walk(&process, 0), (vec![(at(0, 2), false), (at(1, 4), true)], End::Outermost));
}

#[test]
fn no_place_on_another_stack_is_come_to_twice() {
    let process = Process::new(&[Unwind::Dereference(0), Unwind::Dereference(0)])
        .words(0, &[LOWER_STACK + 8, at(0, 4), LOWER_STACK + 8])
        .lower_words(&[at(1, 4), STACK + 16]);
    let (frames, end) = walk(&process, 0);
    assert_eq!(frames, [(at(0, 2), false), (at(1, 4), true), (at(0, 4), false)]);
    assert_eq!(end, End::DidNotAdvance(Addr::new(at(1, 4))));
}

#[test]
fn within_a_mapping_the_call_must_lead_to_the_frame() {
    let stacks = |process: Process| process.words(4, &[STACK + 16]).words(1, &[at(1, 5)]);
    let functions = [Unwind::Dereference(0), Unwind::Outermost, Unwind::Outermost];
    let called = stacks(Process::new(&functions).call(1, 0));
    let frames = vec![(at(0, 2), false), (at(1, 5), true)];
    assert_eq!(walk_both_ways(&called, 4), (frames, End::Outermost));

    let other = stacks(Process::new(&functions).call(1, 2));
    let end = End::DidNotAdvance(Addr::new(at(1, 5)));
    assert_eq!(walk_both_ways(&other, 4), (vec![(at(0, 2), false)], end));
}

#[test]
fn a_frame_may_hide_the_call_that_led_to_it() {
    // What function 1 does, __morestack does: its caller is that of function 0, which it called.
    let process = Process::new(&[Unwind::Plain(8), Unwind::Dereference(0), Unwind::Outermost])
        .call(2, 0)
        .words(9, &[at(1, 4), STACK + 16])
        .words(1, &[at(2, 5)]);
    let (frames, end) = walk_both_ways(&process, 9);
    assert_eq!(frames, [(at(0, 2), false), (at(1, 4), false), (at(2, 5), true)]);
    assert_eq!(end, End::Outermost);
}

/// Leads out of function 0 to the lower stack, once its code was read.
struct ToLowerStack;

impl StepRule for ToLowerStack {
    fn step(&self, phase: Phase, frame: &RuleFrame<'_>, caller: &mut Regs) -> Option<RuleStep> {
        (phase == Phase::AfterCode && frame.pc.addr().get() == at(0, 2)).then_some(())?;
        let cfa = Addr::new(LOWER_STACK + 8);
        *caller = frame.regs.with_pc(Addr::new(at(1, 4)));
        caller.set(RSP, Some(cfa.get()));
        Some(RuleStep::Caller { cfa, interrupted: false })
    }
}

#[test]
fn the_rule_of_a_runtime_leads_to_another_stack_where_the_code_does_not_tell() {
    let walk = |top: u64| {
        let functions = [Unwind::None, Unwind::Outermost, Unwind::Outermost];
        let process = Process::new(&functions).code(0, &[0x90, 0x90, 0xc3]).words(0, &[top]);
        let process = process.lower_words(&[0, 0]);
        let machine = kcore_unwind::machine(kcore_mem::Target::X86_64, None).unwrap();
        let mut walker = Walker::new(&process, &process, &*machine).with_rule(Some(&ToLowerStack));
        let mut regs = Regs::new(Addr::new(at(0, 2)));
        regs.set(RSP, Some(STACK));
        let mut frames = Vec::new();
        let end = walker.walk(&regs, 10, &mut |frame, _| {
            frames.push((frame.pc.addr().get(), frame.on_other_stack, frame.guess));
            Flow::Continue
        });
        (frames, end)
    };
    let found = vec![(at(0, 2), false, false), (at(1, 4), true, false)];
    assert_eq!(walk(7), (found, End::Outermost));
    let by_code = vec![(at(0, 2), false, false), (at(2, 4), false, false)];
    assert_eq!(walk(at(2, 4)), (by_code, End::Outermost));
}
