//! `::version` — the version of the debugger.

use kcore_dcmd::{Args, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View};

const EXAMPLES: &[Example] =
    &[Example { line: "::version", shows: "name and version in one line" }];

/// Shows the version.
pub struct Version;

impl Dcmd for Version {
    fn spec(&self) -> Spec {
        Spec::new("version", Group::Language, "show the version of the debugger")
            .help("Please include it when you report a bug in kcore.")
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        cx.emit(&VersionRecord)
    }
}

struct VersionRecord;

impl Record for VersionRecord {
    fn kind(&self) -> &'static str {
        "version"
    }

    fn view(&self) -> View {
        View::Line("kcore {version}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("version", env!("CARGO_PKG_VERSION"));
    }
}
