//! A runtime that asks for frames where frames are not walked yet: while it is looked for, and when it is asked
//! for a step.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use kcore::{
    Finding, Frame, Host, Identity, MAX_FRAMES, Phase, Probe, Probes, Regs, RuleFrame, RuleStep,
    Runtime, TaskProbe, Tid, Trust,
};

use crate::{open, stack};

/// What the probe was shown.
static SEEN: Mutex<Vec<Frame>> = Mutex::new(Vec::new());
/// Frames that the rule was shown, at most.
static IN_STEP: AtomicUsize = AtomicUsize::new(0);

struct Curious(Identity);

fn find(host: &dyn Host) -> Vec<Finding> {
    let first = host.threads().first().copied();
    let frames = first.map(|thread| host.frames(thread)).unwrap_or_default();
    *SEEN.lock().unwrap_or_else(PoisonError::into_inner) = frames;
    let identity = Identity {
        name: "curious",
        version: None,
        instance: "all of it".into(),
        metadata: "made up".into(),
        undecoded: Vec::new(),
    };
    vec![Finding::Found(Box::new(Curious(identity)))]
}

impl Runtime for Curious {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn step(
        &self,
        host: &dyn Host,
        _phase: Phase,
        frame: &RuleFrame<'_>,
        _caller: &mut Regs,
    ) -> Option<RuleStep> {
        let frames = frame.thread.map(|thread: Tid| host.frames(thread)).unwrap_or_default();
        IN_STEP.fetch_max(frames.len(), Ordering::Relaxed);
        None
    }
}

const PROBE: Probe = Probe { name: "curious", find };

#[test]
fn a_probe_that_asks_for_frames_is_shown_the_native_ones() {
    let core = open(Probes { runtimes: &[PROBE], ..Probes::NONE });
    let asked = stack(&core);
    assert_eq!(core.runtimes().identities().map(|it| it.name).collect::<Vec<_>>(), ["curious"]);
    let plain = stack(&open(Probes::NONE));
    let places = |frames: &[Frame]| frames.iter().map(|it| (it.pc, it.cfa)).collect::<Vec<_>>();
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(seen.len() > 3 && seen.iter().all(|frame| frame.trust != Trust::Runtime));
    assert_eq!(places(&seen), places(&plain.frames));
    assert_eq!(places(&asked.frames), places(&plain.frames), "its rule knows no step");
    assert_eq!(IN_STEP.load(Ordering::Relaxed), plain.frames.len(), "a rule may ask as well");
}

#[test]
fn a_library_of_stacks_that_asks_for_frames_is_shown_them() {
    const TASKS: &[TaskProbe] = &[TaskProbe { probe: PROBE, begins_task: |_| false }];
    let core = open(Probes { tasks: TASKS, ..Probes::NONE });
    assert!(core.tasks().all().is_empty());
    let found: Vec<&str> = core.tasks().runtimes().identities().map(|it| it.name).collect();
    assert_eq!(found, ["curious"]);
    assert!(core.stacks().of_thread(core.tids()[0], MAX_FRAMES).frames.len() > 3);
}
