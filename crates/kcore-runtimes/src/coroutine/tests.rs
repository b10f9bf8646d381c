//! Frames that are made here, in memory of a few words.

use kcore_mem::{Addr, AddrRange};

use super::{Compiler, CoroutineFunction, CoroutineState, Coroutines, landing_of_gcc};
use crate::{Runtime, anchor::made_host::MadeHost};

const MEMORY: u64 = 0x7f10_0000;
const CODE: u64 = 0x40_0000;
const DESTROY: u64 = 0x80;
const FRAME: u64 = 0x400;

fn function() -> CoroutineFunction {
    CoroutineFunction {
        name: "made".into(),
        compiler: Compiler::Gcc,
        resume: AddrRange::with_len(Addr::new(CODE), DESTROY),
        cold: None,
        destroy: vec![Addr::new(CODE + DESTROY)],
        ramp: None,
    }
}

fn place(index: u64) -> u64 {
    MEMORY + index * FRAME
}

/// A frame whose promise has a word that leads elsewhere.
fn frame(host: &mut MadeHost, index: u64, continuation: u64) {
    host.words(place(index), &[CODE, CODE + DESTROY, 0, continuation]);
}

fn coroutines() -> Coroutines {
    Coroutines::of_functions(vec![function()])
}

#[test]
fn words_that_lead_to_other_frames_are_a_guessed_chain() {
    let mut host = MadeHost::new(&[MEMORY]);
    frame(&mut host, 0, place(1));
    frame(&mut host, 1, place(2));
    frame(&mut host, 2, 0);
    let all = coroutines();
    assert_eq!(all.known(&host).len(), 3, "{:?}", all.known(&host));
    let leaf = all.leaves(&host).next().expect("a leaf");
    assert_eq!(leaf.at, Addr::new(place(0)));
    assert!(leaf.awaited_by.is_some_and(|by| by.is_guess));
    let chain: Vec<u64> = all.chain(&host, leaf).iter().map(|one| one.at.get()).collect();
    assert_eq!(chain, [place(0), place(1), place(2)]);
    let inner = all.task_at(&host, Addr::new(place(1))).expect("a chain");
    assert_eq!(all.task_frames(&host, &inner).len(), 2);
    assert!(all.task_at(&host, Addr::new(place(1) + 8)).is_none());
    let task = &all.tasks(&host)[0];
    let frames = all.task_frames(&host, task);
    assert!(frames[0].doubt.is_none() && frames[1].doubt.is_some(), "{frames:?}");
}

#[test]
fn nobody_claims_to_know_whether_one_began_of_which_nothing_tells() {
    let mut host = MadeHost::new(&[MEMORY]);
    frame(&mut host, 0, 0);
    let states: Vec<CoroutineState> =
        coroutines().known(&host).iter().map(|one| one.state).collect();
    assert_eq!(states, [CoroutineState::NotRunning]);
}

#[test]
fn frames_that_go_round_in_a_circle_end() {
    let mut host = MadeHost::new(&[MEMORY]);
    frame(&mut host, 0, place(1));
    frame(&mut host, 1, place(0));
    let all = coroutines();
    let one = all.at(&host, Addr::new(place(0))).expect("a frame");
    assert_eq!(all.chain(&host, one).len(), 2);
}

#[test]
fn one_without_a_function_to_go_on_is_done() {
    let mut host = MadeHost::new(&[MEMORY]);
    host.words(place(0), &[0, CODE + DESTROY]);
    host.words(place(1), &[CODE + 1, CODE + DESTROY]);
    let all = coroutines();
    let states: Vec<CoroutineState> = all.known(&host).iter().map(|one| one.state).collect();
    assert_eq!(states, [CoroutineState::Done]);
    let done = all.task_at(&host, Addr::new(place(0))).expect("a frame");
    assert_eq!(all.task_frames(&host, &done).len(), 1);
    assert_eq!(all.leaves(&host).count(), 0);
}

/// movzwl 40(%rdi),%eax; test $1,%al; jne +8; cmp $4,%ax; je +2; ud2
const DISPATCH: [u8; 16] =
    [0x0f, 0xb7, 0x47, 40, 0xa8, 1, 0x75, 8, 0x66, 0x83, 0xf8, 4, 0x74, 2, 0x0f, 0x0b];

#[test]
fn code_of_gcc_leads_to_where_a_frame_goes_on() {
    let mut host = MadeHost::new(&[MEMORY, CODE]);
    host.put(CODE, &DISPATCH);
    let landing = |host: &MadeHost| landing_of_gcc(host, Addr::new(CODE), Addr::new(MEMORY), 40);
    host.put(MEMORY + 40, &[4, 0]);
    assert_eq!(landing(&host), Some(Addr::new(CODE + 16)));
    host.put(MEMORY + 40, &[6, 0]);
    assert_eq!(landing(&host), None);
}
