//! gdb's stacks, by a script that gdb runs.

use std::{
    io::Write,
    process::{Command, Stdio},
    sync::LazyLock,
};

use gen_cores::Case;
use tempfile::NamedTempFile;

use super::{PeerFrame, Stacks};

/// Prints `thread TID` and, for each physical frame, its pc and name.
const SCRIPT: &str = "\
import gdb

def show(frame):
    while frame is not None and frame.is_valid():
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            print('%#x %s' % (frame.pc(), frame.name() or ''))
        try:
            frame = frame.older()
        except gdb.error:
            break

for thread in gdb.selected_inferior().threads():
    thread.switch()
    print('thread %d' % (thread.ptid[1] or thread.ptid[0]))
    show(gdb.newest_frame())
";

/// The script as a file, written once: several gdbs read it at the same time.
static SCRIPT_FILE: LazyLock<NamedTempFile> = LazyLock::new(|| {
    let mut file = tempfile::Builder::new().suffix(".py").tempfile().expect("a temporary file");
    file.write_all(SCRIPT.as_bytes()).expect("room for a script");
    file
});

/// Asks gdb for all stacks of a core.
pub fn stacks(case: &Case) -> Stacks {
    let output = Command::new("gdb")
        .args(["-batch", "-nx", "-ex", "set debuginfod enabled off"])
        .args(["-ex", "set backtrace past-main on", "-ex", "set backtrace limit unlimited"])
        .arg("-ex")
        .arg(format!("file {}", case.exe.display()))
        .arg("-ex")
        .arg(format!("core-file {}", case.core.display()))
        .arg("-x")
        .arg(SCRIPT_FILE.path())
        .current_dir(&case.dir)
        .stdin(Stdio::null())
        .output()
        .expect("gdb runs");
    parse(&String::from_utf8_lossy(&output.stdout))
}

fn parse(text: &str) -> Stacks {
    let mut stacks = Stacks::new();
    let mut current = None;
    for line in text.lines() {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        if first == "thread" {
            current = rest.parse().ok();
            current.map(|tid| stacks.entry(tid).or_default());
        } else if let Some((tid, pc)) = current.zip(hexadecimal(first)) {
            let name = Some(rest.to_owned()).filter(|name| !name.is_empty());
            stacks.entry(tid).or_default().push(PeerFrame { pc, name });
        }
    }
    stacks
}

/// A number as `0x…`.
pub fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}
