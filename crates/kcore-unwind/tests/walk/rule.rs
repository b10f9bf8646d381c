//! Rules of runtimes, held against code that was interrupted.

use kcore_unwind::{End, Trust};

use crate::{
    at, pcs,
    process::{Process, STACK, Unwind},
};

/// Function 0 called nothing and has no frame of its own; the frame pointer is that of function 1, which called it.
fn leaf(code: &[u8]) -> Process {
    let unwind = [Unwind::None, Unwind::None, Unwind::Plain(8), Unwind::Outermost];
    Process::new(&unwind)
        .code(0, code)
        .words(0, &[at(1, 4), 0])
        .words(2, &[STACK, at(2, 4), at(3, 4)])
}

#[test]
fn a_leaf_has_its_caller_though_a_rule_steps_by_frame_pointers() {
    // nop; ret
    let (frames, end) = leaf(&[0x90, 0xc3]).walk_by_rule(at(0, 0), 0, 2);
    assert_eq!(pcs(&frames), [at(0, 0), at(1, 4), at(2, 4), at(3, 4)]);
    let found: Vec<_> = frames.iter().map(|(frame, _)| (frame.trust, frame.guess)).collect();
    let sure = [Trust::Context, Trust::Code, Trust::Runtime, Trust::Cfi].map(|it| (it, false));
    assert_eq!((found.as_slice(), end), (&sure[..], End::Outermost));
}

#[test]
fn a_rule_is_marked_where_the_code_leads_elsewhere_and_does_not_say_all() {
    // je over the return, to a jump that cannot be followed: jmp *%rax
    let code = [0x74, 0x01, 0xc3, 0xff, 0xe0];
    let (frames, _) = leaf(&code).without_symbols().walk_by_rule(at(0, 0), 0, 2);
    assert!(frames[1].0.guess, "{frames:x?}");
}

#[test]
fn a_rule_stands_where_the_code_says_the_same() {
    // pop %rbp; ret
    let (frames, _) = leaf(&[0x5d, 0xc3]).walk_by_rule(at(0, 0), 2, 2);
    assert_eq!(pcs(&frames)[..2], [at(0, 0), at(2, 4)]);
    assert_eq!((frames[1].0.trust, frames[1].0.guess), (Trust::Runtime, false));
}
