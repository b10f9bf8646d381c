//! `::runtimes` — the language runtimes that the process holds.

use std::cmp::Reverse;

use kcore::{Core, Damage, FileState, Identity, Module};
use kcore_dcmd::{Args, Cell, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View};

use crate::advice;

/// Modules without a file that are named, at most.
const MAX_NAMES: usize = 3;

/// Lists the runtimes.
pub struct Runtimes;

const HELP: &str = "\
Shows one line for each instance of a language runtime whose code or data the process has: its \
version, which instance it is, and the source of its layouts. Below it stands what kcore cannot \
decode of it, and why. The native frames of what is not decoded stay as they are.";

impl Dcmd for Runtimes {
    fn spec(&self) -> Spec {
        Spec::new("runtimes", Group::Runtimes, "list the language runtimes of the process")
            .help(HELP)
            .examples(&[Example {
                line: "::runtimes",
                shows: "the runtimes that run beside native code",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let both = [core.runtimes(), core.tasks().runtimes()];
        for runtimes in both {
            runtimes.identities().try_for_each(|identity| cx.emit(&Row::Decoded(identity)))?;
            runtimes.damaged().iter().try_for_each(|damage| cx.emit(&Row::Damaged(damage)))?;
        }
        if both.iter().all(|runtimes| runtimes.is_empty() && runtimes.damaged().is_empty()) {
            let unread = unread_modules(cx.core());
            cx.note(&format!("no language runtime was found{unread}"))?;
        }
        Ok(())
    }
}

/// The text about missing files, because kcore recognizes a runtime by what the file of its module
/// exports. The largest modules are named.
fn unread_modules(core: &Core) -> String {
    let modules = core.modules().all().iter();
    let missing = modules
        .filter(|module| matches!(module.file_state(), FileState::Missing(_)) && !module.is_vdso());
    let mut missing: Vec<&Module> = missing.collect();
    missing.sort_by_key(|module| Reverse(module.span().len()));
    let names: Vec<&str> = missing.iter().take(MAX_NAMES).map(|module| module.name()).collect();
    match missing.len().saturating_sub(names.len()) {
        _ if names.is_empty() => String::new(),
        0 => format!("; these missing files may hold one: {}", names.join(", ")),
        more => {
            format!("; these missing files may hold one: {} and {more} more", names.join(", "))
        }
    }
}

/// A runtime.
enum Row<'a> {
    /// One that is decoded.
    Decoded(&'a Identity),
    /// One that is not.
    Damaged(&'a Damage),
}

impl Row<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Decoded(identity) => identity.name,
            Self::Damaged(damage) => damage.name,
        }
    }

    fn version(&self) -> Option<&str> {
        match self {
            Self::Decoded(identity) => identity.version.as_deref(),
            Self::Damaged(damage) => damage.version.as_deref(),
        }
    }

    fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Decoded(identity) => Some(identity),
            Self::Damaged(_) => None,
        }
    }

    fn undecoded(&self) -> Vec<Cell<'_>> {
        match self {
            Self::Decoded(identity) => {
                let undecoded = identity.undecoded.iter();
                undecoded.map(|it| Cell::text(advice::about_undecoded(it))).collect()
            }
            Self::Damaged(damage) => vec![Cell::text(damage.why.as_ref())],
        }
    }
}

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "runtime"
    }

    fn view(&self) -> View {
        View::Line(
            "{name}{version? {version}}{instance?, {instance}}{metadata?, by {metadata}}\
             {undecoded*\n    not decoded: {.}}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let identity = self.identity();
        out.text("name", self.name())
            .opt_text("version", self.version())
            .flag("decoded", identity.is_some())
            .opt_text("instance", identity.map(|identity| identity.instance.as_ref()))
            .opt_text("metadata", identity.map(|identity| identity.metadata.as_ref()))
            .put("undecoded", Cell::List(self.undecoded()));
    }
}
