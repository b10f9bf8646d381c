//! Runtimes and the rest of the house: every door of the registry is used by a runtime that is made up.

mod asking;
mod objects;
mod toy;

use std::{
    path::Path,
    sync::{OnceLock, atomic::Ordering},
};

use kcore::{
    Core, DoubtKind, End, FrameKind, LastWords, MAX_FRAMES, OpenOptions, Probes, Stack, Trust,
};

use toy::Toy;

fn open(probes: Probes) -> Core {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/nodes/x86_64");
    let options = OpenOptions {
        core: Some(folder.join("core.zst")),
        exe: Some(folder.join("nodes")),
        probes,
        ..OpenOptions::default()
    };
    Core::open(&options).expect("the core opens")
}

fn core() -> &'static Core {
    static CORE: OnceLock<Core> = OnceLock::new();
    CORE.get_or_init(|| {
        open(Probes { runtimes: toy::PROBES, tasks: toy::TASK_PROBES, ..Probes::NONE })
    })
}

fn stack(core: &Core) -> Stack {
    core.stacks().of_thread(core.tids()[0], MAX_FRAMES)
}

/// Each frame by name, with its line where a runtime told of it.
fn names(core: &Core, stack: &Stack) -> Vec<String> {
    let named = core.stacks().named_frames(stack).map(|frame| {
        let name = frame.location.function.clone().expect("every function here has a name");
        match frame.location.kind {
            FrameKind::Native => name.to_string(),
            kind => format!("{name}:{} [{}]", frame.location.line.unwrap_or(0), kind.as_str()),
        }
    });
    named.collect()
}

#[test]
fn native_frames_become_language_frames_are_joined_by_them_or_hidden() {
    let stack = stack(core());
    assert_eq!(names(core(), &stack), ["inner:3 [lua]", "outer:7 [lua]", "serve", "loop:9 [lua]"]);
    let frames: Vec<_> = core().stacks().named_frames(&stack).collect();
    assert_eq!(frames.iter().map(|frame| frame.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(frames.iter().map(|frame| frame.physical).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert!(frames[0].location.inline && !frames[1].location.inline);
    assert_eq!(frames[1].frame, Some(stack.frames[0]));
}

#[test]
fn native_frames_are_there_for_whoever_asks() {
    let stack = stack(core());
    let native =
        core().stacks().native_frames(&stack).filter_map(|frame| frame.location.function.clone());
    let native: Vec<String> = native.map(|name| name.to_string()).collect();
    assert_eq!(native, ["handle_get", "serve", "main"]);
}

#[test]
fn a_rule_steps_before_call_frame_information_and_stops() {
    let stack = stack(core());
    let trusts: Vec<Trust> = stack.frames.iter().map(|frame| frame.trust).collect();
    assert_eq!(trusts, [Trust::Context, Trust::Runtime, Trust::Cfi]);
    assert_eq!(stack.end, End::Outermost);
    let plain = open(Probes::NONE);
    let untouched = crate::stack(&plain);
    assert!(untouched.frames.len() > 3, "main was called, if nobody says otherwise");
    let pcs = |stack: &Stack| stack.frames.iter().map(|it| (it.pc, it.cfa)).collect::<Vec<_>>();
    assert_eq!(pcs(&untouched)[..3], pcs(&stack), "the rule and the information agree");
    assert_eq!(names(&plain, &untouched)[..3], ["handle_get", "serve", "main"]);
}

#[test]
fn registers_of_frames_behind_a_rule_are_known() {
    let stack = stack(core());
    let known = core().stacks().known_frames(&stack, MAX_FRAMES);
    let plain = open(Probes::NONE);
    let (untouched, plain_stack) = (&plain, crate::stack(&plain));
    let expected = untouched.stacks().known_frames(&plain_stack, MAX_FRAMES);
    let serve = core().stacks().named_frames(&stack).nth(2).expect("serve");
    let same = untouched.stacks().named_frames(&plain_stack).nth(1).expect("serve");
    let values = |variables: Option<Vec<kcore::FrameVariable>>| {
        let variables = variables.expect("it has variables").into_iter();
        variables.map(|it| (it.name, it.object.map(|object| object.place))).collect::<Vec<_>>()
    };
    assert_eq!(
        format!("{:?}", values(known.variables(&serve))),
        format!("{:?}", values(expected.variables(&same)))
    );
    let inner = core().stacks().named_frames(&stack).next().expect("inner");
    assert!(
        known.variables(&inner).is_none(),
        "variables of the code that runs it are not its own"
    );
}

#[test]
fn tasks_have_stacks_of_their_own() {
    let tasks = core().tasks().all();
    let stacks: Vec<Stack> =
        tasks.iter().map(|task| core().stacks().of_task(task, MAX_FRAMES)).collect();
    let thread = core().tids().first().copied();
    assert_eq!(stacks[0].tid, thread);
    assert_eq!(names(core(), &stacks[0]), names(core(), &stack(core())));
    assert_eq!(stacks[1].tid, None);
    assert_eq!(stacks[1].frames[0].trust, Trust::Runtime);
    assert!(stacks[1].frames[0].pc.is_return());
    assert_eq!(stacks[1].frames.len(), 3);
    assert_eq!((stacks[2].frames.len(), stacks[2].end), (0, End::NoRegisters));
    assert_eq!((stacks[3].frames.len(), stacks[3].end), (0, End::Outermost));
    assert_eq!(names(core(), &stacks[3]), ["yield:12 [lua]", "generate:15 [lua]"]);
    let parked: Vec<_> = core().stacks().named_frames(&stacks[3]).collect();
    assert!(parked.iter().all(|frame| frame.frame.is_none() && frame.trust() == Trust::Runtime));
    assert!(
        stacks
            .iter()
            .zip(tasks)
            .all(|(stack, task)| { stack.task.as_ref().is_some_and(|its| its.id == task.id) })
    );
}

#[test]
fn a_library_of_stacks_is_asked_for_tasks_alone() {
    let own = open(Probes { tasks: toy::TASK_PROBES, ..Probes::NONE });
    let named = |core: &Core| {
        let task = core.tasks().on_stack(&stack(core)).cloned();
        task.map(|task| (task.runtime, task.id))
    };
    // `_start` begins its tasks, so that who looks at the thread is told of the one that it runs.
    assert_eq!(named(&own), Some(("fibers", 2)));
    assert_eq!(named(&open(Probes::NONE)), None);
    assert!(own.runtimes().is_empty(), "it is no rule of the walker, and decodes nothing");
    let found: Vec<&str> = own.tasks().runtimes().identities().map(|it| it.name).collect();
    assert_eq!(found, ["fibers"]);
    let first = own.tasks().all().first().expect("a suspended one");
    assert_eq!((first.name.as_deref(), &*first.state), (Some("the first"), "ready"));
    assert_eq!(own.stacks().of_task(first, MAX_FRAMES).frames.len(), stack(&own).frames.len());
    let both: Vec<&str> = core().tasks().all().iter().map(|task| task.runtime).collect();
    assert_eq!(both, ["toy", "toy", "toy", "toy", "fibers", "fibers"]);
}

#[test]
fn tasks_are_grouped_with_threads_by_their_frames() {
    let groups = core().stacks().groups(&core().tids(), core().tasks().all(), MAX_FRAMES);
    let count = |function: &str| {
        let first = |group: &&kcore::StackGroup| {
            names(core(), &group.stack).first().is_some_and(|name| name.starts_with(function))
        };
        groups.iter().find(first).map(kcore::StackGroup::count)
    };
    assert_eq!(count("yield"), Some(1), "it has no native frame");
    assert_eq!(count("inner"), Some(1 + 2), "the thread, and two that are suspended where it is");
}

#[test]
fn found_damaged_and_absent_are_three_answers() {
    let runtimes = core().runtimes();
    let found: Vec<&str> = runtimes.identities().map(|identity| identity.name).collect();
    assert_eq!(found, ["toy", "thief"]);
    assert_eq!(runtimes.damaged().len(), 1);
    let doubt = "toy 0.9: its heap was not dumped: its frames are shown as native ones";
    assert!(
        core().doubts().iter().any(|it| it.kind == DoubtKind::Runtime && it.text == doubt),
        "{:?}",
        core().doubts()
    );
    let plain = open(Probes::NONE);
    assert!(plain.runtimes().is_empty() && plain.runtimes().damaged().is_empty());
}

#[test]
fn facts_of_threads_are_joined() {
    let facts = core().thread_facts(core().tids()[0]);
    assert_eq!(facts.name.as_deref(), Some("toy main"));
    assert_eq!(facts.state.as_deref(), Some("stealing"));
}

#[test]
fn the_end_is_told_by_who_knows_it() {
    let words = core().crash().last_words();
    let toy = words.iter().find_map(|words| match words {
        LastWords::Fatal { message, trace } if message == "toy" => Some(trace),
        _ => None,
    });
    assert!(toy.is_some_and(|trace| trace.iter().any(|name| name == "main")), "{words:?}");
}

#[test]
fn a_runtime_is_asked_by_its_type() {
    let toys: Vec<&Toy> = core().runtimes().of::<Toy>().collect();
    assert_eq!(toys.len(), 1);
    let at = toys[0].interpreted;
    assert_eq!(core().runtimes().identify(core(), at).as_deref(), Some("the toy's code"));
}

#[test]
fn a_runtime_reads_what_frames_of_the_moment_need() {
    let core = open(Probes { runtimes: toy::PROBES, ..Probes::NONE });
    let was_asked = || core.runtimes().of::<Toy>().all(|toy| toy.followed.load(Ordering::Relaxed));
    assert!(!was_asked());
    assert!(core.runtimes().follow_running(&core) && was_asked());
    let plain = open(Probes::NONE);
    assert!(!plain.runtimes().follow_running(&plain));
}

#[test]
fn threads_of_one_native_stack_in_different_functions_are_different() {
    let groups = core().stacks().groups(&core().tids(), &[], MAX_FRAMES);
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].first(), core().tids().first().copied());
}

#[test]
fn the_page_about_decoders_shows_this_toy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a file of the tree");
    let (page, toy) = (read("../../docs/book/src/decoders.md"), read("tests/runtimes/toy.rs"));
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).collect();
    assert!(blocks.len() >= 5, "every duty has its code");
    for block in blocks {
        let code = block.split("```").next().unwrap_or_default();
        assert!(toy.contains(code), "not in the toy, but in decoders.md:\n{code}");
    }
}
