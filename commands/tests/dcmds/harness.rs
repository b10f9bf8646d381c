//! A session on one small core that all tests share.

use std::sync::{Arc, OnceLock};

use gen_cores::{Case, Outcome};
use kcore::{Core, OpenOptions};
use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::Sink;
use kcore_render::{Format, JsonSink, Numbers, TextOptions, TextSink};
use kcore_shell::{Session, SessionOptions, Status};
use serde_json::Value;

const TEXT: TextOptions =
    TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } };

/// What a line of the language came to.
pub struct Outcomes {
    /// Results.
    pub out: String,
    /// Failures, notes and hints.
    pub errors: String,
    /// How it ended.
    pub status: Status,
}

/// The case whose core all tests open: a crash in a C function, at an address near 0.
pub fn case() -> Case {
    match gen_cores::ensure("leaf", "O0-pie").expect("the core can be made") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => panic!("this machine makes no cores: {}", skipped.reason),
    }
}

/// The core.
pub fn core() -> Arc<Core> {
    static CORE: OnceLock<Arc<Core>> = OnceLock::new();
    let open = || {
        let options = OpenOptions { core: Some(case().core), ..OpenOptions::default() };
        Arc::new(Core::open(&options).expect("the core opens"))
    };
    CORE.get_or_init(open).clone()
}

/// The executable alone, without a core.
pub fn executable() -> Arc<Core> {
    let options = OpenOptions { exe: Some(case().exe), ..OpenOptions::default() };
    Arc::new(Core::open(&options).expect("the executable opens"))
}

/// The core of an executable that cannot be found: its path is changed in a copy.
pub fn core_without_executable() -> Arc<Core> {
    static CORE: OnceLock<Arc<Core>> = OnceLock::new();
    let open = || {
        let mut bytes = std::fs::read(case().core).expect("the core can be read");
        let (old, new) = (b"/leaf\0", b"/gone\0");
        for at in 0..bytes.len() - old.len() {
            if bytes[at..].starts_with(old) {
                bytes[at..at + new.len()].copy_from_slice(new);
            }
        }
        let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-executable");
        std::fs::create_dir_all(&dir).expect("the folder can be made");
        let path = dir.join("core");
        std::fs::write(&path, bytes).expect("the copy can be written");
        let options = OpenOptions { core: Some(path), ..OpenOptions::default() };
        Arc::new(Core::open(&options).expect("the copy opens"))
    };
    CORE.get_or_init(open).clone()
}

/// A core of a scenario, opened.
pub struct Opened {
    /// What it was made of.
    pub case: Case,
    /// The core.
    pub core: Arc<Core>,
}

/// Opens a core of a scenario as its tests in other crates do: with the program, and with the
/// system's libraries, where those are not the machine's own.
pub fn open(scenario: &str, variant: &str) -> Opened {
    let case = match gen_cores::ensure(scenario, variant).expect("the core can be made") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => panic!("this machine makes no cores: {}", skipped.reason),
    };
    let foreign = variant.contains("aarch64");
    let options = OpenOptions {
        core: Some(case.core.clone()),
        exe: (foreign || variant.contains("-arm-")).then(|| case.exe.clone()),
        sysroot: foreign.then(|| "/usr/aarch64-linux-gnu".into()),
        ..OpenOptions::default()
    };
    Opened { core: Arc::new(Core::open(&options).expect("the core opens")), case }
}

impl Opened {
    /// The results of a text that does not fail.
    pub fn text(&self, line: &str) -> String {
        let outcomes = run_on(&self.core, line);
        assert_eq!(outcomes.errors, "", "{line}");
        outcomes.out
    }

    /// What a text that fails says.
    pub fn error(&self, line: &str) -> String {
        let outcomes = run_on(&self.core, line);
        assert!(outcomes.status.failed(), "{line}: {}", outcomes.out);
        outcomes.errors.lines().next().unwrap_or_default().to_owned()
    }

    /// The records of a text.
    pub fn json(&self, line: &str) -> Vec<Value> {
        json_on(&self.core, line)
    }

    /// The only record of a text.
    pub fn one(&self, line: &str) -> Value {
        let mut records = self.json(line);
        assert_eq!(records.len(), 1, "{line}: {records:?}");
        records.remove(0)
    }

    /// What the program printed.
    pub fn output(&self) -> String {
        std::fs::read_to_string(self.case.dir.join("output.txt")).expect("what it printed")
    }
}

fn session(core: Arc<Core>) -> Session {
    Session::new(
        core,
        SessionOptions {
            dcmds: DCMDS,
            walkers: WALKERS,
            declared: Some(&kcore_commands::DECLARED),
            foreign: Some(&kcore_commands::GDB),
            typed: Some(&kcore_commands::TYPED),
            format: Format::Text(TEXT),
            terminal_width: || None,
        },
    )
}

/// Runs a text of the language for people.
pub fn run(line: &str) -> Outcomes {
    run_on(&core(), line)
}

/// The same on another core.
pub fn run_on(core: &Arc<Core>, line: &str) -> Outcomes {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let status = {
        let mut sink = TextSink::new(&mut out, &mut errors, TEXT);
        let status = session(core.clone()).eval(line, &mut sink);
        sink.finish().expect("a vector takes everything");
        status
    };
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Outcomes { out: text(out), errors: text(errors), status }
}

/// The results of a text that does not fail.
pub fn text(line: &str) -> String {
    let outcomes = run(line);
    assert_eq!(outcomes.errors, "", "{line}");
    assert!(!outcomes.status.failed(), "{line}");
    outcomes.out
}

/// What a text that fails says.
pub fn error(line: &str) -> String {
    let outcomes = run(line);
    assert!(outcomes.status.failed(), "{line}: {}", outcomes.out);
    outcomes.errors.lines().next().unwrap_or_default().to_owned()
}

/// The records of a text, each a JSON object with a type.
pub fn json(line: &str) -> Vec<Value> {
    json_on(&core(), line)
}

/// The same on another core.
pub fn json_on(core: &Arc<Core>, line: &str) -> Vec<Value> {
    let mut out = Vec::new();
    {
        let mut sink = JsonSink::new(&mut out, std::io::sink(), false);
        session(core.clone()).eval(line, &mut sink);
        sink.finish().expect("a vector takes everything");
    }
    let out = String::from_utf8(out).expect("output is UTF-8");
    let records: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert!(records.iter().all(|record| record["type"].is_string()), "{line}");
    records
}

/// The only record of a text.
pub fn one(line: &str) -> Value {
    let mut records = json(line);
    assert_eq!(records.len(), 1, "{line}");
    records.remove(0)
}

/// A number that JSON gives as `"0x…"`.
pub fn hex(value: &Value) -> u64 {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no address"));
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("an address is hexadecimal")
}

/// The value of an expression.
pub fn value(expression: &str) -> u64 {
    hex(&one(&format!("{expression}=K"))["value"])
}
