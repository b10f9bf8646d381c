//! The stacks of elfutils' `eu-stack`.

use std::process::{Command, Stdio};

use gen_cores::Case;

use super::{PeerFrame, Stacks, gdb::hexadecimal};

/// Frames of a stack that eu-stack is asked for: of a hundred thousand it takes minutes.
pub const MAX_FRAMES: usize = 400;

/// Asks eu-stack for all stacks of a core. Its exit status tells of ends that it does not like,
/// and is no matter.
pub fn stacks(case: &Case) -> Stacks {
    let output = Command::new("eu-stack")
        .args(["-n", &MAX_FRAMES.to_string(), "--core"])
        .arg(&case.core)
        .arg("-e")
        .arg(&case.exe)
        .env_remove("DEBUGINFOD_URLS")
        .stdin(Stdio::null())
        .output()
        .expect("eu-stack runs");
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// `TID n:` begins a stack, `#index pc name` is a frame.
fn parse(text: &str) -> Stacks {
    let mut stacks = Stacks::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(tid) = line.strip_prefix("TID ") {
            current = tid.trim_end_matches(':').parse().ok();
            current.map(|tid| stacks.entry(tid).or_default());
        } else if let Some((tid, frame)) = current.zip(frame(line)) {
            stacks.entry(tid).or_default().push(frame);
        }
    }
    stacks
}

fn frame(line: &str) -> Option<PeerFrame> {
    let (_, rest) = line.strip_prefix('#')?.split_once(' ')?;
    let (pc, name) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
    let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    Some(PeerFrame { pc: hexadecimal(pc)?, name })
}
