//! Builds the programs of `workloads/` and lets them die, where that was not done before.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::SystemTime,
};

use anyhow::{Context, Result, anyhow, bail};
use gen_cores::Program;

use crate::workloads::Subject;

/// Libraries of the workload `modules`.
const LIBRARIES: usize = 300;
/// Units of types of the workload `cpp-types`.
const TYPE_UNITS: usize = 32;

/// A program that is built from a folder of `workloads/`.
pub struct Workload {
    /// Name of the folder and of the program.
    pub name: &'static str,
    /// Builds it from one folder into another.
    pub build: fn(&Folders) -> Result<()>,
    /// Its arguments.
    pub args: &'static [&'static str],
    /// The limit of its stack.
    pub stack_kib: u32,
}

/// Where a workload comes from and goes to.
pub struct Folders {
    source: PathBuf,
    made: PathBuf,
    exe: PathBuf,
}

impl Default for Workload {
    fn default() -> Self {
        Self { name: "", build: c_program, args: &[], stack_kib: 8192 }
    }
}

/// A workload, built where it is not there or older than its source.
pub fn ensure(workload: &Workload) -> Result<Subject> {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("workloads").join(workload.name);
    let made = gen_cores::cores_dir().with_file_name("bench-workloads").join(workload.name);
    let folders = Folders { exe: made.join(workload.name), source, made };
    let core = folders.made.join("core");
    if !is_newer(&core, &folders.source)? {
        fs::create_dir_all(&folders.made)?;
        (workload.build)(&folders).with_context(|| format!("building {}", workload.name))?;
        let (args, stack_kib) = (workload.args, workload.stack_kib);
        gen_cores::core_of(&Program { path: &folders.exe, args, stack_kib }, &folders.made)?;
    }
    Ok(Subject { exe: folders.exe, core })
}

/// A program of one file in C.
pub fn c_program(folders: &Folders) -> Result<()> {
    compile(folders, "gcc", &["-g", "-O2", "-pthread", "main.c", "-o"], &folders.exe)
}

/// A program of one file in C++.
pub fn cpp_program(folders: &Folders) -> Result<()> {
    compile(
        folders,
        "g++",
        &["-std=c++17", "-g", "-O2", "-pthread", "main.cpp", "-o"],
        &folders.exe,
    )
}

/// A small program and units of nothing but types: 112 MB of `.debug_info`, 400 MB of names.
pub fn cpp_types(folders: &Folders) -> Result<()> {
    let flags = ["-std=c++17", "-g", "-O0", "-fno-eliminate-unused-debug-types"];
    let object = |number: usize| folders.made.join(format!("types{number}.o"));
    let unit = |number: usize| {
        let define = format!("-DUNIT={number}");
        let own = [&flags[..], &[&define, "-c", "types.cpp", "-o"]].concat();
        compile(folders, "g++", &own, &object(number))
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let share = |first| (first..TYPE_UNITS).step_by(threads).try_for_each(unit);
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first))).collect();
        let mut results = workers.into_iter().map(|worker| worker.join());
        let died = |_| anyhow!("a compiler's thread died");
        results.try_for_each(|result| result.map_err(died)?)
    })?;
    let objects: Vec<String> = (0..TYPE_UNITS).map(|n| object(n).display().to_string()).collect();
    let mut program = vec!["-std=c++17", "-g", "-O0", "-Wl,--build-id", "main.cpp"];
    program.extend(objects.iter().map(String::as_str));
    program.push("-o");
    compile(folders, "g++", &program, &folders.exe)
}

/// A small program and many generated functions.
pub fn big_binary(folders: &Folders) -> Result<()> {
    let flags = ["-g", "-O2", "-DCOUNT=100000", "-DSIZE=900"];
    let object = folders.made.join("functions.o");
    compile(folders, "gcc", &[&flags[1..], &["-c", "functions.S", "-o"]].concat(), &object)?;
    let object = object.display().to_string();
    compile(folders, "g++", &[&flags[..], &["main.cpp", &object, "-o"]].concat(), &folders.exe)
}

/// A program and the libraries that it is linked with.
pub fn libraries(folders: &Folders) -> Result<()> {
    let mut program = vec!["-std=c++17", "-g", "-O2", "-pthread", "main.cpp", "-Wl,--no-as-needed"];
    let mut names = Vec::new();
    for number in 0..LIBRARIES {
        let path = folders.made.join(format!("libenter{number}.so"));
        let define = format!("-DNUMBER={number}");
        let flags = ["-std=c++17", "-g", "-O2", "-shared", "-fPIC", &define, "library.cpp", "-o"];
        compile(folders, "g++", &flags, &path)?;
        names.push(path.display().to_string());
    }
    program.extend(names.iter().map(String::as_str));
    program.extend(["-Wl,-rpath,$ORIGIN", "-o"]);
    compile(folders, "g++", &program, &folders.exe)
}

/// A project of its own: not a member of this workspace, so that its crates are none of kcore's.
pub fn cargo_project(folders: &Folders) -> Result<()> {
    let target = folders.made.join("target");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--locked", "--target-dir"]).arg(&target).current_dir(&folders.source);
    // Flags and profiles of whoever builds kcore are not for this program.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PROFILE") || name == "RUSTFLAGS" {
            cargo.env_remove(name);
        }
    }
    run(&mut cargo)?;
    let name = folders.exe.file_name().context("a program without a name")?;
    fs::copy(target.join("debug").join(name), &folders.exe)?;
    Ok(())
}

fn compile(folders: &Folders, compiler: &str, flags: &[&str], to: &Path) -> Result<()> {
    run(Command::new(compiler).args(flags).arg(to).current_dir(&folders.source))
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Whether a file was made after all of a folder.
fn is_newer(file: &Path, folder: &Path) -> Result<bool> {
    match fs::metadata(file).and_then(|metadata| metadata.modified()) {
        Ok(made) => Ok(newest(folder)? <= made),
        Err(_) => Ok(false),
    }
}

fn newest(folder: &Path) -> Result<SystemTime> {
    let mut latest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let time = if metadata.is_dir() { newest(&entry.path())? } else { metadata.modified()? };
        latest = latest.max(time);
    }
    Ok(latest)
}
