//! `kcore diff`: what moved between two cores of one program.

#[path = "../support/process.rs"]
mod process;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command};

use serde_json::{Value, json};

use self::process::{Running, compiled};
use super::{core, records, run};

/// Saves a core of the process when it has said `word`.
fn saved(
    process: &Running,
    said: &mut BufReader<ChildStdout>,
    word: &str,
    folder: &tempfile::TempDir,
) -> PathBuf {
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), word);
    let core = folder.path().join(word);
    let mut save = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let status = save.args(["save", &process.pid(), "-o"]).arg(&core).output().unwrap().status;
    assert!(status.success());
    core
}

#[test]
fn stacks_that_are_new_or_gone_or_have_other_threads_are_told() {
    let program = compiled("several/moves.c");
    let folder = tempfile::tempdir().unwrap();
    let (process, mut input, output) = Running::start(&mut Command::new(&program));
    let mut said = BufReader::new(output);
    let before = saved(&process, &mut said, "begun", &folder);
    input.write_all(b"\n").unwrap();
    let after = saved(&process, &mut said, "moved", &folder);
    drop(process);

    let cores = [before, after];
    let changed = records(&["diff", "--json"], &cores, "changed_stack");
    let own = ["idle", "starting", "stuck"];
    let told = changed.iter().map(|stack| {
        let frames = stack["frames"].as_array().unwrap().iter();
        let own = frames.filter_map(|frame| frame["function"].as_str()).find(|it| own.contains(it));
        json!([stack["change"], own, stack["before"], stack["after"]])
    });
    let told: Vec<Value> = told.collect();
    let wanted = [
        json!(["new", "stuck", 0, 3]),
        json!(["gone", "starting", 1, 0]),
        json!(["moved", "idle", 3, 2]),
    ];
    assert_eq!(told, wanted);
    // The main thread reads in both.
    let [counts] = &records(&["diff", "--json"], &cores, "diff")[..] else { panic!("one summary") };
    let counts = ["new", "gone", "moved", "same"].map(|key| counts[key].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1, 1]);
    std::fs::remove_file(program).unwrap();
}

#[test]
fn a_core_has_not_moved_from_itself() {
    let twice = [core("workers"), core("workers")];
    assert_eq!(records(&["diff", "--json"], &twice, "changed_stack"), [Value::Null; 0]);
    let (out, _, status) = run(&["diff"], &twice);
    assert_eq!(status, Some(0));
    assert!(
        out.contains("0 new, 0 gone, 0 with another number of threads or tasks, 5 as before"),
        "{out}"
    );
}

/// Saves a core of a program with goroutines, so many of them more than it has anyway.
fn saved_with_goroutines(exe: &Path, more: u64, folder: &tempfile::TempDir) -> PathBuf {
    let own = folder.path().join(more.to_string());
    std::fs::create_dir(&own).unwrap();
    let mut command = Command::new(exe);
    command.args(["wait", &more.to_string()]).current_dir(&own).env("KCORE_TRUTH", "account");
    let mut child = command.spawn().unwrap();
    while !own.join("account").is_file() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let core = own.join("core");
    let mut save = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let saved = save.args(["save", &child.id().to_string(), "-o"]).arg(&core).output().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    core
}

#[test]
fn goroutines_that_became_more_are_told() {
    let case = match gen_cores::ensure("goroutines", "go1.27").expect("a core") {
        gen_cores::Outcome::Made(case) | gen_cores::Outcome::Fresh(case) => case,
        gen_cores::Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let folder = tempfile::tempdir().unwrap();
    let cores = [0, 30].map(|more| saved_with_goroutines(&case.exe, more, &folder));
    let told = records(&["diff", "--json"], &cores, "changed_stack");
    let runs = |stack: &&Value| stack["frames"].to_string().contains("main.(*worker).run");
    let grown = told.iter().find(runs).expect("the stack of those that are more");
    let count = |key: &str| grown[key].as_u64().unwrap();
    assert_eq!(count("after") - count("before"), 30, "{grown:#}");
}

#[test]
fn with_one_core_alone_nothing_is_told_of_it() {
    let missing = PathBuf::from("/nonexistent/core");
    let (out, errors, status) = run(&["diff"], &[core("nodes"), missing]);
    assert_eq!((out.as_str(), status), ("", Some(1)));
    assert_eq!(errors, "kcore: /nonexistent/core: no such file or directory\n");
    let (_, errors, status) = run(&["diff"], &[core("nodes")]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("two cores are compared"), "{errors}");
}

#[test]
fn classes_that_grew_are_told_with_their_counts() {
    let made = |scenario| match gen_cores::ensure(scenario, "node24").expect("a core") {
        gen_cores::Outcome::Made(case) | gen_cores::Outcome::Fresh(case) => Ok(case),
        gen_cores::Outcome::Skipped(skipped) => Err(skipped),
    };
    let (before, after) = match (made("node-esm"), made("node-heap")) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(skipped), _) | (_, Err(skipped)) => return gen_cores::not_tested(skipped),
    };
    let growth = records(&["diff", "--json"], &[before.core, after.core], "class_growth");
    let told = std::fs::read_to_string(after.dir.join("values.jsonl")).unwrap();
    let told = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let most = told.max_by_key(|class| class["count"].as_u64().unwrap_or_default()).unwrap();
    let [class, count] = ["class", "count"].map(|key| most[key].clone());
    let row = growth.iter().find(|row| row["class"] == class);
    let row = row.unwrap_or_else(|| panic!("no {class} in {growth:#?}"));
    let counts = [&row["count_before"], &row["count"], &row["more"]];
    assert_eq!(counts, [&json!(0), &count, &count], "{class}");
    let bytes: Vec<u64> = growth.iter().map(|row| row["more_bytes"].as_u64().unwrap()).collect();
    assert!(bytes.is_sorted_by(|one, next| one >= next) && !bytes.contains(&0), "{bytes:?}");
}
