//! Several cores in one run: `kcore stacks A B`, `kcore diff A B` and `kcore triage A B`.

mod diff;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn core(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(format!("testdata/{name}/x86_64/core.zst"))
}

/// Standard output, standard error and exit status.
fn run(words: &[&str], cores: &[PathBuf]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_kcore"))
        .args(words)
        .args(cores)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// The records of one type.
fn records(words: &[&str], cores: &[PathBuf], kind: &str) -> Vec<Value> {
    let (out, errors, _) = run(words, cores);
    assert_eq!(errors, "");
    let records = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["type"] == kind).collect()
}

#[test]
fn a_line_tells_what_happened_in_each_core() {
    let cores = [core("abort"), core("workers"), core("nodes"), core("workers")];
    let lines = records(&["triage", "--json"], &cores, "triage");
    let told = |line: &Value| json!([line["what"], line["signature"], line["alike"], line["line"]]);
    // What is alike stands together, the most common first. The lines are those of the programs' own account.
    let workers = json!(["SIGSEGV", ["parse_header", "parse_request", "handle_job"], 2, 46]);
    let told: Vec<Value> = lines.iter().map(told).collect();
    assert_eq!(told[..2], [workers.clone(), workers]);
    let abort = json!(["SIGABRT", ["give_up", "check_disk", "start_up"], 1, 8]);
    let nodes = json!(["SIGSEGV", ["handle_get", "serve", "main"], 1, 148]);
    assert!(told[2..].contains(&abort) && told[2..].contains(&nodes), "{told:?}");
}

#[test]
fn a_core_that_does_not_open_does_not_hide_the_others() {
    let missing = PathBuf::from("/nonexistent/core");
    let (out, errors, status) = run(&["triage"], &[missing, core("nodes")]);
    assert_eq!(status, Some(1));
    assert_eq!(errors, "kcore: /nonexistent/core: no such file or directory\n");
    assert!(out.contains("handle_get") && out.contains("serve, main"), "{out}");
}

#[test]
fn stacks_of_several_cores_are_counted_by_core() {
    let cores = [core("workers"), core("nodes"), core("workers")];
    let compared = records(&["stacks", "--json"], &cores, "compared_core");
    let threads: Vec<&Value> = compared.iter().map(|core| &core["threads"]).collect();
    assert_eq!(threads, [12, 1, 12]);
    assert_eq!(compared[0]["stacks"], compared[2]["stacks"]);

    let stacks = records(&["stacks", "--json"], &cores, "compared_stack");
    let total: u64 = stacks.iter().map(|stack| stack["count"].as_u64().unwrap()).sum();
    assert_eq!(total, 25);
    for stack in &stacks {
        let counts = stack["cores"].as_array().unwrap();
        match counts.as_slice() {
            [alone] => assert_eq!((&alone["core"], &alone["count"]), (&json!(2), &json!(1))),
            [first, third] => {
                assert_eq!((&first["core"], &third["core"]), (&json!(1), &json!(3)));
                assert_eq!(first["count"], third["count"]);
            }
            other => panic!("{other:?}"),
        }
    }
    let crashed = |stack: &&Value| stack["frames"][0]["function"] == "parse_header";
    assert_eq!(stacks.iter().filter(crashed).count(), 1);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let both = [core("workers"), core("nodes")];
    for (words, reason) in [
        (&["triage", "--untrusted"][..], "--untrusted opens one core at a time"),
        (&["triage", "-c", "::status"], "commands are for one core"),
        (&["stacks", "-c", "::status"], "commands are for one core"),
        (&["triage", "-p", "1"], "a process is no core"),
    ] {
        let (out, errors, status) = run(words, &both);
        assert_eq!((out.as_str(), status), ("", Some(2)), "{words:?}");
        assert_eq!(errors, format!("kcore: {reason}\n"));
    }
    let (_, errors, status) = run(&["triage"], &[]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("no core is named"), "{errors}");
}
