//! What kind of object a fiber waits for. The functions on its stack show it, because a queue does
//! not say to which object it belongs.

use kcore::{
    Core,
    fiber::{Fiber, State, Wait},
};

use super::subject::id;

/// Frames that are looked at: the scheduler's own come first.
const FRAMES: usize = 32;

/// What functions of Boost.Fiber wait for, by their names up to the arguments of templates, without the name
/// space `boost::fibers`.
const WAITS: &[(&str, &str)] = &[
    ("mutex::", "mutex"),
    ("timed_mutex::", "mutex"),
    ("recursive_mutex::", "mutex"),
    ("recursive_timed_mutex::", "mutex"),
    ("condition_variable::", "condition"),
    ("condition_variable_any::", "condition"),
    ("barrier::", "barrier"),
    ("fiber::join", "join"),
    ("context::join", "join"),
    ("buffered_channel", "channel"),
    ("unbuffered_channel", "channel"),
    ("future", "future"),
    ("shared_future", "future"),
    ("detail::future_base", "future"),
    ("detail::shared_state", "future"),
];

/// Functions between a fiber's wait and the function that says what it waits for: the library's
/// own, and those that it calls.
const LIBRARY: &str = "boost::fibers::";
const BETWEEN: &[&str] = &["boost::", "std::", "jump_fcontext", "ontop_fcontext"];

/// What a fiber waits for, in a word.
pub fn kind(core: &Core, fiber: &Fiber) -> Option<&'static str> {
    match (fiber.state, fiber.waits_on) {
        (State::Waiting, Some(Wait { joins: Some(_), .. })) => Some("join"),
        (State::Waiting, _) => by_stack(core, fiber),
        (State::Sleeping, _) => Some("timer"),
        _ => None,
    }
}

/// The outermost known function of the library counts, because a barrier waits by a condition.
fn by_stack(core: &Core, fiber: &Fiber) -> Option<&'static str> {
    let stack = core.stacks().of_task(core.tasks().by_id(id(fiber))?, FRAMES);
    let names = core.stacks().named_frames(&stack).map(|frame| frame.location.function.clone());
    let own = names.take_while(|name| {
        let is_own = |name: &str| BETWEEN.iter().any(|begin| name.starts_with(begin));
        name.as_deref().is_none_or(is_own)
    });
    own.flatten().filter_map(|name| waits_for(&name)).last()
}

fn waits_for(function: &str) -> Option<&'static str> {
    let name = function.strip_prefix(LIBRARY)?;
    let is_it = |begin: &str| name.starts_with(begin);
    WAITS.iter().find(|(begin, _)| is_it(begin)).map(|(_, kind)| *kind)
}
