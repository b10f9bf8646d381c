//! What the user of the agent can choose, in the program or by environment variables.

use std::{
    env,
    ffi::OsString,
    path::{self, PathBuf},
    str::FromStr,
    time::Duration,
};

use crate::error::AgentError;

/// How the agent works. [`Settings::from_environment`] reads each from a variable, which [`Settings::default`]
/// does not look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The signal on which stacks are written to standard error, and by which threads are asked for theirs:
    /// a real-time signal that the program does not use. `KCORE_AGENT_SIGNAL`, 35.
    pub signal: i32,
    /// The signal that begins a profile, and ends it; `None` for no profiles. `KCORE_AGENT_PROFILE_SIGNAL`,
    /// 12 (SIGUSR2); 0 is none. It is one that comes only when somebody sends it: HUP, INT, QUIT, USR1, USR2, TERM,
    /// STKFLT, PWR, or another real-time signal.
    pub profile_signal: Option<i32>,
    /// Samples in a second of a thread that runs, 1 to 1000. `KCORE_AGENT_HZ`, 100.
    pub hertz: u32,
    /// How long a profile takes when nobody ends it. `KCORE_AGENT_SECONDS`, 30.
    pub profile_time: Duration,
    /// Whether another process takes the profile where the program runs a language, so that it has the functions of
    /// that. `KCORE_AGENT_LANGUAGES`, 1; 0 is no.
    pub languages: bool,
    /// Whether a process that may not be dumped is made one that may, as long as a profile with functions of languages
    /// is taken: whoever has its user's rights may trace it then. `KCORE_AGENT_DUMPABLE`, 0; 1 is yes.
    pub dumpable: bool,
    /// The folder that profiles are written to. `TMPDIR` as it is when this is read: a server may clear its
    /// environment later. `/tmp`.
    pub profile_folder: PathBuf,
    /// The file at whose end stacks are written, and what else the agent says; `None` is standard error, whatever that
    /// is then. `KCORE_AGENT_OUTPUT`.
    pub output: Option<PathBuf>,
    /// How long is waited for threads that do not answer. `KCORE_AGENT_TIMEOUT_MS`, 1000.
    pub timeout: Duration,
    /// How long a thread waits that asks for stacks itself: where the agent's own thread hangs, for a lock of the
    /// allocator for example, nobody else would ever tell it. `KCORE_AGENT_ANSWER_SECONDS`, 60.
    pub answer_time: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            signal: 35,
            profile_signal: Some(libc::SIGUSR2),
            hertz: 100,
            profile_time: Duration::from_secs(30),
            languages: true,
            dumpable: false,
            profile_folder: PathBuf::from("/tmp"),
            output: None,
            timeout: Duration::from_secs(1),
            answer_time: Duration::from_secs(60),
        }
    }
}

impl Settings {
    /// The defaults, and what environment variables say instead. One that is empty says nothing.
    ///
    /// # Errors
    /// When a variable has a value that it may not have.
    pub fn from_environment() -> Result<Self, AgentError> {
        Self::of(&|name| env::var_os(name))
    }

    fn of(given: &dyn Fn(&'static str) -> Option<OsString>) -> Result<Self, AgentError> {
        let given = &|name| given(name).filter(|value| !value.is_empty());
        let mut settings = Self::default();
        let variables = Variables(given);
        variables.set(&SIGNAL, &mut settings.signal)?;
        if let Some(profile) = variables.value(&PROFILE_SIGNAL)? {
            settings.profile_signal = (profile != 0).then_some(profile);
        }
        variables.set(&HERTZ, &mut settings.hertz)?;
        variables.set_time(&PROFILE_TIME, 1.0, &mut settings.profile_time)?;
        variables.set_switch(&LANGUAGES, &mut settings.languages)?;
        variables.set_switch(&DUMPABLE, &mut settings.dumpable)?;
        variables.set_time(&TIMEOUT, 0.001, &mut settings.timeout)?;
        variables.set_time(&ANSWER_TIME, 1.0, &mut settings.answer_time)?;
        if let Some(folder) = given("TMPDIR") {
            settings.profile_folder = PathBuf::from(folder);
        }
        settings.output = given("KCORE_AGENT_OUTPUT").map(PathBuf::from);
        settings.check()?;
        Ok(settings)
    }

    /// Checks that the agent can work so, and names folders from the root: a program may go to another one.
    ///
    /// # Errors
    /// With the setting that cannot be.
    pub(crate) fn check(&mut self) -> Result<(), AgentError> {
        SIGNAL.check(is_real_time(self.signal), self.signal)?;
        if let Some(signal) = self.profile_signal {
            PROFILE_SIGNAL.check(is_left_to_people(signal) && signal != self.signal, signal)?;
        }
        HERTZ.check((1..=1000).contains(&self.hertz), self.hertz)?;
        for (variable, time) in [
            (PROFILE_TIME, self.profile_time),
            (TIMEOUT, self.timeout),
            (ANSWER_TIME, self.answer_time),
        ] {
            variable.check(!time.is_zero() && time <= LONGEST, time.as_secs_f64())?;
        }
        for path in [Some(&mut self.profile_folder), self.output.as_mut()].into_iter().flatten() {
            *path = path::absolute(&*path).unwrap_or_else(|_| path.clone());
        }
        Ok(())
    }
}

/// The longest time that may be set: a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// A variable, and what it may be.
struct Variable {
    name: &'static str,
    wanted: &'static str,
}

const SIGNAL: Variable =
    Variable { name: "KCORE_AGENT_SIGNAL", wanted: "the number of a real-time signal, 34 to 64" };
const PROFILE_SIGNAL: Variable = Variable {
    name: "KCORE_AGENT_PROFILE_SIGNAL",
    wanted: "0, or the number of a signal that neither the system raises itself nor asks for stacks",
};
const HERTZ: Variable =
    Variable { name: "KCORE_AGENT_HZ", wanted: "a whole number from 1 to 1000" };
const LANGUAGES: Variable = Variable { name: "KCORE_AGENT_LANGUAGES", wanted: "0 or 1" };
const DUMPABLE: Variable = Variable { name: "KCORE_AGENT_DUMPABLE", wanted: "0 or 1" };
const PROFILE_TIME: Variable = Variable { name: "KCORE_AGENT_SECONDS", wanted: SECONDS };
const ANSWER_TIME: Variable = Variable { name: "KCORE_AGENT_ANSWER_SECONDS", wanted: SECONDS };
const SECONDS: &str = "a number of seconds above 0, a year at most";
const TIMEOUT: Variable = Variable {
    name: "KCORE_AGENT_TIMEOUT_MS",
    wanted: "a number of milliseconds above 0, a year at most",
};

impl Variable {
    fn check(&self, is_good: bool, value: impl ToString) -> Result<(), AgentError> {
        if is_good { Ok(()) } else { Err(self.wrong(value.to_string())) }
    }

    fn wrong(&self, value: String) -> AgentError {
        AgentError::Setting { name: self.name, value, wanted: self.wanted }
    }
}

/// What environment variables say.
struct Variables<'a>(&'a dyn Fn(&'static str) -> Option<OsString>);

impl Variables<'_> {
    fn value<T: FromStr>(&self, variable: &Variable) -> Result<Option<T>, AgentError> {
        let Some(given) = (self.0)(variable.name) else { return Ok(None) };
        let given = given.to_string_lossy();
        let wrong = |_| variable.wrong(given.escape_debug().to_string());
        given.trim().parse().map(Some).map_err(wrong)
    }

    /// Puts the value of a variable in its place, if it has one.
    fn set<T: FromStr + Copy>(&self, variable: &Variable, to: &mut T) -> Result<(), AgentError> {
        self.value(variable).map(|value| *to = value.unwrap_or(*to))
    }

    /// The same for what is (1) or is not (0).
    fn set_switch(&self, variable: &Variable, to: &mut bool) -> Result<(), AgentError> {
        match self.value::<u32>(variable)? {
            None => {}
            Some(value @ (0 | 1)) => *to = value == 1,
            Some(value) => return Err(variable.wrong(value.to_string())),
        }
        Ok(())
    }

    /// The same for a time, of which `unit` is one in seconds.
    fn set_time(
        &self,
        variable: &Variable,
        unit: f64,
        to: &mut Duration,
    ) -> Result<(), AgentError> {
        let Some(units) = self.value::<f64>(variable)? else { return Ok(()) };
        let time = Duration::try_from_secs_f64(units * unit);
        *to = time.map_err(|_| variable.wrong(units.to_string()))?;
        Ok(())
    }
}

/// Whether it is one of those that are queued, and that the C library leaves to programs.
fn is_real_time(signal: i32) -> bool {
    (34..=64).contains(&signal)
}

/// Whether it is one that a program may handle, and that comes only when somebody sends it: not one that a fault
/// raises, an end of a child, a timer, a terminal or a limit.
fn is_left_to_people(signal: i32) -> bool {
    const SENT: [i32; 8] = [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGTERM,
        libc::SIGSTKFLT,
        libc::SIGPWR,
    ];
    SENT.contains(&signal) || is_real_time(signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &'static str, value: &'static str) -> Result<Settings, AgentError> {
        Settings::of(&|asked| (asked == name).then(|| OsString::from(value)))
    }

    #[test]
    fn variables_say_what_is_not_the_default() {
        let given = |name: &str| match name {
            "KCORE_AGENT_SIGNAL" => Some("40 ".into()),
            "KCORE_AGENT_PROFILE_SIGNAL" => Some("0".into()),
            "KCORE_AGENT_HZ" => Some("50".into()),
            "KCORE_AGENT_SECONDS" => Some("0.5".into()),
            "KCORE_AGENT_LANGUAGES" => Some("0".into()),
            "KCORE_AGENT_DUMPABLE" => Some("1".into()),
            "KCORE_AGENT_TIMEOUT_MS" => Some("20".into()),
            "KCORE_AGENT_ANSWER_SECONDS" => Some("7".into()),
            "KCORE_AGENT_OUTPUT" => Some("/var/log/stacks".into()),
            _ => None,
        };
        let settings = Settings {
            signal: 40,
            profile_signal: None,
            hertz: 50,
            profile_time: Duration::from_millis(500),
            languages: false,
            dumpable: true,
            profile_folder: PathBuf::from("/tmp"),
            output: Some(PathBuf::from("/var/log/stacks")),
            timeout: Duration::from_millis(20),
            answer_time: Duration::from_secs(7),
        };
        assert_eq!(Settings::of(&given).unwrap(), settings);
        assert_eq!(Settings::of(&|_| None).unwrap(), Settings::default());
    }

    #[test]
    fn a_value_that_cannot_be_is_refused_by_its_name() {
        for (name, value) in [
            ("KCORE_AGENT_SIGNAL", "SIGRTMIN+6"),
            ("KCORE_AGENT_SIGNAL", "10"),
            ("KCORE_AGENT_SIGNAL", "65"),
            ("KCORE_AGENT_PROFILE_SIGNAL", "USR1"),
            ("KCORE_AGENT_PROFILE_SIGNAL", "35"),
            ("KCORE_AGENT_PROFILE_SIGNAL", "9"),
            ("KCORE_AGENT_PROFILE_SIGNAL", "11"),
            ("KCORE_AGENT_PROFILE_SIGNAL", "17"),
            ("KCORE_AGENT_PROFILE_SIGNAL", "33"),
            ("KCORE_AGENT_HZ", "0"),
            ("KCORE_AGENT_HZ", "1001"),
            ("KCORE_AGENT_HZ", "99.5"),
            ("KCORE_AGENT_SECONDS", "0"),
            ("KCORE_AGENT_SECONDS", "-1"),
            ("KCORE_AGENT_SECONDS", "NaN"),
            ("KCORE_AGENT_SECONDS", "1e300"),
            ("KCORE_AGENT_LANGUAGES", "2"),
            ("KCORE_AGENT_DUMPABLE", "yes"),
            ("KCORE_AGENT_TIMEOUT_MS", "1s"),
            ("KCORE_AGENT_ANSWER_SECONDS", "inf"),
        ] {
            let error = of(name, value).map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|it| it.contains(name)), "{name} {value}: {error:?}");
        }
        assert_eq!(of("KCORE_AGENT_PROFILE_SIGNAL", "10").unwrap().profile_signal, Some(10));
    }

    #[test]
    fn a_folder_is_named_from_the_root() {
        assert_eq!(of("TMPDIR", "").unwrap().profile_folder, PathBuf::from("/tmp"));
        let here = env::current_dir().unwrap();
        assert_eq!(of("TMPDIR", "sub").unwrap().profile_folder, here.join("sub"));
    }
}
