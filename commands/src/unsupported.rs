//! The dcmds of MDB for a running process. On a core, each one answers the same line.

use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, DcmdError, Group, Result, Spec};

/// A dcmd that no core can run.
pub struct Unsupported {
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
}

const HELP: &str = "\
This dcmd needs a running process, or a target that is open for writing. On a core it answers \
`command is not supported by current target`, whatever its address and arguments are. A snapshot \
of a live process is such a core, because the process itself runs on.";

const fn dcmd(
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
) -> Unsupported {
    Unsupported { name, aliases, summary }
}

/// `::attach`, `:A`.
pub const ATTACH: Unsupported = dcmd("attach", &[":A"], "attach to a process or core");
/// `::bp`, `:b`.
pub const BP: Unsupported = dcmd("bp", &[":b"], "set a breakpoint");
/// `::cont`, `:c`.
pub const CONT: Unsupported = dcmd("cont", &[":c"], "continue the process");
/// `$p`.
pub const CONTEXT: Unsupported = dcmd("$p", &[], "change the process context");
/// `::delete`, `:d`, `:z`.
pub const DELETE: Unsupported = dcmd("delete", &[":d", ":z"], "delete events");
/// `::events`, `$b`.
pub const EVENTS: Unsupported = dcmd("events", &["$b"], "list events");
/// `::evset`.
pub const EVSET: Unsupported = dcmd("evset", &[], "set properties of events");
/// `::fltbp`.
pub const FLTBP: Unsupported = dcmd("fltbp", &[], "stop on machine faults");
/// `::gcore`.
pub const GCORE: Unsupported = dcmd("gcore", &[], "make a core of the process");
/// `$i`.
pub const IGNORED: Unsupported = dcmd("$i", &[], "list ignored signals");
/// `:i`.
pub const IGNORE: Unsupported = dcmd(":i", &[], "ignore a signal");
/// `::kill`, `:k`.
pub const KILL: Unsupported = dcmd("kill", &[":k"], "kill the process");
/// `::next`, `:e`.
pub const NEXT: Unsupported = dcmd("next", &[":e"], "step over the next instruction");
/// `::release`, `:R`.
pub const RELEASE: Unsupported = dcmd("release", &[":R"], "release the process or core");
/// `$W`.
pub const REOPEN: Unsupported = dcmd("$W", &[], "reopen the target for writing");
/// `::run`, `:r`.
pub const RUN: Unsupported = dcmd("run", &[":r"], "run a new process");
/// `::setenv`.
pub const SETENV: Unsupported = dcmd("setenv", &[], "set a variable of the environment for ::run");
/// `::sigbp`, `:t`.
pub const SIGBP: Unsupported = dcmd("sigbp", &[":t"], "stop on signals");
/// `::step`, `:s`, `:S`, `:u`.
pub const STEP: Unsupported = dcmd("step", &[":s", ":S", ":u"], "step by an instruction");
/// `::sysbp`.
pub const SYSBP: Unsupported = dcmd("sysbp", &[], "stop on system calls");
/// `::unsetenv`.
pub const UNSETENV: Unsupported =
    dcmd("unsetenv", &[], "unset variables of the environment for ::run");
/// `::vtop`.
pub const VTOP: Unsupported = dcmd("vtop", &[], "translate to a physical address");
/// `::wp`, `:a`, `:p`, `:w`.
pub const WP: Unsupported = dcmd("wp", &[":a", ":p", ":w"], "set a watchpoint");
/// `::write`.
pub const WRITE: Unsupported = dcmd("write", &[], "write to memory");

impl Dcmd for Unsupported {
    fn spec(&self) -> Spec {
        Spec::new(self.name, Group::Unsupported, self.summary)
            .aliases(self.aliases)
            .addr(AddrUse::Optional)
            .operands("[...]", 0, usize::MAX)
            .takes_anything()
            .help(HELP)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let is_snapshot = cx.core().snapshot().facts().is_some();
        Err(DcmdError::failed(match (self.name, cx.core().process().pid()) {
            ("gcore", Some(pid)) if is_snapshot => {
                format!(
                    "a snapshot is not the process: kcore save {pid} -o FILE writes a core of it"
                )
            }
            _ => "command is not supported by current target".to_owned(),
        }))
    }
}
