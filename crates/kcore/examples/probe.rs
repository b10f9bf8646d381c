//! Adds a runtime that kcore does not know: `cargo run -p kcore --example probe -- CORE`.
//!
//! The made-up interpreter of `testdata/nodes` runs each function of its language in a call of `handle_get`.

use std::{env, error::Error};

use kcore::{
    Core, Finding, FrameKind, Host, Identity, LanguageFrame, MAX_FRAMES, NativeStack, OpenOptions,
    Probe, Probes, Runtime, Span,
};

/// The native function in which functions of the language run.
const INTERPRETER: &str = "handle_get";

struct Toy(Identity);

/// Finds it by a symbol. A probe must be cheap where its runtime is absent.
fn find(host: &dyn Host) -> Vec<Finding> {
    let modules = host.modules().into_iter();
    let with_it = modules.filter(|module| module.symbols().table().lookup(INTERPRETER).is_some());
    with_it
        .map(|module| Finding::Found(Box::new(Toy(Identity::new("toy", module.name())))))
        .collect()
}

impl Runtime for Toy {
    fn identity(&self) -> &Identity {
        &self.0
    }

    /// A frame of the interpreter is shown as the function that it runs.
    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let is_ours = |pc| host.function_at(pc).is_some_and(|name| &*name == INTERPRETER);
        let frames = stack.frames.iter().enumerate().filter(|(_, frame)| is_ours(frame.pc));
        frames.map(|(index, _)| Span::replacing(index, vec![function()])).collect()
    }
}

/// A real runtime reads this from memory, by `host.space()`.
fn function() -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Other("toy"),
        function: Some("get".into()),
        file: Some("handlers.toy".into()),
        line: Some(7),
        ..LanguageFrame::default()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("usage: probe CORE")?;
    let probes = Probes { runtimes: &[Probe { name: "toy", find }], ..Probes::NONE };
    let core = Core::open(&OpenOptions::of_core(path).with_probes(probes))?;
    for tid in core.tids() {
        let stack = core.stacks().of_thread(tid, MAX_FRAMES);
        core.stacks()
            .named_frames(&stack)
            .for_each(|frame| println!("{frame} [{}]", frame.location.kind.as_str()));
    }
    Ok(())
}
