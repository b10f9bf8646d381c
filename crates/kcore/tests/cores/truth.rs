//! Every stack of every generated core, held against what its program knows to be true.

use gen_cores::{Call, End as TrueEnd, Frame, Libc, Seen, Thread, bare_name, compare};
use kcore::{End, MAX_FRAMES, NamedFrame, Stack, Tid};

use crate::{
    known::{Known, assert_none, cases, check_each, variant},
    pattern::Pattern,
};

/// Glibc programs in whose stacks a guess is the best that can be had.
static GUESSES: [Guess; 2] = [
    Guess {
        cases: Pattern::new("dlopen-deleted", &["!gcore"]),
        why: "the library's file is gone and the kernel dumped neither its code nor its .eh_frame: the \
              caller of its function is found by its frame pointer or on the stack",
    },
    Guess {
        cases: Pattern::new("dlopen-overwritten", &["!gcore"]),
        why: "another build lies at the library's path and is not used: as for a deleted one",
    },
];

struct Guess {
    cases: Pattern,
    why: &'static str,
}

fn stack(known: &Known, thread: &Thread) -> Stack {
    known.core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES)
}

fn as_seen(frame: &NamedFrame) -> Seen {
    Seen {
        function: frame.location.function.as_deref().map(str::to_owned),
        file: frame.location.file.as_deref().map(str::to_owned),
        line: frame.location.line,
        inline: frame.location.inline,
        pc: frame.pc().map(|pc| pc.addr().get()),
    }
}

/// The stack in one line, for a message.
fn line(known: &Known, stack: &Stack) -> String {
    const SHOWN: usize = 40;
    let names = known.core.stacks().named_frames(stack).take(SHOWN).map(|frame| {
        let name = frame.location.function.clone().unwrap_or_else(|| "?".into());
        format!("{name}[{}]", frame.trust().as_str())
    });
    format!("{} -- {}", names.collect::<Vec<_>>().join(" < "), stack.end)
}

fn check_frames(known: &Known, thread: &Thread, stack: &Stack) -> Option<String> {
    if known.core.thread(Tid::new(thread.tid)).is_none() {
        return Some(format!("thread {} is missing", thread.tid));
    }
    let seen: Vec<Seen> = known.core.stacks().named_frames(stack).map(|f| as_seen(&f)).collect();
    let difference = compare(thread, &seen).err()?;
    Some(format!("{difference}\n    {}", line(known, stack)))
}

/// The calls that the truth names, without those that may be lost or left out.
fn sure_calls(thread: &Thread) -> impl Iterator<Item = (&Call, &str)> {
    thread.frames.iter().filter_map(|frame| match frame {
        Frame::Call(call) if call.mark.is_none() => Some((call, call.function.as_deref()?)),
        _ => None,
    })
}

/// Each named call must come from the module that the truth names: the program where it names none.
fn check_modules(known: &Known, thread: &Thread, stack: &Stack) -> Vec<String> {
    let frames: Vec<NamedFrame> = known.core.stacks().named_frames(stack).collect();
    let calls = sure_calls(thread);
    let wrong = calls.filter(|(call, name)| !frames.iter().any(|frame| is_from(call, name, frame)));
    wrong
        .map(|(call, name)| {
            let module = call.module.as_deref().unwrap_or("the program");
            format!("thread {}: no frame of {name} is in {module}", thread.tid)
        })
        .collect()
}

fn is_from(call: &Call, name: &str, frame: &NamedFrame) -> bool {
    let location = &frame.location;
    let function = bare_name(location.function.as_deref().unwrap_or_default(), name.contains('<'));
    let module = match call.module.as_deref() {
        Some(module) => location.module.as_deref() == Some(module),
        None => location.in_exe,
    };
    module && function.contains(name)
}

/// A whole stack ends at its outermost frame; a damaged one must not claim that.
fn check_end(known: &Known, thread: &Thread, stack: &Stack) -> Option<String> {
    let fits = (thread.end == TrueEnd::Outermost) == (stack.end == End::Outermost);
    let (tid, end) = (thread.tid, thread.end);
    (!fits).then(|| format!("thread {tid} should end {end:?}:\n    {}", line(known, stack)))
}

/// Code that was compiled with CFI needs no guess.
fn check_trust(known: &Known, thread: &Thread, stack: &Stack) -> Option<String> {
    let guess = stack.frames.iter().position(|frame| frame.guess)?;
    let has_cfi = variant(known.case).libc == Libc::Glibc && thread.end == TrueEnd::Outermost;
    let wrong = has_cfi && !GUESSES.iter().any(|guess| guess.cases.take(known.case));
    let tid = thread.tid;
    wrong.then(|| format!("thread {tid}: frame {guess} is a guess:\n    {}", line(known, stack)))
}

fn check_thread(known: &Known, thread: &Thread) -> Vec<String> {
    let stack = stack(known, thread);
    let mut found = check_modules(known, thread, &stack);
    found.extend(check_frames(known, thread, &stack));
    found.extend(check_end(known, thread, &stack));
    found.extend(check_trust(known, thread, &stack));
    found
}

#[test]
fn every_thread_of_every_core_has_the_stack_that_its_program_knows() {
    check_each(cases(), |known| {
        let threads = known.truth.threads.iter();
        threads.flat_map(|thread| check_thread(known, thread)).collect()
    });
    let stale = |guess: &Guess| guess.cases.stale(cases().iter(), guess.why);
    assert_none(&GUESSES.iter().filter_map(stale).collect::<Vec<_>>());
}
