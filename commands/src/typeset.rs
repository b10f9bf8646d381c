//! `::typeset`, `::unset` — make, mark and remove variables.

use kcore_dcmd::{Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

/// Makes and marks variables.
pub struct Typeset;

/// Removes variables.
pub struct Unset;

impl Dcmd for Typeset {
    fn spec(&self) -> Spec {
        Spec::new("typeset", Group::Language, "make variables, and mark them")
            .options(&[Opt {
                flag: 't',
                value: None,
                help: "mark the variables; +t removes the mark",
            }])
            .operands("[+t] name...", 1, usize::MAX)
            .help("A new variable has the value 0. ::vars -t lists the marked variables.")
            .examples(&[Example {
                line: "::typeset -t x",
                shows: "nothing; the variable x exists and is marked",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let names: Vec<_> = args.operands().iter().map(Arg::to_text).collect();
        let (clears, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name == "+t");
        let tagged = match (args.has('t'), !clears.is_empty()) {
            (true, true) => return Err(DcmdError::usage("-t and +t exclude each other")),
            (false, false) => None,
            (tagged, _) => Some(tagged),
        };
        if names.is_empty() {
            return Err(DcmdError::usage("too few arguments"));
        }
        each(cx, &names, |cx, name| cx.shell_mut().typeset(name, tagged))
    }
}

impl Dcmd for Unset {
    fn spec(&self) -> Spec {
        Spec::new("unset", Group::Language, "remove variables")
            .operands("name...", 1, usize::MAX)
            .help("You cannot remove registers, or variables that exist from the start.")
            .examples(&[Example { line: "5>x; ::unset x", shows: "nothing; x is removed" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let names: Vec<_> = args.operands().iter().map(Arg::to_text).collect();
        each(cx, &names, |cx, name| cx.shell_mut().unset(name))
    }
}

/// Reports the failure of one name and goes on with the others.
fn each(
    cx: &mut Cx<'_>,
    names: &[String],
    mut act: impl FnMut(&mut Cx<'_>, &str) -> Result<()>,
) -> Result<()> {
    for name in names {
        if let Err(error) = act(cx, name) {
            cx.report(&error)?;
        }
    }
    Ok(())
}
