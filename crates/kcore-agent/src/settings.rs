//! What the user of the agent can choose, in the program or by environment variables.

use std::{env, path::PathBuf, time::Duration};

/// How the agent works. [`Settings::from_environment`] reads each from a variable, which [`Settings::default`]
/// does not look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The signal on which stacks are written to standard error, and by which threads are asked for theirs:
    /// a real-time signal that the program does not use. `KCORE_AGENT_SIGNAL`, 35.
    pub signal: i32,
    /// The signal that begins a profile, and ends it; `None` for no profiles. `KCORE_AGENT_PROFILE_SIGNAL`,
    /// 12 (SIGUSR2); 0 is none.
    pub profile_signal: Option<i32>,
    /// Samples in a second of a thread that runs, 1 to 1000. `KCORE_AGENT_HZ`, 100.
    pub hertz: u32,
    /// How long a profile takes when nobody ends it. `KCORE_AGENT_SECONDS`, 30.
    pub profile_time: Duration,
    /// The folder that profiles are written to. `TMPDIR` as it is when this is read: a server may clear its
    /// environment later. `/tmp`.
    pub profile_folder: PathBuf,
    /// How long is waited for threads that do not answer. `KCORE_AGENT_TIMEOUT_MS`, 1000.
    pub timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            signal: 35,
            profile_signal: Some(libc::SIGUSR2),
            hertz: 100,
            profile_time: Duration::from_secs(30),
            profile_folder: PathBuf::from("/tmp"),
            timeout: Duration::from_secs(1),
        }
    }
}

impl Settings {
    /// The defaults, and what environment variables say instead. What is none of the values that a variable
    /// may have is left out.
    pub fn from_environment() -> Self {
        let folder = env::temp_dir();
        let number = |name: &str| env::var(name).ok()?.parse().ok();
        Self { profile_folder: folder, ..Self::of(&number) }
    }

    fn of(number: &dyn Fn(&str) -> Option<u32>) -> Self {
        let default = Self::default();
        let signal = |name| number(name).and_then(|signal| i32::try_from(signal).ok());
        let seconds = number("KCORE_AGENT_SECONDS").filter(|seconds| *seconds > 0);
        let timeout = number("KCORE_AGENT_TIMEOUT_MS").filter(|millis| *millis > 0);
        let stacks = signal("KCORE_AGENT_SIGNAL").filter(is_real_time).unwrap_or(default.signal);
        Self {
            signal: stacks,
            profile_signal: match signal("KCORE_AGENT_PROFILE_SIGNAL") {
                Some(0) => None,
                given => given
                    .filter(|signal| is_signal(signal) && *signal != stacks)
                    .or(default.profile_signal),
            },
            hertz: number("KCORE_AGENT_HZ")
                .filter(|hertz| (1..=1000).contains(hertz))
                .unwrap_or(default.hertz),
            profile_time: seconds
                .map_or(default.profile_time, |seconds| Duration::from_secs(seconds.into())),
            profile_folder: default.profile_folder,
            timeout: timeout.map_or(default.timeout, |millis| Duration::from_millis(millis.into())),
        }
    }
}

/// Whether it is one of those that are queued, and that the C library leaves to programs.
pub fn is_real_time(signal: &i32) -> bool {
    (34..=64).contains(signal)
}

/// Whether it is one that a program may handle, and that nothing else sends: not what the system says of faults and of
/// children.
fn is_signal(signal: &i32) -> bool {
    use libc::{
        SIGABRT, SIGBUS, SIGCHLD, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSTOP, SIGSYS, SIGTRAP,
    };
    const OTHERS: [i32; 12] = [
        SIGABRT, SIGBUS, SIGCHLD, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSTOP, SIGSYS, SIGTRAP, 32,
        33,
    ];
    (1..=64).contains(signal) && !OTHERS.contains(signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_say_what_is_not_the_default() {
        let given = |name: &str| match name {
            "KCORE_AGENT_SIGNAL" => Some(40),
            "KCORE_AGENT_PROFILE_SIGNAL" => Some(0),
            "KCORE_AGENT_HZ" => Some(50),
            "KCORE_AGENT_SECONDS" => Some(3),
            "KCORE_AGENT_TIMEOUT_MS" => Some(20),
            _ => None,
        };
        let settings = Settings {
            signal: 40,
            profile_signal: None,
            hertz: 50,
            profile_time: Duration::from_secs(3),
            profile_folder: PathBuf::from("/tmp"),
            timeout: Duration::from_millis(20),
        };
        assert_eq!(Settings::of(&given), settings);
    }

    #[test]
    fn a_signal_that_says_something_else_asks_for_no_profile() {
        for signal in [libc::SIGSEGV, libc::SIGCHLD, libc::SIGKILL, 33, 65, 35] {
            let given = signal.unsigned_abs();
            let settings = Settings::of(&|name| name.contains("PROFILE").then_some(given));
            assert_eq!(settings.profile_signal, Some(libc::SIGUSR2), "{signal}");
        }
    }

    #[test]
    fn values_that_cannot_be_are_left_out() {
        let settings = Settings::of(&|_| Some(0));
        assert_eq!(settings, Settings { profile_signal: None, ..Settings::default() });
        let settings = Settings::of(&|_| Some(9));
        assert_eq!((settings.signal, settings.profile_signal), (35, Some(libc::SIGUSR2)));
    }
}
