//! `::tmodel` — the thread model. Linux has only one.

use kcore_dcmd::{Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Result, Spec};

/// Accepts a thread model.
pub struct Tmodel;

impl Dcmd for Tmodel {
    fn spec(&self) -> Spec {
        Spec::new("tmodel", Group::Stacks, "choose the thread model: thread or lwp")
            .operands("thread|lwp", 1, 1)
            .help("On Linux every thread is an LWP, so both models show the same threads.")
            .examples(&[Example {
                line: "::tmodel lwp",
                shows: "nothing: both models are the same",
            }])
    }

    fn run(&self, _cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let model = args.first().map_or_else(String::new, Arg::to_text);
        match model.as_str() {
            "thread" | "lwp" => Ok(()),
            _ => Err(DcmdError::usage(format!("unknown thread model -- {model}"))),
        }
    }
}
