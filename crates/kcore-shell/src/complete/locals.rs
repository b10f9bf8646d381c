//! The variables of the frame that a user has chosen.

use kcore::{Addr, Core, Object, Tid};

/// A frame of a thread.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) tid: Tid,
    /// Its index among physical frames.
    pub(super) physical: usize,
    /// Its index among named frames, where the user chose one of those.
    pub(super) named: Option<usize>,
}

/// A variable without its value.
pub(super) struct Local {
    pub(super) name: String,
    /// An object of its type; it lies nowhere.
    pub(super) object: Option<Object>,
}

/// The variables of a frame, those of the innermost function first.
pub(super) fn of(core: &Core, chosen: Chosen) -> Vec<Local> {
    let wanted = chosen.named.unwrap_or(chosen.physical);
    let stack = core.stacks().of_thread(chosen.tid, wanted.saturating_add(2));
    let known = core.stacks().known_frames(&stack, wanted.saturating_add(1));
    let frames = core.stacks().named_frames(&stack).filter(|frame| match chosen.named {
        Some(named) => frame.index == named,
        None => frame.physical == chosen.physical,
    });
    let variables = frames.filter_map(|frame| known.variables(&frame)).flatten();
    variables
        .filter_map(|variable| {
            let object = variable.ty.map(|ty| Object::at(ty, Addr::new(0)));
            Some(Local { name: variable.name?.to_string(), object })
        })
        .collect()
}
