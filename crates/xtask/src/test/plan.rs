//! What a run of the tests will install, download and write, shown before any of it happens.

use std::{fmt, fs, path::PathBuf, thread};

use anyhow::Result;
use gen_cores::{Download, Tool};

use super::{Options, packages};
use crate::cargo;

/// Gigabytes of the target folder after a run with the few versions, and with all: generous sums of 80 test programs of
/// 90 MB, what they are built from (4 GB), the cores of compiled programs (2 GB), and those of runtimes.
const DISK: (u64, u64) = (25, 40);
/// Minutes that a run takes on two processors once everything is built, made and downloaded: for the few versions 9 and a
/// half were measured, of 22 on a clean checkout; those for all are an estimate.
const MINUTES: (u64, u64) = (10, 30);

/// What will happen.
pub struct Plan {
    options: Options,
    missing: Vec<Tool>,
    downloads: Vec<Download>,
    /// Gigabytes that are free on the disk of the target folder, if that is known.
    free: Option<u64>,
    processors: usize,
    /// How long the last run of this kind took.
    last: Option<String>,
}

impl Plan {
    /// Looks at what is there.
    ///
    /// # Errors
    /// A recipe of gen-cores cannot be read.
    pub fn new(options: Options) -> Result<Self> {
        Ok(Self {
            options,
            missing: packages::missing(options.all),
            downloads: gen_cores::downloads(!options.all)?,
            free: free(),
            processors: thread::available_parallelism().map_or(1, usize::from),
            last: fs::read_to_string(kept_time(options)).ok(),
        })
    }

    /// Keeps how long the run took, for the plan of the next one.
    pub fn keep_time(&self, time: &str) {
        // Without it the next plan has the usual time.
        let _ = fs::write(kept_time(self.options), time);
    }

    /// The tools that are missing.
    pub fn missing(&self) -> &[Tool] {
        &self.missing
    }

    fn installs(&self) -> String {
        let names = packages::names(&self.missing).join(" ");
        match (self.missing.is_empty(), self.options.no_install) {
            (true, _) => "nothing, all tools are there".to_owned(),
            (false, false) => format!("by apt-get: {names}"),
            (false, true) => format!("nothing (--no-install); tests without these skip: {names}"),
        }
    }

    fn fetches(&self) -> String {
        let names: Vec<&str> =
            self.downloads.iter().map(|download| download.name.as_str()).collect();
        let names = names.join(", ");
        match (self.downloads.is_empty(), self.options.no_install) {
            (true, _) => "nothing, all runtimes are there".to_owned(),
            (false, false) => {
                let (fetched, kept) = (self.sum(|it| it.megabytes), self.sum(|it| it.on_disk));
                format!("up to {fetched} MB, {kept} MB on disk: {names}")
            }
            (false, true) => format!("nothing (--no-install); tests without these skip: {names}"),
        }
    }

    fn disk(&self) -> String {
        let used = self.choose(DISK);
        match self.free {
            Some(free) if free < used => {
                format!("up to {used} GB below target/; {free} GB are free, which may be too few")
            }
            Some(free) => format!("up to {used} GB below target/; {free} GB are free"),
            None => format!("up to {used} GB below target/"),
        }
    }

    fn time(&self) -> String {
        if let Some(last) = &self.last {
            return format!("the last such run took {last}");
        }
        format!(
            "about {} minutes on 2 idle processors, and the first time those for building and downloading; \
             this machine has {}",
            self.choose(MINUTES),
            self.processors
        )
    }

    fn sum(&self, megabytes: fn(&Download) -> u32) -> u32 {
        self.downloads.iter().map(megabytes).sum()
    }

    /// The first of two for the few versions, the second for all.
    const fn choose(&self, (few, all): (u64, u64)) -> u64 {
        if self.options.all { all } else { few }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions = match self.options.all {
            true => "all that kcore decodes",
            false => "the oldest, the newest and some between (--all: all)",
        };
        write!(f, "test: the plan")?;
        for (title, text) in [
            ("versions:", versions.to_owned()),
            ("installs:", self.installs()),
            ("downloads:", self.fetches()),
            ("disk:", self.disk()),
            ("time:", self.time()),
        ] {
            write!(f, "\n  {title:10} {}", wrapped(&text))?;
        }
        Ok(())
    }
}

/// Text in lines of a readable width, set in below a title.
fn wrapped(text: &str) -> String {
    /// Columns of a line.
    const WIDTH: usize = 100;
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        if width > 0 {
            let fits = width + word.len() < WIDTH;
            lines.push_str(if fits { " " } else { "\n             " });
            width = if fits { width + 1 } else { 0 };
        }
        lines.push_str(word);
        width += word.len();
    }
    lines
}

/// Where the time of the last run of a kind is kept.
fn kept_time(options: Options) -> PathBuf {
    let kind = if options.all { "all" } else { "few" };
    gen_cores::workspace_dir().join(format!("target/test-time-{kind}.txt"))
}

/// Gigabytes that are free where the target folder is.
fn free() -> Option<u64> {
    let mut df = cargo::command("df", &["--output=avail", "-BG", "."]);
    let shown = cargo::output(&mut df).ok()?;
    shown.lines().last()?.trim().trim_end_matches('G').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(options: Options) -> Plan {
        let node = |version: &str| Download {
            name: format!("Node.js {version}"),
            megabytes: 40,
            on_disk: 100,
        };
        Plan {
            options,
            missing: vec![Tool { command: "eu-stack", package: "elfutils" }],
            downloads: vec![node("16.20.2"), node("24.21.0")],
            free: Some(7),
            processors: 2,
            last: None,
        }
    }

    #[test]
    fn it_names_what_is_installed_and_downloaded() {
        let text = plan(Options::default()).to_string();
        for line in [
            "  installs:  by apt-get: elfutils\n",
            "  downloads: up to 80 MB, 200 MB on disk: Node.js 16.20.2, Node.js 24.21.0\n",
            "7 GB are free, which may be too few\n",
        ] {
            assert!(text.contains(line), "{line:?} in {text}");
        }
    }

    #[test]
    fn a_run_says_how_long_the_one_before_took() {
        let first = plan(Options::default());
        assert!(first.to_string().contains("about 10 minutes on 2 idle processors"), "{first}");
        let next = Plan { last: Some("11 min 3 s".to_owned()), ..first };
        assert!(next.to_string().ends_with("the last such run took 11 min 3 s"), "{next}");
    }

    #[test]
    fn a_long_list_has_many_lines() {
        let text = wrapped(&"word ".repeat(50));
        assert!(text.lines().count() == 3 && text.lines().all(|line| line.len() < 115), "{text}");
        assert_eq!(text.split_whitespace().count(), 50);
    }

    #[test]
    fn nothing_is_installed_where_nothing_may_be() {
        let text = plan(Options { all: true, no_install: true }).to_string();
        assert!(text.contains("  versions:  all"), "{text}");
        assert!(
            text.contains("nothing (--no-install); tests without these skip: elfutils\n"),
            "{text}"
        );
        assert!(
            text.contains("nothing (--no-install); tests without these skip: Node.js 16"),
            "{text}"
        );
    }
}
