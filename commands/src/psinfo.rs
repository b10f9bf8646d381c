//! `::psinfo` — the process as the kernel described it when it wrote the core.

use kcore::{Core, ProcessInfo};
use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

const AT_EUID: u64 = 12;
const AT_EGID: u64 = 14;
const AT_SECURE: u64 = 23;

const OPTIONS: &[Opt] =
    &[Opt { flag: 'v', value: None, help: "also show effective ids, flags and the executable" }];

const EXAMPLES: &[Example] = &[
    Example { line: "::psinfo", shows: "ids, state and arguments of the process" },
    Example { line: "::psinfo -v", shows: "everything that the core holds about it" },
];

const VIEW: &str = "\
pid    = {pid}
ppid   = {ppid}
pgrp   = {pgrp}
sid    = {sid}
uid    = {uid}
gid    = {gid}
state  = {state}{state^unknown}{state_text? ({state_text})}
nice   = {nice}
fname  = {fname}
psargs = {psargs}{verbose?
zombie = {zombie_word}
flags  = {flags:#x}
euid   = {euid}{euid^unknown}
egid   = {egid}{egid^unknown}
secure = {secure_word}
exe    = {executable}{executable^unknown}}";

/// Shows the kernel's note about the process.
pub struct Psinfo;

impl Dcmd for Psinfo {
    fn spec(&self) -> Spec {
        Spec::new("psinfo", Group::Process, "print ids, state and arguments of the process")
            .options(OPTIONS)
            .help(
                "Ids are decimal. They are the ids that the process which wrote the core saw. \
                 The kernel cuts fname at 16 bytes and psargs at 80; ::args shows the arguments \
                 whole. The state is the one in which the kernel found the process: a process \
                 that dies is running.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        cx.current_thread()?;
        let core = cx.core();
        let info = core
            .process()
            .info()
            .ok_or_else(|| DcmdError::failed("the core holds no process information"))?;
        cx.emit(&PsinfoRecord { core, info, verbose: args.has('v') })
    }
}

struct PsinfoRecord<'c> {
    core: &'c Core,
    info: &'c ProcessInfo,
    verbose: bool,
}

impl PsinfoRecord<'_> {
    fn secure(&self) -> Option<bool> {
        self.core.process().aux(AT_SECURE).map(|value| value != 0)
    }
}

impl Record for PsinfoRecord<'_> {
    fn kind(&self) -> &'static str {
        "psinfo"
    }

    fn view(&self) -> View {
        View::Line(VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let info = self.info;
        let text = |bytes: &'a [u8]| String::from_utf8_lossy(bytes);
        let executable = self.core.modules().exe().map(|exe| exe.path());
        out.num("pid", u64::from(info.pid))
            .num("ppid", u64::from(info.parent))
            .num("pgrp", u64::from(info.group))
            .num("sid", u64::from(info.session))
            .num("uid", u64::from(info.uid))
            .num("gid", u64::from(info.gid))
            .opt_text("state", info.state.map(|letter| letter.to_string()))
            .opt_text("state_text", info.state.and_then(state_text))
            .put("nice", Cell::Int(i64::from(info.nice)))
            .text("fname", text(&info.name))
            .text("psargs", text(&info.args))
            .flag("zombie", info.zombie)
            .hex("flags", info.flags)
            .num("euid", self.core.process().aux(AT_EUID))
            .num("egid", self.core.process().aux(AT_EGID))
            .put("secure", Cell::or_null(self.secure(), Cell::Bool))
            .opt_text("executable", executable.filter(|path| !path.is_empty()))
            .display("verbose", Cell::Bool(self.verbose))
            .display("zombie_word", Cell::text(word(Some(info.zombie))))
            .display("secure_word", Cell::text(word(self.secure())));
    }
}

const fn word(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

/// What the letter of a state means (Linux `fs/binfmt_elf.c`, `fill_psinfo`).
const fn state_text(letter: char) -> Option<&'static str> {
    Some(match letter {
        'R' => "running",
        'S' => "sleeping",
        'D' => "in an uninterruptible sleep",
        'T' => "stopped",
        'Z' => "zombie",
        'W' => "paging",
        _ => return None,
    })
}
