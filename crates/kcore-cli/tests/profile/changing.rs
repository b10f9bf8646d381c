//! Processes that change while they are sampled: see `changing.c`. A profile goes on with what is left, and says what
//! happened.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::process::{Running, compiled};

fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("profile/changing.c"))
}

/// The program, with its first line.
struct Changing {
    process: Running,
    input: ChildStdin,
    line: String,
}

impl Changing {
    fn start(word: &str) -> Self {
        let (process, input, output) = Running::start(Command::new(program()).arg(word));
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        Self { process, input, line }
    }

    /// Its threads, as `kcore` takes them: the first with the process.
    fn threads(&self) -> Vec<String> {
        let mut tids: Vec<String> = self.line.split_whitespace().map(str::to_owned).collect();
        tids[0] = format!("{}/{}", self.process.pid(), tids[0]);
        tids
    }

    /// Lets it change.
    fn change(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }
}

/// What was sampled, and what was said.
struct Sampled {
    stacks: String,
    said: String,
}

impl Sampled {
    /// How many intervals a function was seen for.
    fn count(&self, function: &str) -> u64 {
        let lines = self.stacks.lines().filter(|line| line.contains(function));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    /// The number before these words.
    fn number_before(&self, words: &str) -> f64 {
        let before = self.said.split(words).next().unwrap();
        let number = before.rsplit(|it: char| !it.is_ascii_digit() && it != '.').next().unwrap();
        number.parse().unwrap_or_else(|_| panic!("no number before {words:?}: {}", self.said))
    }

    /// Threads that were seen, if there was more than one.
    fn threads(&self) -> f64 {
        self.number_before(" threads in ")
    }

    /// Seconds for which it was sampled.
    fn seconds(&self) -> f64 {
        self.number_before(" s, ")
    }
}

/// One at a time: each keeps the machine busy, and must not keep another one from its samples.
static ONE: Mutex<()> = Mutex::new(());

fn one() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Samples for three seconds, or for longer, until there is enough to tell something by.
fn sampled(words: &[&str], is_enough: impl Fn(&Sampled) -> bool) -> Sampled {
    for seconds in ["3", "12", "48"] {
        let sampled = finished(begun(&[words, &["-d", seconds]].concat()));
        if is_enough(&sampled) {
            return sampled;
        }
    }
    panic!("there was never enough: {words:?}")
}

/// Samples a process that changes while it is sampled: after a while, however long it takes on a busy machine until
/// functions are seen, those too that run afterwards. Says also which process it was.
fn changed(
    word: &str,
    seen: &[&str],
    words: impl Fn(&Changing) -> Vec<String>,
) -> (Sampled, Changing) {
    for wait in [0.3, 2.0, 10.0, 40.0] {
        let mut target = Changing::start(word);
        let words =
            [words(&target), vec!["-d".to_owned(), (2.0 * wait + 2.0).to_string()]].concat();
        let sampling = begun(&words.iter().map(String::as_str).collect::<Vec<_>>());
        std::thread::sleep(Duration::from_secs_f64(wait));
        target.change();
        let output = sampling.wait_with_output().unwrap();
        let stacks = String::from_utf8(output.stdout).unwrap();
        if seen.iter().all(|seen| stacks.contains(seen)) {
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{said}");
            return (Sampled { stacks, said }, target);
        }
    }
    panic!("{seen:?} were never seen")
}

/// Begins to sample.
fn begun(words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
    command.arg("profile").args(words).stdin(Stdio::null());
    let sampling = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_it_samples(&sampling);
    sampling
}

fn finished(sampling: Child) -> Sampled {
    let output = sampling.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    Sampled { stacks: String::from_utf8(output.stdout).unwrap(), said }
}

/// What it has open tells: turns of threads that are stopped, or counters of the kernel.
fn wait_until_it_samples(sampling: &Child) {
    let folder = format!("/proc/{}/fd", sampling.id());
    let begun = || {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
        links.any(|link| {
            let link = link.to_string_lossy();
            link.ends_with("/schedstat") || link.contains("perf_event")
        })
    };
    while !begun() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// By the clock, and by time on a processor, of which a short thread may get little.
const WAYS: [&[&str]; 2] = [&["--hold", "100"], &["--cpu", "-F", "1000", "--hold", "100"]];

/// The words of a way, and what is sampled.
fn words(way: &[&str], what: &str) -> Vec<String> {
    way.iter().chain(&[what]).map(|word| (*word).to_owned()).collect()
}

#[test]
fn threads_that_live_for_a_moment_are_sampled_one_after_the_other() {
    let _one = one();
    for way in WAYS {
        let target = Changing::start("short");
        let has_some = |it: &Sampled| it.said.contains(" threads in ") && it.threads() > 2.0;
        let sampled = sampled(&[way, &[&target.process.pid()]].concat(), has_some);
        assert!(sampled.seconds() >= 3.0, "{}", sampled.said);
        assert!(!sampled.said.contains(" ended"), "{}", sampled.said);
        assert!(sampled.count("short_lived") > 0, "{}", sampled.stacks);
    }
}

#[test]
fn threads_too_brief_for_the_kernels_samples_are_said_to_be_missing() {
    let _one = one();
    let target = Changing::start("brief");
    let sampled = sampled(&["--cpu", &target.process.pid()], |it| it.seconds() > 0.0);
    if sampled.said.contains("the kernel counts for nobody here") {
        return gen_cores::not_tested(sampled.said);
    }
    // Most of its time is that of threads which ended before they were found.
    assert!(sampled.said.contains("the process was on a processor for "), "{}", sampled.said);
}

#[test]
fn the_other_threads_are_sampled_on_when_the_first_one_ends() {
    let _one = one();
    for way in WAYS {
        let asked = |target: &Changing| words(way, &target.process.pid());
        let (sampled, target) = changed("leaderless", &["long_lived"], asked);
        assert!(sampled.seconds() >= 2.6, "{}", sampled.said);
        let pid = target.process.pid();
        let wanted = format!("the first thread of process {pid} ended; the others were sampled on");
        assert!(sampled.said.contains(&wanted), "{}", sampled.said);
        // One thread works, and the other one waits until it ends: no stack of either is without names.
        let named = sampled.count("long_lived;work_until") + sampled.count("main;");
        assert!(named > 0 && sampled.count("[unknown]") * 10 <= named, "{}", sampled.stacks);
    }
}

#[test]
fn a_process_whose_first_thread_has_ended_is_sampled() {
    let _one = one();
    let mut target = Changing::start("leaderless");
    target.change();
    let pid = target.process.pid();
    while !fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") Z ") {
        std::thread::sleep(Duration::from_millis(5));
    }
    let sampled = sampled(&[&pid], |it| !it.stacks.is_empty());
    assert!(sampled.seconds() >= 3.0 && !sampled.said.contains(" ended"), "{}", sampled.said);
    assert!(sampled.count("long_lived;work_until") > 0, "{}", sampled.stacks);
}

#[test]
fn chosen_threads_are_sampled_until_the_last_of_them_has_ended() {
    let _one = one();
    for way in WAYS {
        let asked = |target: &Changing| words(way, &target.threads().join(","));
        let (sampled, target) = changed("chosen", &["ends_early", "stays"], asked);
        assert!(sampled.seconds() >= 2.6, "{}", sampled.said);
        let first = target.line.split_whitespace().next().unwrap();
        assert!(sampled.said.contains(&format!("thread {first} ended; the ")), "{}", sampled.said);
    }
}

#[test]
fn a_profile_whose_only_thread_ends_ends_with_a_word() {
    let _one = one();
    for way in WAYS {
        let asked = |target: &Changing| words(way, &target.threads()[0]);
        let (sampled, _target) = changed("chosen", &["ends_early"], asked);
        assert!(
            sampled.said.contains("none of the chosen threads of process "),
            "{}",
            sampled.said
        );
        assert_eq!(sampled.count("stays"), 0, "{}", sampled.stacks);
    }
}

#[test]
fn the_program_that_a_process_starts_is_sampled_after_the_one_before() {
    let _one = one();
    for way in WAYS {
        let asked = |target: &Changing| words(way, &target.process.pid());
        let (sampled, target) = changed("exec", &["before_exec", "after_exec"], asked);
        assert!(sampled.seconds() >= 2.6, "{}", sampled.said);
        let pid = target.process.pid();
        let wanted = format!("process {pid} started another program, ");
        assert!(sampled.said.contains(&wanted), "{}", sampled.said);
    }
}

#[test]
fn a_process_that_ends_leaves_what_there_is_and_a_word() {
    let _one = one();
    for way in WAYS {
        let asked = |target: &Changing| words(way, &target.process.pid());
        let (sampled, target) = changed("exit", &["before_exec"], asked);
        let wanted = format!("process {} ended, and the profile with it", target.process.pid());
        assert!(sampled.said.contains(&wanted), "{}", sampled.said);
    }
}

/// Sixteen threads that all run take longer to stop than five millionths of a second. What is held beyond the
/// share are two stops at most: the last one, and what the one before it took longer than was expected.
#[test]
fn a_process_is_held_for_no_more_than_its_share_of_the_time() {
    let _one = one();
    let target = Changing::start("many");
    let pid = target.process.pid();
    for share in [0.5, 2.0] {
        let percent = share.to_string();
        let spared = |it: &Sampled| it.said.contains(" rounds were spared");
        let sampled = sampled(&["-F", "1000", "--hold", &percent, &pid], spared);
        let said = &sampled.said;
        let held = sampled.number_before("% of the time, ") / 100.0 * sampled.seconds();
        let longest = match said.split_once(" ms at most") {
            Some(_) => sampled.number_before(" ms at most") / 1e3,
            None => sampled.number_before(" us at most") / 1e6,
        };
        let rounding = 0.0002 * sampled.seconds();
        assert!(held <= share / 100.0 * sampled.seconds() + 2.0 * longest + rounding, "{said}");
        assert!(sampled.number_before(" of 1000 rounds a second") < 1000.0, "{said}");
        assert!(
            said.contains(&format!("may be held for {percent}% of the time (--hold)")),
            "{said}"
        );
        // All rounds but the first stand for those that were spared before them.
        let (samples, threads) = (sampled.number_before(" samples of "), sampled.threads());
        let (samples, counted) = (samples as u64, sampled.count(""));
        assert!(samples == threads as u64 || counted > samples, "{said}\n{}", sampled.stacks);
    }
}
