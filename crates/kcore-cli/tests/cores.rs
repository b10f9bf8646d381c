//! `kcore cores`, on a folder as systemd-coredump leaves it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const BOOT: &str = "0123456789abcdef0123456789abcdef";
const OLD: &str = "1700000000000000";
const NEW: &str = "1800000000000000";

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/abort/x86_64/core.zst")
}

/// A folder with two cores and other files.
fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| folder.path().join(name);
    let latest = path(format!("core.abort.1000.{BOOT}.4711.{NEW}.zst"));
    fs::copy(committed(), &latest).unwrap();
    fs::write(path(format!("core.a\\x2eout.0.{BOOT}.7.{OLD}")), "no core").unwrap();
    fs::write(path(".#core.half".to_owned()), "").unwrap();
    fs::write(path("core.cut.1000".to_owned()), "").unwrap();
    (folder, latest)
}

fn run(folder: &Path, args: &[&str]) -> (String, String, Option<i32>) {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.env("KCORE_COREDUMPS", folder).args(args).stdin(Stdio::null());
    let output = kcore.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn stored_cores_are_listed_the_latest_first() {
    let (folder, latest) = folder();
    let (out, errors, status) = run(folder.path(), &["cores", "--json"]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let records = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let cores: Vec<_> = records.filter(|record| record["type"] == "stored_core").collect();
    assert_eq!(cores.len(), 2, "{out}");
    assert_eq!((&cores[0]["program"], &cores[1]["program"]), (&"abort".into(), &"a.out".into()));
    assert_eq!((&cores[0]["pid"], &cores[0]["uid"]), (&4711.into(), &1000.into()));
    assert_eq!(cores[0]["died"], "2027-01-15 08:00:00");
    assert_eq!(cores[0]["file"], latest.display().to_string());
    assert_eq!(cores[0]["size"], fs::metadata(&latest).unwrap().len());
    assert_eq!((&cores[0]["readable"], &cores[0]["signal"]), (&true.into(), &Value::Null));
    let (text, _, _) = run(Path::new("/"), &["cores", "--folder", folder.path().to_str().unwrap()]);
    assert!(text.lines().nth(1).unwrap().contains("4711 abort"), "{text}");
}

/// `None` where the file system keeps no attributes of users.
#[test]
fn attributes_of_the_file_tell_the_signal_and_the_program() {
    let (folder, latest) = folder();
    let set = |name: &str, value: &str| {
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(&latest, name, value.as_bytes(), flags)
    };
    if set("user.coredump.signal", "6").is_err() {
        return;
    }
    set("user.coredump.exe", "/usr/bin/abort").unwrap();
    let (out, _, _) = run(folder.path(), &["cores", "--json"]);
    let core = out.lines().find(|line| line.contains("4711")).unwrap();
    let core = serde_json::from_str::<Value>(core).unwrap();
    assert_eq!((&core["signal"], &core["exe"]), (&"SIGABRT".into(), &"/usr/bin/abort".into()));
}

#[test]
fn without_a_core_the_latest_is_named_and_opens() {
    let (folder, latest) = folder();
    let (_, errors, status) = run(folder.path(), &["--no-rc"]);
    let command = format!("kcore {} ('kcore cores' lists all)", latest.display());
    assert!(errors.contains("the latest stored core is of abort, process 4711"), "{errors}");
    assert!(errors.contains(&command), "{errors}");
    assert_eq!(status, Some(2));
    let (out, _, _) = run(folder.path(), &["--no-rc", "-c", "::status", latest.to_str().unwrap()]);
    assert!(out.contains("SIGABRT"), "{out}");
}

#[test]
fn no_folder_and_no_cores_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let (out, errors, status) = run(folder.path(), &["cores"]);
    assert_eq!((out.as_str(), status), ("", Some(0)));
    assert!(errors.contains("has no cores"), "{errors}");
    let (_, errors, status) = run(&folder.path().join("missing"), &["cores"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("missing: no such file or directory"), "{errors}");
}
