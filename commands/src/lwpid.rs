//! `$l` — the id of the current thread.

use kcore_dcmd::{Args, Cx, Dcmd, Dot, Example, Group, Result, Spec};

use crate::element::Element;

const EXAMPLES: &[Example] =
    &[Example { line: "$l", shows: "the id of the thread to which registers and stacks refer" }];

/// Shows the id of the current thread.
pub struct Lwpid;

impl Dcmd for Lwpid {
    fn spec(&self) -> Spec {
        Spec::new("$l", Group::Stacks, "print the LWP id of the current thread")
            .help(
                "The current thread is at first the one that crashed. ::thread chooses another \
                 one.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let tid = cx.current_thread()?;
        cx.emit(&Element::from(Dot::Thread(tid)))
    }
}
