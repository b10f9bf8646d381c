//! Generators: `zend_generators.c`.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Php,
    decode::language,
    frame::THIS,
    memory::{Memory, OBJECT},
    probe::NAME,
};
use crate::{Host, Task, TaskStart};

/// Generators that delegate to each other, at most.
const MAX_DELEGATING: usize = 1 << 12;
/// `top` of `zend_objects_store`, which begins with `object_buckets`.
const TOP: u64 = 8;
/// Objects that are looked at, at most.
const MAX_OBJECTS: u64 = 1 << 26;
/// `type` of a `zend_class_entry` of C, which begins with it.
const INTERNAL_CLASS: u8 = 1;

/// The frames that a placeholder stands for, from the generator that delegates to the running one outwards:
/// `zend_generator_check_placeholder_frame`.
pub fn delegating(memory: &Memory<'_>, placeholder: Addr, running: Option<Addr>) -> Vec<Addr> {
    let mut frames = Vec::new();
    let this = placeholder.checked_add(THIS).and_then(|at| memory.value(at));
    let mut next = this.and_then(|this| this.object(OBJECT));
    while let Some(generator) = next.filter(|_| frames.len() < MAX_DELEGATING) {
        let frame = memory.pointer(generator, memory.layout.generator.frame);
        let Some(frame) = frame.filter(|frame| Some(*frame) != running && !frames.contains(frame))
        else {
            break;
        };
        frames.push(frame);
        next = memory.pointer(generator, memory.layout.generator.parent);
    }
    frames.reverse();
    frames
}

impl Memory<'_> {
    /// The objects of the program.
    pub fn all_objects(&self, store: Addr) -> Vec<Addr> {
        let Some(buckets) = self.pointer(store, 0) else { return Vec::new() };
        let top = self.uint(store, TOP, 4).unwrap_or_default().min(MAX_OBJECTS);
        // The first place has none, and places that are free have an odd number.
        let places = (1..top).map_while(|index| self.word(buckets, index.checked_mul(8)?));
        places.filter(|word| word % 2 == 0).filter_map(super::memory::pointer).collect()
    }

    /// The objects of the program that are of a class of PHP's own.
    pub fn objects_of(&self, store: Addr, wanted: &str) -> Vec<Addr> {
        let mut classes: FxHashMap<Addr, bool> = FxHashMap::default();
        let mut is_wanted = |class: Addr| {
            *classes.entry(class).or_insert_with(|| {
                self.byte(class, 0) == Some(INTERNAL_CLASS)
                    && self.class_name(class).as_deref() == Some(wanted)
            })
        };
        let objects = self.all_objects(store).into_iter();
        objects.filter(|object| self.class_of(*object).is_some_and(&mut is_wanted)).collect()
    }
}

impl Php {
    /// Generators as tasks.
    pub(super) fn generators(
        &self,
        host: &dyn Host,
        store: Addr,
        running: &FxHashSet<Addr>,
    ) -> Vec<Task> {
        let memory = self.memory(host);
        let task = |generator: Addr| {
            let at = memory.pointer(generator, memory.layout.generator.frame)?;
            // It runs on a stack that is shown.
            (!running.contains(&at)).then_some(())?;
            let (state, start) = match memory.suspended(at) {
                Some((frame, true)) => ("suspended", TaskStart::Language(vec![language(&frame)])),
                Some((frame, false)) => ("created", TaskStart::Language(vec![language(&frame)])),
                None => ("suspended", TaskStart::Unknown(Arc::from("its call cannot be read"))),
            };
            Some(Task {
                runtime: NAME,
                id: generator.get(),
                name: None,
                state: state.into(),
                waits_on: None,
                until: None,
                entry: None,
                thread: None,
                stack: None,
                start,
            })
        };
        memory.objects_of(store, "Generator").into_iter().filter_map(task).collect()
    }
}
