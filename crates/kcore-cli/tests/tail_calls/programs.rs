//! The programs, built in several ways, and their cores.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use gen_cores::{Outcome, Program, core_of, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// A way to the function that dies.
pub struct Chain {
    pub name: &'static str,
    /// The functions that provably ended by tail calls, the last one first.
    pub tails: &'static [&'static str],
    /// Whether there is no other way.
    pub is_whole: bool,
    /// What the function was passed, and what of that gcc tells.
    pub passed: i64,
    pub told: Option<i64>,
}

/// In the order of the argument by which the program takes them.
pub const CHAINS: [Chain; 6] = [
    Chain { name: "whole", tails: &["last", "middle"], is_whole: true, passed: 43, told: Some(43) },
    Chain { name: "forked", tails: &["before"], is_whole: false, passed: 35, told: None },
    Chain { name: "loops", tails: &["ping", "loops"], is_whole: false, passed: 26, told: None },
    Chain { name: "wild", tails: &["wild", "to_wild"], is_whole: false, passed: 13, told: None },
    Chain { name: "direct", tails: &[], is_whole: true, passed: 77, told: Some(77) },
    Chain { name: "may_jump", tails: &[], is_whole: false, passed: 2, told: None },
];

/// A compiler, and the version of DWARF that it writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Build {
    compiler: &'static str,
    dwarf: &'static str,
}

impl Build {
    pub const GCC: Self = Self { compiler: "gcc", dwarf: "-gdwarf-5" };
    const ALL: [Self; 4] = [
        Self::GCC,
        Self { compiler: "gcc", dwarf: "-gdwarf-4" },
        Self { compiler: "clang", dwarf: "-gdwarf-5" },
        Self { compiler: "clang", dwarf: "-gdwarf-4" },
    ];

    pub fn is_gcc(self) -> bool {
        self.compiler == "gcc"
    }

    fn program(self, folder: &Path) -> Option<PathBuf> {
        let program = folder.join(format!("{}{}", self.compiler, self.dwarf));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tail_calls/chains.c");
        let mut compiler = Command::new(self.compiler);
        compiler.args(["-O2", "-g", self.dwarf, "-o"]).arg(&program).arg(source);
        let Ok(status) = compiler.status() else {
            gen_cores::not_tested(format!("tail calls: there is no {}", self.compiler));
            return None;
        };
        assert!(status.success(), "{self:?}");
        Some(program)
    }
}

/// A program that died.
pub struct Crashed {
    pub build: Build,
    pub chain: &'static Chain,
    program: PathBuf,
    core: PathBuf,
}

struct Made {
    crashed: Vec<Crashed>,
    _folder: TempDir,
}

/// All programs and chains.
pub fn all() -> impl Iterator<Item = &'static Crashed> {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(make).crashed.iter()
}

/// One of them.
pub fn one(build: Build, name: &str) -> &'static Crashed {
    all().find(|it| it.build == build && it.chain.name == name).unwrap()
}

fn make() -> Made {
    let folder = tempfile::tempdir().unwrap();
    let programs =
        Build::ALL.into_iter().filter_map(|build| Some((build, build.program(folder.path())?)));
    let crashed = programs.flat_map(|(build, program)| {
        let folder = folder.path();
        (0..CHAINS.len()).map(move |number| {
            let place = folder.join(format!("{}{}-{number}", build.compiler, build.dwarf));
            let _ = fs::create_dir(place.with_extension("d"));
            let number_text = number.to_string();
            let started = Program { path: &program, args: &[&number_text], stack_kib: 8192 };
            let core = core_of(&started, &place.with_extension("d")).unwrap();
            Crashed { build, chain: &CHAINS[number], program: program.clone(), core }
        })
    });
    Made { crashed: crashed.collect(), _folder: folder }
}

impl Crashed {
    pub fn name(&self) -> String {
        format!("{} {} {}", self.build.compiler, self.build.dwarf, self.chain.name)
    }

    pub fn kcore(&self, words: &[&str]) -> (String, String) {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.arg("--no-rc").args(words).arg(&self.core).stdin(Stdio::null());
        let output = kcore.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }

    /// The record of its stack.
    pub fn stack(&self) -> Value {
        let (lines, errors) = self.kcore(&["--json", "-c", "::stack"]);
        let mut records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.find(|it| it["type"] == "stack").unwrap_or_else(|| panic!("{lines}{errors}"))
    }

    /// The only argument of the first frame of a function; null where it has no value.
    pub fn argument_of(&self, function: &str) -> Value {
        let stack = self.stack();
        let frames = stack["frames"].as_array().unwrap();
        let frame = frames.iter().find(|frame| frame["function"] == function).unwrap();
        frame["args"][0]["value"]["value"].clone()
    }

    /// The names of gdb's frames up to `main`; `None` without gdb.
    pub fn gdb(&self) -> Option<Vec<String>> {
        let mut gdb = Command::new("gdb");
        gdb.args(["-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", "bt"]);
        let Ok(output) = gdb.arg(&self.program).arg(&self.core).stdin(Stdio::null()).output()
        else {
            gen_cores::not_tested("tail calls: there is no gdb");
            return None;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stack = text.rsplit_once("\n#0 ").map_or("", |(_, stack)| stack);
        let names = stack.lines().map(|line| {
            let named = line.split_once(" in ").map_or(line, |(_, named)| named);
            named.trim().split(' ').next().unwrap_or_default().to_owned()
        });
        Some(names.take_while(|name| !name.is_empty()).collect())
    }
}

/// The stack of the scenario that tells it, as text; `None` where it cannot be made here.
pub fn scenario(variant: &str) -> Option<String> {
    let case = match ensure("tail-call", variant).unwrap() {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => {
            gen_cores::not_tested(&skipped);
            return None;
        }
    };
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    if let Some(sysroot) = gen_cores::Variant::parse(variant).unwrap().sysroot() {
        kcore.arg("--sysroot").arg(sysroot);
    }
    kcore.args(["--no-rc", "-c", "::stack", "-e"]).arg(&case.exe).arg(&case.core);
    let output = kcore.stdin(Stdio::null()).output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}
