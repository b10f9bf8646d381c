//! `::term` — the type of the terminal.

use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Message, Result, Spec};

/// Shows the name of the terminal's type.
pub struct Term;

impl Dcmd for Term {
    fn spec(&self) -> Spec {
        Spec::new("term", Group::Language, "show the type of the terminal")
            .help("Shows the value of TERM, which tells programs what the terminal can do.")
            .examples(&[Example { line: "::term", shows: "the type, such as xterm-256color" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let name = std::env::var("TERM").ok().filter(|name| !name.is_empty());
        cx.emit(&Message(name.unwrap_or_else(|| "unknown".to_owned())))
    }
}
