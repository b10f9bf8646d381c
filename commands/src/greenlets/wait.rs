//! What a greenlet waits for. Its functions show it: those of gevent and eventlet that lie between the switch and the
//! program's own code.

use kcore::{Core, FrameKind, Location, python::greenlet::Greenlet};

use super::subject::id;

/// Frames that are looked at.
const FRAMES: usize = 32;

/// Packages whose functions lie between, and what is in between that is neither's: the switch itself.
const PACKAGES: &[&str] = &["/gevent/", "/eventlet/"];

/// What functions in C wait for, by parts of their names: gevent's modules are made by Cython, whose names hold those of
/// class and method with their lengths.
const NATIVE: &[(&[&str], &str)] = &[
    (&["Semaphore", "acquire"], "semaphore"),
    (&["_gevent_cevent_5Event", "wait"], "event"),
    (&["AsyncResult", "get"], "result"),
    (&["_gevent_cqueue", "get"], "queue"),
    (&["_gevent_cqueue", "put"], "queue"),
    (&["_gevent_cgreenlet_8Greenlet", "join"], "greenlet"),
    (&["wait_on_socket"], "socket"),
    (&["wait_read"], "file"),
    (&["wait_write"], "file"),
];

/// What functions in Python wait for, by the end of their file and their name.
const PYTHON: &[(&str, &str, &str)] = &[
    ("/gevent/hub.py", "sleep", "timer"),
    ("/gevent/lock.py", "acquire", "lock"),
    ("/gevent/thread.py", "acquire", "lock"),
    ("/gevent/subprocess.py", "wait", "process"),
    ("/gevent/greenlet.py", "joinall", "greenlet"),
    ("/eventlet/greenthread.py", "sleep", "timer"),
    ("/eventlet/greenthread.py", "wait", "greenlet"),
    ("/eventlet/hubs/__init__.py", "trampoline", "socket"),
    ("/eventlet/semaphore.py", "acquire", "semaphore"),
    ("/eventlet/queue.py", "get", "queue"),
    ("/eventlet/queue.py", "put", "queue"),
    ("/eventlet/event.py", "wait", "event"),
];

/// What a suspended greenlet waits for, in a word.
pub fn kind(core: &Core, greenlet: &Greenlet) -> Option<&'static str> {
    let stack = core.stacks().of_task(core.tasks().by_id(id(greenlet))?, FRAMES);
    let between =
        core.stacks().named_frames(&stack).take_while(|frame| is_between(&frame.location));
    between.filter_map(|frame| waits_for(&frame.location)).last()
}

/// Whether a frame lies between the switch and the program's own code.
fn is_between(location: &Location) -> bool {
    location.kind == FrameKind::Native
        || location.file.as_deref().is_some_and(|file| PACKAGES.iter().any(|of| file.contains(of)))
}

fn waits_for(location: &Location) -> Option<&'static str> {
    let function = location.function.as_deref()?;
    if location.kind == FrameKind::Native {
        let has_all = |parts: &[&str]| parts.iter().all(|part| function.contains(part));
        return NATIVE.iter().find(|(parts, _)| has_all(parts)).map(|(_, kind)| *kind);
    }
    let (file, name) = (location.file.as_deref()?, function.rsplit('.').next()?);
    let is_it = |end: &str, called: &str| file.ends_with(end) && name == called;
    PYTHON.iter().find(|(end, called, _)| is_it(end, called)).map(|(.., kind)| *kind)
}
