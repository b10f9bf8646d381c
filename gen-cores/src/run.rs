//! Starts a scenario's program in a clean environment and waits for it.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::error::AtPath;
use crate::{Error, Language, Result, Scenario, Variant, java};

/// The longest that a program may take to die, with a core of a thousand threads on a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// How long a program may take from the last word of its account to where it waits.
const SETTLING: Duration = Duration::from_millis(200);

/// The account of the program, in the case's folder.
pub(crate) const ACCOUNT: &str = "account.jsonl";

/// What the program printed, in the case's folder.
const OUTPUT: &str = "output.txt";

/// A run of a program in a case's folder.
pub(crate) struct Run<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The variant.
    pub variant: &'a Variant,
    /// Name of the case, for messages.
    pub case: String,
    /// The folder, current while the program runs.
    pub dir: &'a Path,
}

impl Run<'_> {
    /// An error of this run.
    pub(crate) fn error(&self, reason: impl Into<String>) -> Error {
        Error::Run { case: self.case.clone(), reason: reason.into() }
    }

    /// The words of the program and its arguments; of a runtime, its flags and the script first.
    pub(crate) fn program(&self) -> Vec<String> {
        let python = self.variant.python;
        let mut words: Vec<String> =
            python.and_then(|python| python.environment()).map(str::to_owned).into_iter().collect();
        words.extend(self.variant.ruby.into_iter().flat_map(|ruby| ruby.environment()));
        words.extend(self.variant.lua.map(|lua| lua.environment().to_owned()));
        words.extend(self.variant.perl.map(|perl| perl.environment().to_owned()));
        words.extend(self.variant.php.map(|php| php.environment().to_owned()));
        let node = self.variant.node.map(|release| release.environment()).unwrap_or_default();
        words.extend(node.iter().map(|variable| (*variable).to_owned()));
        let erlang = self.variant.erlang;
        words.extend(erlang.map(|erlang| erlang.environment(self.dir)).unwrap_or_default());
        words.push(format!("./{}", self.scenario.name));
        if let Some(erlang) = erlang {
            words.extend(erlang.words(self.dir));
            return words;
        }
        let ruby = self.variant.ruby.map(|ruby| ruby.flags).unwrap_or_default();
        words.extend(ruby.iter().map(|flag| (*flag).to_owned()));
        let perl = self.variant.perl.map(|perl| perl.flags()).unwrap_or_default();
        words.extend(perl.iter().map(|flag| (*flag).to_owned()));
        let php = self.variant.php.map(|php| php.flags).unwrap_or_default();
        words.extend(php.iter().map(|flag| (*flag).to_owned()));
        if self.scenario.recipe.language == Language::Java {
            words.extend(java::words(self.scenario, self.variant));
        } else if !self.scenario.recipe.language.is_compiled() {
            let flags = &self.scenario.recipe.flags;
            let node = self.variant.node.map(|release| release.words(flags));
            words.extend(node.unwrap_or_else(|| flags.clone()));
            let when = self.scenario.recipe.when_for(self.variant);
            words.extend(when.flat_map(|when| when.flags.iter().cloned()));
            words.extend(self.scenario.source().file_name().map(|name| name.display().to_string()));
        }
        words.extend(self.scenario.recipe.args.iter().cloned());
        words
    }

    /// Starts `words` by way of a shell, which sets the limits, and env(1), which leaves nothing of
    /// this process's environment and no signal ignored, as shells leave SIGQUIT to what they run in
    /// the background; both become the program, so the child's pid is the program's.
    pub(crate) fn spawn(&self, words: &[String]) -> Result<Child> {
        let stack = self.scenario.recipe.stack_kib.unwrap_or(8192);
        let filter = self.scenario.recipe.coredump_filter.as_deref();
        let filter = filter.map(|filter| format!("echo {filter} >/proc/self/coredump_filter && "));
        let script = format!(
            "ulimit -S -c \"$(ulimit -H -c)\" && ulimit -S -s {stack} && {}\
             exec env --default-signal -i \"$@\"",
            filter.unwrap_or_default()
        );
        let output = self.dir.join(OUTPUT);
        let file = File::create(&output).at(&output)?;
        Command::new("sh")
            .args(["-c", &script, "sh", "PATH=/usr/bin:/bin", "LANG=C"])
            .arg(format!("KCORE_TRUTH={ACCOUNT}"))
            .arg(format!("KCORE_SCENARIO={}", self.scenario.name))
            .args(words)
            .current_dir(self.dir)
            .stdin(Stdio::null())
            .stdout(file.try_clone().at(&output)?)
            .stderr(file)
            .spawn()
            .at(self.dir)
    }

    /// Waits for the child's end, kills it at the deadline.
    pub(crate) fn wait(&self, child: &mut Child) -> Result<ExitStatus> {
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().at(self.dir)? {
                return Ok(status);
            }
            if start.elapsed() > DEADLINE {
                child.kill().at(self.dir)?;
                child.wait().at(self.dir)?;
                return Err(self.error(format!("still alive after {} s", DEADLINE.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(4));
        }
    }

    /// Waits until the account of a program that does not die is complete, and the program waits
    /// where the account says.
    pub(crate) fn wait_ready(&self, child: &mut Child) -> Result<()> {
        let path = self.dir.join(ACCOUNT);
        let start = Instant::now();
        while !Account::is_complete(&path) {
            if let Some(status) = child.try_wait().at(self.dir)? {
                return Err(self.error(format!("died before it was ready: {status}")));
            }
            if start.elapsed() > DEADLINE {
                child.kill().at(self.dir)?;
                return Err(self.error("did not become ready"));
            }
            std::thread::sleep(Duration::from_millis(4));
        }
        self.settle(child);
        Ok(())
    }

    /// Gives the thread that wrote the account the time to return from that write: a program of a
    /// runtime all of it, as its threads sleep at times that mean nothing; another one until two
    /// looks find each thread asleep, or all of it where a thread never sleeps.
    fn settle(&self, child: &Child) {
        let is_compiled = self.scenario.recipe.language.is_compiled();
        let start = Instant::now();
        let mut looks_asleep = 0;
        while start.elapsed() < SETTLING && !(is_compiled && looks_asleep >= 2) {
            std::thread::sleep(Duration::from_millis(4));
            looks_asleep = if all_sleep(child.id()) { looks_asleep + 1 } else { 0 };
        }
    }

    /// The end of what the program printed.
    pub(crate) fn output(&self) -> String {
        let text = std::fs::read(self.dir.join(OUTPUT)).unwrap_or_default();
        crate::command::tail(&String::from_utf8_lossy(&text))
    }
}

/// Whether the kernel says of each thread of a process that it sleeps, by the state behind the name
/// in `/proc/PID/task/TID/stat`, which proc_pid_stat(5) describes.
fn all_sleep(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().all(|thread| {
        let stat = std::fs::read(thread.path().join("stat")).unwrap_or_default();
        let behind_name = stat.rsplit(|byte| *byte == b')').next().unwrap_or_default();
        behind_name.starts_with(b" S")
    })
}

/// The name of the signal that ended a process.
pub(crate) fn death(status: ExitStatus) -> Option<&'static str> {
    signal_name(status.signal()?)
}

/// The name of a signal that programs die of.
pub(crate) fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        11 => "SIGSEGV",
        _ => return None,
    })
}
