//! Steps by reading code: what all its paths agree on is exact, all else is marked.

use kcore_mem::Addr;
use kcore_unwind::{End, Trust};

use crate::{
    at, pcs,
    process::{Process, RBP, RBX, STACK, Unwind},
};

/// push %rbp; push %rbx; mov %rdi,%rbp; nop; … the body …; pop %rbx; pop %rbp; ret: a general register is what rbp
/// is here.
const RBP_IS_GENERAL: &[u8] =
    &[0x55, 0x53, 0x48, 0x89, 0xfd, 0x90, 0x48, 0x01, 0xc5, 0x5b, 0x5d, 0xc3];
const BODY: u64 = 5;

#[test]
fn a_frame_pointer_is_not_believed_in_code_that_does_not_keep_one() {
    // What rbp holds looks like the frame record of a function further out.
    let process = Process::new(&[Unwind::None, Unwind::Plain(24), Unwind::Outermost])
        .code(0, RBP_IS_GENERAL)
        .words(0, &[0xbb, 0xbad, at(1, 4), 0, 0, at(2, 4), STACK, at(2, 8)]);
    let set = |regs: &mut kcore_unwind::Regs| regs.set(RBP, Some(STACK + 48));
    let (frames, end) = process.walk_with(at(0, BODY), 0, 10, set);
    assert_eq!(pcs(&frames), [at(0, BODY), at(1, 4), at(2, 4)]);
    assert_eq!((frames[1].0.trust, frames[1].0.guess, end), (Trust::Code, false, End::Outermost));
    let (rbx, rbp) = (frames[1].1.get(RBX), frames[1].1.get(RBP));
    assert_eq!((rbx, rbp), (Some(0xbb), Some(0xbad)), "as they were saved");
    let (in_place, end) = process.walk_in_place(at(0, BODY), 0, 10, set);
    assert_eq!(in_place, frames.iter().map(|(frame, _)| *frame).collect::<Vec<_>>());
    assert_eq!(end, End::Outermost);
}

#[test]
fn a_stack_pointer_that_was_saved_on_an_aligned_stack_is_found() {
    // and $-32,%rsp came before; nop; mov 0x10(%rsp),%rsp; pop %rbp; ret
    let code = [0x90, 0x48, 0x8b, 0x64, 0x24, 0x10, 0x5d, 0xc3];
    let process = Process::new(&[Unwind::None, Unwind::Outermost])
        .code(0, &code)
        .made_at_run_time(0)
        .words(0, &[0, 0, STACK + 64])
        .words(8, &[0xbb, at(1, 4)]);
    let (frames, end) = process.walk_in_place(at(0, 0), 0, 10, |_| {});
    assert_eq!((frames[1].trust, end), (Trust::Code, End::Outermost));
    assert_eq!(frames[1].sp, Some(Addr::new(STACK + 80)));
}

#[test]
fn unwind_information_of_made_code_does_not_hide_the_caller_of_a_return() {
    // ret, as behind an epilogue of which nothing tells that the frame is gone; add $16,%rsp and ret.
    let stopped = || {
        Process::new(&[Unwind::Plain(24), Unwind::Plain(8), Unwind::Outermost])
            .code(0, &[0xc3, 0x90, 0x90, 0x90, 0x48, 0x83, 0xc4, 0x10, 0xc3])
            .words(0, &[at(1, 4), at(2, 4), at(2, 4)])
    };
    let (frames, end) = stopped().made_at_run_time(0).walk(at(0, 0), 0);
    assert_eq!(pcs(&frames), [at(0, 0), at(1, 4), at(2, 4)]);
    assert_eq!((frames[1].0.trust, frames[1].0.guess, end), (Trust::Code, false, End::Outermost));
    let (frames, _) = stopped().walk(at(0, 0), 0);
    assert_eq!(pcs(&frames), [at(0, 0), at(2, 4)], "compilers tell of every instruction");
    let (frames, _) = stopped().made_at_run_time(0).walk(at(0, 4), 0);
    assert_eq!(pcs(&frames), [at(0, 4), at(2, 4)], "within the function it is right");
}

#[test]
fn paths_that_differ_are_a_guess_and_so_is_all_beyond() {
    // je to the second return; pop %rbx; ret; pop %rbx; pop %rbx; ret
    let code = [0x74, 0x02, 0x5b, 0xc3, 0x5b, 0x5b, 0xc3];
    let process = Process::new(&[Unwind::None, Unwind::Plain(8), Unwind::Outermost])
        .code(0, &code)
        .made_at_run_time(0)
        .without_symbols()
        .words(0, &[0xbb, at(1, 4), at(2, 4), 0]);
    let (frames, end) = process.walk(at(0, 0), 0);
    assert_eq!(pcs(&frames), [at(0, 0), at(1, 4), at(2, 4)]);
    let guesses: Vec<_> = frames.iter().map(|(frame, _)| frame.guess).collect();
    assert_eq!((guesses, end), (vec![false, true, true], End::Outermost));
    assert_eq!(frames[2].0.trust, Trust::Cfi, "found by rule, from a guess");
}

#[test]
fn a_candidate_whose_chain_breaks_is_not_taken_where_another_holds() {
    // The pc lies within an instruction. Two frames on the first word leads to no code.
    let process =
        Process::new(&[Unwind::None, Unwind::Plain(16), Unwind::Plain(8), Unwind::Outermost])
            .code(0, &[0x48, 0x81, 0xec, 0, 0x10, 0, 0])
            .words(0, &[at(1, 4), 0, 0x1234, at(2, 4), at(3, 4)]);
    let (frames, end) = process.walk(at(0, 2), 0);
    assert_eq!(pcs(&frames), [at(0, 2), at(2, 4), at(3, 4)]);
    assert_eq!((frames[1].0.trust, end), (Trust::Scan, End::Outermost));
    assert!(frames[1].0.guess && frames[2].0.guess);
}

#[test]
fn a_call_that_leads_to_the_code_proves_a_return_address() {
    // Function 1 calls function 0 directly; the paths from the pc on cannot be followed.
    let call = |from: u64| {
        let distance = i32::try_from(at(0, 0) as i64 - (from as i64 + 5)).unwrap();
        let [a, b, c, d] = distance.to_le_bytes();
        [0xe8, a, b, c, d]
    };
    // push %rbx; push %rbp; nop; jmp *(%rdx,%rax,8)
    let process = Process::new(&[Unwind::None, Unwind::Outermost])
        .code(0, &[0x53, 0x55, 0x90, 0xff, 0x24, 0xc2])
        .code(1, &call(at(1, 0)))
        .without_symbols()
        .words(0, &[0xb, 0xbb, at(1, 5)]);
    let (frames, end) = process.walk_with(at(0, 2), 0, 10, |regs| regs.set(RBP, Some(STACK + 400)));
    assert_eq!((frames[1].0.trust, frames[1].0.guess), (Trust::Code, false));
    assert_eq!((frames[1].1.get(RBX), end), (Some(0xbb), End::Outermost));
}

#[test]
fn unknown_code_whose_frame_pointer_is_zero_ends_no_stack() {
    // A jump that leads nowhere known, in code that was made at run time.
    let process = Process::new(&[Unwind::None, Unwind::None])
        .code(0, &[0x90, 0xff, 0x24, 0xc2])
        .made_at_run_time(0)
        .without_symbols()
        .words(4, &[1]);
    let (frames, end) = process.walk_with(at(0, 1), 0, 10, |regs| regs.set(RBP, Some(0)));
    assert_eq!((frames.len(), end), (1, End::UnknownCode(Addr::new(at(0, 1)))));
    assert_eq!(end.as_str(), "unknown_code");
}

#[test]
fn unknown_code_leads_on_where_a_chain_holds_to_the_end() {
    let process = Process::new(&[Unwind::None, Unwind::Plain(8), Unwind::Outermost])
        .code(0, &[0x90, 0xff, 0x24, 0xc2])
        .made_at_run_time(0)
        .without_symbols()
        .words(2, &[at(1, 4), at(2, 4)]);
    let (frames, end) = process.walk_with(at(0, 1), 0, 10, |regs| regs.set(RBP, Some(0)));
    assert_eq!(pcs(&frames), [at(0, 1), at(1, 4), at(2, 4)]);
    assert!(frames[1].0.guess && frames[2].0.guess && end == End::Outermost);
}
