//! The command lines of kcore and of its peers.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::workloads::Subject;

/// A command, or why there is none.
pub type Line = Result<Command, String>;

/// kcore as it was built into the folder of this program.
pub fn kcore(subject: &Subject, commands: &str) -> Line {
    let mut command = Command::new(beside("kcore")?);
    command.args(["--no-rc", "-c", commands]).arg(&subject.core);
    Ok(command)
}

/// The floor: it maps the core and touches what everybody must read.
pub fn floor(subject: &Subject) -> Line {
    let mut command = Command::new(beside("floor")?);
    command.arg(&subject.core);
    Ok(command)
}

/// The floor of searches: it reads all memory of the core once.
pub fn sum(subject: &Subject) -> Line {
    let mut command = Command::new(beside("sum")?);
    command.arg(&subject.core);
    Ok(command)
}

/// gdb with one command.
pub fn gdb(subject: &Subject, request: &str) -> Line {
    let mut command = Command::new("gdb");
    command.args(["-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", request]);
    command.arg(&subject.exe).arg(&subject.core);
    Ok(command)
}

/// lldb with one command.
pub fn lldb(subject: &Subject, request: &str) -> Line {
    let mut command = Command::new("lldb");
    command.args(["--batch", "--no-lldbinit", "--core"]).arg(&subject.core);
    command.arg(&subject.exe).args(["-o", request]);
    Ok(command)
}

/// eu-stack with names, lines and inlined calls.
pub fn eu_stack(subject: &Subject) -> Line {
    let mut command = Command::new("eu-stack");
    command.args(["--source", "--inlines", "-n", "0"]);
    command.arg("--core").arg(&subject.core).arg("-e").arg(&subject.exe);
    Ok(command)
}

/// drgn with one line of its Python: that of the path, or one in `target/drgn`.
pub fn drgn(subject: &Subject, code: &str) -> Line {
    let mut command = Command::new(installed("drgn", "drgn"));
    command.args(["-q", "-c"]).arg(&subject.core).arg("-s").arg(&subject.exe).args(["-e", code]);
    Ok(command)
}

/// pystack, with the native frames between those of Python or without.
pub fn pystack(subject: &Subject, is_native: bool) -> Line {
    let mut command = Command::new(installed("pystack", "pystack"));
    command.arg("core").args(is_native.then_some("--native"));
    command.arg(&subject.core).arg(&subject.exe);
    Ok(command)
}

/// py-spy, which shows all frames of Python.
pub fn py_spy(subject: &Subject) -> Line {
    let mut command = Command::new(installed("pystack", "py-spy"));
    command.args(["dump", "--core"]).arg(&subject.core);
    Ok(command)
}

/// A program of a virtual environment in `target/`, or that of the path.
fn installed(environment: &str, program: &str) -> PathBuf {
    let own = gen_cores::cores_dir().with_file_name(environment).join("bin").join(program);
    if own.is_file() { own } else { PathBuf::from(program) }
}

fn beside(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = own.with_file_name(name);
    if Path::is_file(&program) {
        return Ok(program);
    }
    Err(format!(
        "no {name} beside this program: cargo build --release -p kcore-cli -p kcore-benches"
    ))
}
