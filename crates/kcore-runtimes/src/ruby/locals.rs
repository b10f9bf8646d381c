//! Variables of frames: `vm_core.h` (`VM_ENV_INDEX_LAST_LVAR`), `iseq.h`.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::{
    Ruby,
    frame::ControlFrame,
    heap::{Heap, pointer},
};
use crate::Host;

/// Variables of one frame, at most.
const MAX_LOCALS: u64 = 1 << 16;
/// Environments around one, at most.
const MAX_OUTER: usize = 1 << 10;
/// `param.size` of a body: how many of its variables are arguments.
const ARGUMENTS: u64 = 20;
/// `VM_ENV_FLAG_LOCAL`.
const LOCAL: u64 = 2;
/// The name of the receiver.
const SELF: &str = "self";

/// A variable of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name; `self` is the receiver.
    pub name: Arc<str>,
    /// Its value.
    pub value: u64,
    /// Whether it is an argument of the frame's own code.
    pub is_argument: bool,
}

impl Ruby {
    /// The variables of a control frame, `self` first, its own before those of code around it.
    pub fn locals(&self, host: &dyn Host, frame: Addr) -> Option<Vec<Local>> {
        let heap = self.heap(host);
        let control = ControlFrame::load(&heap, frame)?;
        let mut body = heap.body(pointer(control.code)?)?;
        let receiver = Local { name: SELF.into(), value: control.receiver, is_argument: false };
        let (mut locals, mut known) = (vec![receiver], FxHashSet::default());
        let mut environment = control.environment;
        for depth in 0..MAX_OUTER {
            let own = heap.locals_of(body, environment, depth == 0)?;
            locals.extend(own.into_iter().filter(|local| known.insert(local.name.clone())));
            if heap.word(environment, 0)? & LOCAL != 0 {
                break;
            }
            let (Some(outer), Some(parent)) = (heap.outer(environment), heap.parent(body)) else {
                break;
            };
            (environment, body) = (outer, parent);
        }
        Some(locals)
    }
}

impl Heap<'_> {
    fn locals_of(&self, body: Addr, environment: Addr, is_own: bool) -> Option<Vec<Local>> {
        let count = self.uint(body, self.layout.body.local_count, 4)?.min(MAX_LOCALS);
        let arguments = self.uint(body, ARGUMENTS, 4)?;
        let Some(names) = self.pointer(body, self.layout.body.locals) else {
            return Some(Vec::new());
        };
        let local = |index: u64| {
            let name = self.identifier(self.word(names, index.checked_mul(8)?)?)?;
            // What the compiler made for itself has no name that a program may write.
            is_variable(&name).then_some(())?;
            let below = count.checked_sub(index)?.checked_add(2)?.checked_mul(8)?;
            let value = self.word(Addr::new(environment.get().checked_sub(below)?), 0)?;
            Some(Local { name: name.into(), value, is_argument: is_own && index < arguments })
        };
        Some((0..count).filter_map(local).collect())
    }
}

fn is_variable(name: &str) -> bool {
    name.chars()
        .next()
        .is_some_and(|first| first == '_' || first.is_lowercase() || !first.is_ascii())
}
