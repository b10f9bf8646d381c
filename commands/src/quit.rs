//! `::quit`, `$q` — leaves the debugger.

use kcore_dcmd::{Args, Cx, Dcmd, DcmdError, Example, Group, Result, Spec};

const EXAMPLES: &[Example] = &[Example { line: "::quit", shows: "nothing more" }];

/// Ends the session.
pub struct Quit;

impl Dcmd for Quit {
    fn spec(&self) -> Spec {
        Spec::new("quit", Group::Language, "leave the debugger")
            .for_users()
            .aliases(&["$q", "$Q", "$%"])
            .help("Ends the session, or the script. Commands after it do not run.")
            .examples(EXAMPLES)
    }

    fn run(&self, _cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        Err(DcmdError::Quit)
    }
}
