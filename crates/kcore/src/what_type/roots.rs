//! The variables from which all that a program can reach is found.

use std::ops::ControlFlow;

use kcore_values::Object;

use crate::{Core, Module, Tid};

/// Frames of each thread whose variables count.
const MAX_FRAMES: usize = 64;
/// Variables of modules.
const MAX_VARIABLES: usize = 1 << 18;

/// A variable with its name.
pub struct Root {
    /// How a user would write it.
    pub name: String,
    /// The variable.
    pub object: Object,
}

impl Core {
    /// The variables of all modules that debug information describes, the executable's first, then those
    /// of all frames of all threads.
    pub(crate) fn type_roots(&self) -> impl Iterator<Item = Root> + '_ {
        let globals = self.modules().in_scope_order().flat_map(|module| self.globals_of(module));
        globals
            .take(MAX_VARIABLES)
            .chain(self.threads().iter().flat_map(|thread| self.locals_of(thread.tid)))
    }

    fn globals_of<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = Root> + 'a {
        let mut names = Vec::new();
        if let Some(info) = module.symbols().debug_info() {
            info.each_variable(|id, name| {
                names.push((id, name.to_owned()));
                match names.len() < MAX_VARIABLES {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            });
        }
        names.into_iter().filter_map(move |(id, name)| {
            let object = self.module_variable(module, id)?;
            let name = if module.is_exe() { name } else { format!("{}`{name}", module.name()) };
            Some(Root { name, object })
        })
    }

    fn locals_of(&self, tid: Tid) -> Vec<Root> {
        let stack = self.stacks().of_thread(tid, MAX_FRAMES);
        let known = self.stacks().known_frames(&stack, MAX_FRAMES);
        let mut roots = Vec::new();
        for frame in self.stacks().named_frames(&stack) {
            let function = frame.location.function.clone().unwrap_or_else(|| "a function".into());
            for variable in known.variables(&frame).unwrap_or_default() {
                if let (Some(name), Ok(object)) = (variable.name, variable.object) {
                    roots.push(Root {
                        name: format!("{name} in {function} of thread {tid}"),
                        object,
                    });
                }
            }
        }
        roots
    }
}
