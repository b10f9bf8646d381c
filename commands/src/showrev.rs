//! `::showrev` — the system that the process ran on, and the versions of its objects.

use kcore::{Core, Module};
use kcore_dcmd::{Args, Column, Cx, Dcmd, Example, Fields, Group, Opt, Record, Result, Spec, View};

const OPTIONS: &[Opt] = &[
    Opt { flag: 'p', value: None, help: "also show the build-id of each object" },
    Opt { flag: 'v', value: None, help: "the same as -p" },
];

const EXAMPLES: &[Example] = &[
    Example { line: "::showrev", shows: "kernel and architecture" },
    Example { line: "::showrev -v", shows: "which build of each object was loaded" },
];

/// Shows what the core holds about the system.
pub struct Showrev;

impl Dcmd for Showrev {
    fn spec(&self) -> Spec {
        Spec::new("showrev", Group::Process, "print the versions of kernel and objects")
            .options(OPTIONS)
            .help(
                "The version of the kernel is that of its vdso. A Linux core holds no host name \
                 and no release of the distribution.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        if args.has('p') || args.has('v') {
            return core.modules().all().iter().try_for_each(|module| cx.emit(&Version(module)));
        }
        cx.emit(&System(core))
    }
}

/// The system.
struct System<'c>(&'c Core);

const SYSTEM: &str = "\
Hostname: unknown
Release: unknown
Kernel architecture: {platform}{platform^unknown}
Application architecture: {arch}
Kernel version: Linux {kernel}{kernel^unknown}
Platform: {platform}{platform^unknown}";

impl Record for System<'_> {
    fn kind(&self) -> &'static str {
        "system"
    }

    fn view(&self) -> View {
        View::Line(SYSTEM)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("arch", self.0.arch().to_string())
            .opt_text("kernel", self.0.process().kernel_version())
            .opt_text("platform", self.0.process().platform());
    }
}

/// The build of an object.
struct Version<'m>(&'m Module);

const COLUMNS: &[Column] =
    &[Column::left("name", "NAME", 28), Column::left("version_or_unknown", "VERSION", 40)];

impl Record for Version<'_> {
    fn kind(&self) -> &'static str {
        "object_version"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let version = self.0.build_id().map(ToString::to_string);
        let shown = version.clone().unwrap_or_else(|| "Unknown".to_owned());
        out.text("name", self.0.name())
            .opt_text("build_id", version)
            .display("version_or_unknown", kcore_dcmd::Cell::text(shown));
    }
}
