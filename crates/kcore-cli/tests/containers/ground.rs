//! A program, its core, and a folder in which its files are laid out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gen_cores::{Program, core_of};
use serde_json::Value;
use tempfile::TempDir;

use crate::form::Form;

/// The functions are in two units, so that dwz and split files have something to do. Nothing calls libc on the way.
pub const SOURCE: &str = "\
struct pair { int first; long second; };
struct pair of_main = { 7, 8 };
__attribute__((noinline)) static int die(int argument, struct pair *pair) {
    pair->second = argument; /* DIES */
    return pair->first;
}
__attribute__((noinline)) static int inner(int argument) {
    struct pair *nowhere = (struct pair *)0x10;
    return die(argument, nowhere) + 1; /* CALLS_DIE */
}
__attribute__((noinline)) int middle(int argument) {
    return inner(argument) + 2; /* CALLS_INNER */
}
int main(void) {
    return middle(42) + of_main.first; /* CALLS_MIDDLE */
}
";

/// A unit that shares its type with the first one.
const SECOND: &str = "\
struct pair { int first; long second; };
int sum_of(struct pair *pair);
int sum_of(struct pair *pair) { return pair->first + (int)pair->second; }
";

/// What kcore shows of the core.
#[derive(Debug)]
pub struct Shown {
    /// Function and line of each frame of the program.
    pub frames: Vec<(String, Option<u64>)>,
    /// The argument of the innermost function.
    pub argument: Option<String>,
    /// What `::status` says.
    pub status: String,
}

impl Shown {
    pub fn doubts(&self) -> Vec<&str> {
        self.status
            .lines()
            .filter(|line| line.contains("doubt: ") && line.contains("app"))
            .collect()
    }
}

pub struct Ground {
    folder: TempDir,
    form: &'static Form,
}

impl Ground {
    /// `None` where a tool is missing.
    pub fn new(form: &'static Form) -> Option<Self> {
        if !form.tools.iter().all(|tool| is_installed(tool)) {
            println!("{}: one of {:?} is not installed", form.name, form.tools);
            return None;
        }
        let ground = Self { folder: tempfile::tempdir().unwrap(), form };
        for folder in ["build", "cores"] {
            fs::create_dir(ground.path(folder)).unwrap();
        }
        ground.build(SOURCE);
        let app = ground.path("build/app");
        let program = Program { path: &app, args: &[], stack_kib: 8192 };
        core_of(&program, &ground.path("cores")).unwrap();
        fs::remove_file(ground.path("cores/output.txt")).unwrap();
        Some(ground)
    }

    /// Replaces the files by those of another build, whose functions have other names.
    pub fn build_again(&self) {
        let other = SOURCE.replace("inner", "other").replace("42", "43");
        fs::remove_dir_all(self.path("build")).unwrap();
        fs::create_dir(self.path("build")).unwrap();
        self.build(&other);
    }

    fn build(&self, source: &str) {
        fs::write(self.path("build/main.c"), source).unwrap();
        fs::write(self.path("build/second.c"), SECOND).unwrap();
        for line in self.form.commands {
            self.shell(line, "build");
        }
        // Nothing may be taken from the objects, the sources or the whole program.
        for entry in fs::read_dir(self.path("build")).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if !self.form.files.contains(&name.as_str()) {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }

    pub fn shell(&self, line: &str, folder: &str) {
        let mut shell = Command::new("sh");
        let output = shell.args(["-ec", line]).current_dir(self.path(folder)).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {line}: {errors}", self.form.name);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The path of the program as its core has it.
    pub fn recorded(&self) -> PathBuf {
        self.path("build/app")
    }

    /// Empties the folder of places, and moves the built files into `folder` of it; the build folder is put aside.
    pub fn move_to(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        for name in self.form.files {
            fs::copy(self.path("aside").join(name), folder.join(name)).unwrap();
        }
    }

    /// Takes the files away from where they were built, and what an earlier place had with them.
    pub fn clear(&self) {
        if !self.path("aside").exists() || self.path("build").exists() {
            let _ = fs::remove_dir_all(self.path("aside"));
            fs::rename(self.path("build"), self.path("aside")).unwrap();
        }
        for entry in fs::read_dir(self.folder.path()).unwrap().flatten() {
            let name = entry.file_name();
            if name != "aside" && name != "cores" {
                let path = entry.path();
                if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
                    .unwrap();
            }
        }
        for name in self.form.files {
            let _ = fs::remove_file(self.path("cores").join(name));
        }
    }

    /// The build-id of the program that died.
    pub fn build_id(&self) -> String {
        let json = self.json(&[], "::objects");
        let app =
            json.iter().find(|it| it["type"] == "object" && it["executable"] == true).unwrap();
        app["build_id"].as_str().unwrap().to_owned()
    }

    pub fn files(&self) -> &'static [&'static str] {
        self.form.files
    }

    pub fn shown(&self, options: &[String]) -> Shown {
        let json = self.json(options, "::stack -v");
        let stack = json.iter().find(|it| it["type"] == "stack").unwrap();
        let frames = stack["frames"].as_array().unwrap();
        let own = |frame: &&Value| frame["module"] == "app" && frame["function"] != "_start";
        let argument = frames[0]["args"].as_array().and_then(|args| args.first());
        let argument = argument.map(|it| it["value"]["value"].to_string());
        let frames = frames.iter().filter(own).map(|frame| {
            let function = frame["function"].as_str().unwrap_or_default().to_owned();
            (function, frame["line"].as_u64())
        });
        Shown {
            frames: frames.collect(),
            argument,
            status: self.text(options, "::stack; ::status"),
        }
    }

    fn json(&self, options: &[String], command: &str) -> Vec<Value> {
        let mut options = options.to_vec();
        options.push("--json".to_owned());
        let text = self.text(&options, command);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn text(&self, options: &[String], command: &str) -> String {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.args(["--no-rc", "-c", command]).args(options).arg(self.path("cores/core"));
        kcore.env_remove("DEBUGINFOD_URLS").env("DEBUGINFOD_CACHE_PATH", self.path("fetched"));
        let output = kcore.stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

fn is_installed(tool: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
    found.is_ok_and(|output| output.status.success())
}
