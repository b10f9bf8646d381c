//! `::gofinalizers`: what Go calls when objects are gone.

use kcore::go::GoSpecial;
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use super::subject;
use crate::heap::not_copied::note_not_copied;

/// Lists finalizers and cleanups.
pub struct Gofinalizers;

const HELP: &str = "\
Lists what runtime.SetFinalizer and runtime.AddCleanup asked for and what was not called yet. OBJECT is that whose \
end is waited for. TYPE is empty where memory does not tell it. FUNCTION is what is called then.\n\n\
OBJECT::refs and OBJECT::path say why an object is still there.";

impl Dcmd for Gofinalizers {
    fn spec(&self) -> Spec {
        Spec::new("gofinalizers", Group::Runtimes, "list finalizers and cleanups of Go")
            .help(HELP)
            .examples(&[Example {
                line: "::gofinalizers",
                shows: "the objects with a finalizer or cleanup, and its function",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        note_not_copied(cx)?;
        for go in subject::schedulers(core)? {
            let failed = |why: &str| DcmdError::failed(why.to_owned());
            for special in go.specials(core.as_ref()).map_err(failed)? {
                cx.check_interrupt()?;
                cx.emit(&SpecialRecord(special))?;
            }
        }
        Ok(())
    }
}

const COLUMNS: &[Column] = &[
    Column::right("address", "OBJECT", 16),
    Column::left("what", "WHAT", 9),
    Column::left("shown_type", "TYPE", 28),
    Column::left("shown_function", "FUNCTION", 0),
];

struct SpecialRecord(GoSpecial);

impl Record for SpecialRecord {
    fn kind(&self) -> &'static str {
        "go_special"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let it = &self.0;
        let text = |text: Option<&str>| Cell::text(text.unwrap_or_default().to_owned());
        out.addr("address", it.special.object)
            .text("what", it.special.kind.as_str())
            .opt_text("go_type", it.ty.as_deref())
            .opt_text("function", it.function.as_deref())
            .addr("closure", it.special.function)
            .display("shown_type", text(it.ty.as_deref()))
            .display("shown_function", text(it.function.as_deref()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.special.object))
    }
}
