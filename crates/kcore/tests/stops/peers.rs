//! What other debuggers say of the same stop: the caller of each thread's innermost frame.

use std::process::{Command, Stdio};

use crate::claim::{Claim, hex};

/// Frames that gdb shows of a thread: inlined calls and tail calls stand on the stack pointer of the innermost one.
const FRAMES: &str = "frame apply 16 -q printf \"frame %#lx %#lx\\n\", $pc, $sp";

/// What is asked about a process.
type Ask = fn(&str) -> Vec<Claim>;

/// Debuggers, by name, and how each is asked.
pub const PEERS: [(&str, Ask); 3] = [("gdb", gdb), ("lldb", lldb), ("eu-stack", eu_stack)];

/// What a peer is called by: one that takes longer than so many seconds tells nothing.
fn peer(name: &str) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "10", name]);
    command
}

/// What a program prints; nothing of one that is not there.
fn output(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default()
}

/// The first frame of each thread that lies above the innermost one.
fn gdb(pid: &str) -> Vec<Claim> {
    let mut gdb = peer("gdb");
    gdb.args(["-q", "-nx", "-batch", "-iex", "set debuginfod enabled off"]);
    let text = output(gdb.args(["-p", pid, "-ex", &format!("thread apply all {FRAMES}")]));
    let (mut claims, mut tid, mut inner) = (Vec::new(), None, None);
    for line in text.lines() {
        if let Some(named) = line.strip_prefix("Thread ").and_then(thread_of) {
            (tid, inner) = (Some(named), None);
        }
        let words = line.strip_prefix("frame ").and_then(|rest| rest.split_once(' '));
        let Some((pc, sp)) = words.and_then(|(pc, sp)| hex(pc).zip(hex(sp))) else { continue };
        match (tid, inner) {
            (Some(_), None) => inner = Some(sp),
            (Some(of), Some(below)) if sp > below => {
                claims.push(Claim { tid: of, pc, sp: Some(sp) });
                tid = None;
            }
            _ => {}
        }
    }
    claims
}

/// The thread of `1 (Thread 0x7f… (LWP 123) "name"):` or `1 (process 123):`.
fn thread_of(line: &str) -> Option<u64> {
    let rest = line.split_once("LWP ").or_else(|| line.split_once("process "))?.1;
    number_at_start(rest)
}

fn number_at_start(text: &str) -> Option<u64> {
    text.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// It tells pcs alone: `thread #1: tid = 123, …` of each thread, then, below `thread #1, …`, its frames.
fn lldb(pid: &str) -> Vec<Claim> {
    let mut lldb = peer("lldb");
    lldb.args(["--no-lldbinit", "-b", "-p", pid, "-o", "thread list"]);
    let text = output(lldb.args(["-o", "thread backtrace all -c 16"]));
    let (mut tids, mut claims, mut thread) = (Vec::new(), Vec::new(), None);
    let mut was_function = false;
    for line in text.lines().map(|line| line.trim_start_matches(['*', ' '])) {
        if let Some(rest) = line.strip_prefix("thread #") {
            thread = number_at_start(rest);
            was_function = false;
            let tid = rest.split_once("tid = ").and_then(|(_, rest)| number_at_start(rest));
            tids.extend(thread.zip(tid));
        }
        let Some(rest) = line.strip_prefix("frame #").filter(|it| !it.contains("[artificial]"))
        else {
            continue;
        };
        let pc = rest.split_once(": ").and_then(|(_, rest)| hex(rest.split(' ').next()?));
        let tid = tids.iter().find(|(number, _)| Some(*number) == thread).map(|(_, tid)| *tid);
        // An inlined call stands before the function that holds it.
        if was_function && let Some((tid, pc)) = tid.zip(pc) {
            claims.push(Claim { tid, pc, sp: None });
            thread = None;
        }
        was_function = !rest.contains("[inlined]");
    }
    claims
}

/// It tells pcs alone: `TID 123:`, and `#1  0x…` of its caller.
fn eu_stack(pid: &str) -> Vec<Claim> {
    let text = output(peer("eu-stack").args(["-n", "2", "-p", pid]));
    let (mut claims, mut tid) = (Vec::new(), None);
    for line in text.lines() {
        if let Some(named) = line.strip_prefix("TID ") {
            tid = named.trim_end_matches(':').parse().ok();
        }
        let frame = line.strip_prefix("#1 ").and_then(|rest| rest.split_whitespace().next());
        if let Some((pc, tid)) = frame.and_then(hex).zip(tid) {
            claims.push(Claim { tid, pc, sp: None });
        }
    }
    claims
}
