//! Runs whole programs, from start to end: their time, and the most memory that they had.

use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::sample::median;

/// A program that takes longer is not waited for.
const DEADLINE: Duration = Duration::from_secs(30);
/// A program that takes longer is run once.
const SLOW: Duration = Duration::from_secs(4);
/// Runs of one program take about this long together.
const BUDGET: Duration = Duration::from_secs(2);

/// What a program took.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Its median time.
    pub time: Duration,
    /// Its memory, where it is a program of its own.
    pub memory: Option<Memory>,
}

/// The most memory that a program had, in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Resident, mapped files included, as the kernel keeps it.
    pub resident: u64,
    /// Anonymous, as seen by looking at it many times while it ran.
    pub anonymous: u64,
}

/// Runs a program once with an eye on its memory, which also warms the caches, and then again
/// for its time.
pub fn measure(command: impl Fn() -> Result<Command, String>) -> Result<Measured, String> {
    let (first, memory) = watch(command()?)?;
    let time = if first > SLOW { first } else { median(runs(first), || run(command()?))? };
    Ok(Measured { time, memory: Some(memory) })
}

fn runs(first: Duration) -> usize {
    let fit = BUDGET.as_micros() / first.as_micros().max(1);
    usize::try_from(fit).unwrap_or(usize::MAX).clamp(3, 41) | 1
}

fn run(command: Command) -> Result<(), String> {
    let status = start(command)?.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("failed: {status}")) }
}

fn start(mut command: Command) -> Result<Child, String> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env_remove("DEBUGINFOD_URLS")
        .spawn();
    child.map_err(|error| format!("cannot be run: {error}"))
}

/// Looks at a program until it ends. To look disturbs it a little, so its time counts only where
/// it is long.
fn watch(command: Command) -> Result<(Duration, Memory), String> {
    let begin = Instant::now();
    let mut child = start(command)?;
    let mut most = Memory::default();
    loop {
        most.join(Memory::of(child.id()));
        let ended = child.try_wait().map_err(|error| error.to_string())?;
        match ended {
            Some(status) if status.success() => return Ok((begin.elapsed(), most)),
            Some(status) => return Err(format!("failed: {status}")),
            None if begin.elapsed() > DEADLINE => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("over {} s", DEADLINE.as_secs()));
            }
            None => std::thread::sleep(pause(begin.elapsed())),
        }
    }
}

/// Short programs are looked at often.
fn pause(elapsed: Duration) -> Duration {
    (elapsed / 200).clamp(Duration::from_micros(100), Duration::from_millis(5))
}

impl Memory {
    fn of(pid: u32) -> Self {
        let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Self { resident: field("VmHWM:").unwrap_or(0), anonymous: field("RssAnon:").unwrap_or(0) }
    }

    fn join(&mut self, other: Self) {
        self.resident = self.resident.max(other.resident);
        self.anonymous = self.anonymous.max(other.anonymous);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_seen() {
        let memory = Memory::of(std::process::id());
        assert!(memory.resident >= memory.anonymous && memory.anonymous > 100, "{memory:?}");
    }

    #[test]
    fn a_program_that_fails_is_no_time() {
        assert!(measure(|| Ok(Command::new("false"))).unwrap_err().starts_with("failed"));
        assert!(measure(|| Err("gone".to_owned())).unwrap_err() == "gone");
    }
}
