//! Dcmds and walkers that files of the user declare.

pub mod help;
mod table;
pub mod walk;

use std::sync::Arc;

use kcore::{DcmdAction, DeclaredDcmd};
use kcore_dcmd::{Arg, Args, Cx, Dcmd, DcmdError, Group, Result, Spec};

/// Runs the dcmds that files declare.
pub static DECLARED: Declared = Declared;

/// Runs the dcmd that a file declares under the name by which it is called.
#[derive(Debug)]
pub struct Declared;

impl Dcmd for Declared {
    /// That of no dcmd: each that a file declares has its own.
    fn spec(&self) -> Spec {
        Spec::new("declared", Group::Own, "run what a file declares")
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let called = cx.input().called_as.clone();
        let printers = Arc::clone(cx.shell().printers());
        let name = called.trim_start_matches(':');
        let (file, dcmd) = printers
            .dcmd(name)
            .ok_or_else(|| DcmdError::failed(format!("no file declares {called}")))?;
        let words = words(dcmd, args);
        match &dcmd.action {
            DcmdAction::Pipeline(pipeline) => cx.run_declared(pipeline, &words),
            action => table::Table::new(cx, file, dcmd, action)?.show(cx, &words),
        }
    }
}

/// The arguments: those that were given, then the defaults of the others.
fn words(dcmd: &DeclaredDcmd, args: &Args) -> Vec<String> {
    let given = args.operands().iter().map(|argument| match argument {
        Arg::Text(text) => text.clone(),
        Arg::Number(number) => format!("0x{number:x}"),
    });
    let others = dcmd.arguments.iter().skip(args.operands().len());
    given.chain(others.filter_map(|it| it.default.as_deref().map(str::to_owned))).collect()
}
