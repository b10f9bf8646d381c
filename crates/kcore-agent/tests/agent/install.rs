//! The agent as it is installed: a C program is built by what pkg-config says, and run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::program::library;

const SOURCE: &str = "examples/busy.c";

fn install(options: &[&str]) {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "-q", "-p", "xtask", "--", "install-agent", "--from"]);
    command.arg(library().parent().unwrap()).args(options);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The words that pkg-config answers with.
fn told(pkgconfig: &Path, options: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", pkgconfig).args(options);
    let output = command.output().expect("pkg-config");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

/// Builds the example with these words, and runs it with a folder of libraries.
fn runs(words: &[String], libraries: Option<&Path>) -> PathBuf {
    let folder = tempfile::tempdir().unwrap().keep();
    let program = folder.join("busy");
    let mut command = Command::new("cc");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCE)).arg("-o").arg(&program);
    let output = command.args(words).arg("-pthread").output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    let mut command = Command::new(&program);
    if let Some(libraries) = libraries {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("5 threads answered"), "{output:?}");
    folder
}

/// What the program asks the loader for.
fn needed(program: &Path) -> String {
    let output = Command::new("readelf").arg("-d").arg(program).output().expect("readelf");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_program_is_built_with_what_is_installed() {
    let prefix = tempfile::tempdir().unwrap();
    let lib = prefix.path().join("lib");
    install(&["--prefix", prefix.path().to_str().unwrap()]);
    let pkgconfig = lib.join("pkgconfig");
    let soname = format!("libkcore_agent.so.{}", env!("CARGO_PKG_VERSION_MAJOR"));
    for options in [&["--cflags", "--libs"][..], &["--static", "--cflags", "--libs"]] {
        let words = told(&pkgconfig, &[options, &["kcore-agent"]].concat());
        let folder = runs(&words, Some(&lib));
        assert!(needed(&folder.join("busy")).contains(&soname), "{words:?}");
        fs::remove_dir_all(folder).unwrap();
    }
    let words = told(&pkgconfig, &["--cflags", "--libs", "kcore-agent-static"]);
    let folder = runs(&words, None);
    assert!(!needed(&folder.join("busy")).contains("libkcore_agent"), "{words:?}");
    fs::remove_dir_all(folder).unwrap();
    // With the C library in it as well: it walks by tables there too.
    let mut words = told(&pkgconfig, &["--cflags", "--libs", "kcore-agent-whole"]);
    words.push("-static".to_owned());
    let folder = runs(&words, None);
    let program = folder.join("busy");
    assert!(!needed(&program).contains("NEEDED"), "{words:?}");
    let output = Command::new(&program).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("start_thread (cfi)") && text.contains("-- outermost frame"), "{text}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_package_is_made_below_another_folder() {
    let root = tempfile::tempdir().unwrap();
    let destdir = root.path().to_str().unwrap();
    install(&["--prefix", "/opt/k", "--libdir", "/opt/k/lib64", "--destdir", destdir]);
    let pc = root.path().join("opt/k/lib64/pkgconfig");
    let words = told(&pc, &["--cflags", "--libs", "kcore-agent"]);
    assert_eq!(words, ["-I/opt/k/include", "-L/opt/k/lib64", "-lkcore_agent"]);
    assert_eq!(told(&pc, &["--modversion", "kcore-agent"]), [env!("CARGO_PKG_VERSION")]);
    assert!(root.path().join("opt/k/include/kcore_agent.h").is_file());
    let link = fs::read_link(root.path().join("opt/k/lib64/libkcore_agent.so")).unwrap();
    assert_eq!(link.to_str(), Some(concat!("libkcore_agent.so.", env!("CARGO_PKG_VERSION"))));
}
