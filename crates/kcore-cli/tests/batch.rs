//! kcore without a terminal: where commands come from, where results go, and the exit status.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use missing::missing;

#[path = "support/missing.rs"]
mod missing;

/// Standard output, standard error and exit status of one run.
struct Run {
    out: String,
    errors: String,
    status: Option<i32>,
}

fn core() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("testdata/workers/x86_64/core.zst")
}

/// A command without the user's own configuration.
fn kcore(words: &[&str]) -> Command {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(words).env("XDG_CONFIG_HOME", missing()).env_remove("NO_COLOR");
    kcore.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    kcore
}

fn finish(mut command: Command, input: &[u8]) -> Run {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A program that does not read its input is right to close it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Run {
        out: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code(),
    }
}

/// Runs kcore with these words and the committed core.
fn on_core(words: &[&str], input: &[u8]) -> Run {
    let mut command = kcore(words);
    command.arg(core());
    finish(command, input)
}

#[test]
fn done_failed_and_unusable_have_their_status() {
    assert_eq!(on_core(&["-c", "1>x"], b"").status, Some(0));
    let failed = on_core(&["-c", "::no_such_dcmd; 1>x"], b"");
    assert_eq!((failed.status, failed.out.as_str()), (Some(1), ""));
    assert_eq!(failed.errors, "kcore: invalid command '::no_such_dcmd': unknown dcmd name\n");
    let core = missing().join("core").display().to_string();
    let absent = finish(kcore(&["-c", "1>x", &core]), b"");
    assert_eq!(absent.status, Some(2));
    assert_eq!(absent.errors, format!("kcore: {core}: no such file or directory\n"));
    assert_eq!(finish(kcore(&["--no-such-option"]), b"").status, Some(2));
    assert_eq!(finish(kcore(&[]), b"").status, Some(2));
}

#[test]
fn a_script_comes_from_standard_input_and_goes_on_after_a_failure() {
    let run = on_core(&[], b"1 1\n\xff\n::no_such_dcmd\n! echo still here\n");
    assert_eq!(run.status, Some(1));
    assert!(run.errors.starts_with("kcore: syntax error on line 1 of standard input near \"1\"\n"));
    // A line that cannot be read is shown with the place.
    assert_eq!(run.errors.lines().count(), 7);
    assert_eq!(run.out, "still here\n");
}

#[test]
fn a_script_comes_from_a_file_and_after_commands() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "! echo between\n! echo second\n").unwrap();
    let run = on_core(&["-c", "! echo first", "-f", script.to_str().unwrap()], b"! echo never\n");
    assert_eq!(run.out, "first\nbetween\nsecond\n");
    let script = missing().join("script").display().to_string();
    let absent = on_core(&["-f", &script], b"");
    assert_eq!(absent.status, Some(2));
    assert_eq!(absent.errors, format!("kcore: script {script}: no such file or directory\n"));
}

#[test]
fn the_core_comes_from_standard_input_and_is_no_script() {
    let bytes = fs::read(core()).unwrap();
    let run = finish(kcore(&["-c", "<rip>x; ! echo open", "-"]), &bytes);
    assert_eq!((run.status, run.out.as_str(), run.errors.as_str()), (Some(0), "open\n", ""));
    let run = finish(kcore(&["-"]), &bytes);
    assert_eq!(run.status, Some(2));
    assert_eq!(run.errors, "kcore: standard input is the core: give commands with -c or -f\n");
}

#[test]
fn json_is_lines_with_a_header_and_errors_among_them() {
    let run = on_core(&["--json", "-c", "::no_such_dcmd; nosuch>x; )"], b"");
    assert_eq!((run.status, run.errors.as_str()), (Some(1), ""));
    let lines: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["header", "error", "error", "error"]);
    assert_eq!(lines[0]["schema"], 1);
    assert_eq!(lines[1]["command"], "::no_such_dcmd");
    assert!(lines[3]["address"].is_null());
}

#[test]
fn the_configuration_is_read_first_and_its_failures_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("kcore")).unwrap();
    fs::write(folder.path().join("kcore/rc"), "5>from_rc\n::no_such_dcmd\n").unwrap();
    let run = |words: &[&str]| {
        let mut command = kcore(words);
        command.arg(core()).env("XDG_CONFIG_HOME", folder.path());
        finish(command, b"")
    };
    let read = run(&["-c", "<from_rc>x"]);
    assert_eq!(read.status, Some(0));
    assert!(read.errors.contains("unknown dcmd name"), "{}", read.errors);
    assert!(read.errors.contains("kcore/rc failed (--no-rc leaves it out)"), "{}", read.errors);
    let unread = run(&["--no-rc", "-c", "<from_rc>x"]);
    assert_eq!(unread.errors, "kcore: variable 'from_rc' is not defined\n");
}

#[test]
fn settings_and_macros_lie_in_the_configuration_folder() {
    let folder = tempfile::tempdir().unwrap();
    let macros = folder.path().join("kcore/macros");
    fs::create_dir_all(&macros).unwrap();
    fs::write(folder.path().join("kcore/rc"), "::set -P 'core> '\n").unwrap();
    fs::write(macros.join("greet"), "::echo mine $[.]\n").unwrap();
    // Where somebody works may lie a file that somebody else made.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("greet"), "::echo theirs\n").unwrap();
    fs::write(elsewhere.path().join("other"), "::echo theirs\n").unwrap();
    let run = |line: &str| {
        let mut command = kcore(&["-c", line]);
        command.arg(core()).env("XDG_CONFIG_HOME", folder.path()).current_dir(&elsewhere);
        finish(command, b"")
    };
    assert_eq!(run("10$<greet").out, "mine 10 \n");
    assert_eq!(run("$<./greet").out, "theirs \n");
    assert_eq!(run("$<other").errors, "kcore: failed to open other (see ::help '$<')\n");
    assert!(run("::set").out.contains("command prompt: \"core> \""));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    for words in [&["-c", ",ffffff::status"][..], &["--json", "-c", ",ffffff::status"]] {
        let mut command = kcore(words);
        let mut child = command.arg(core()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 16]).unwrap();
        drop(out);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}");
    }
}

#[test]
fn a_pipe_that_closes_early_ends_all_quietly() {
    let line = format!(
        "{} -c '::nm; ::nm' {} | head -1; echo ${{PIPESTATUS[@]}}",
        env!("CARGO_BIN_EXE_kcore"),
        core().display()
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &line]).env("XDG_CONFIG_HOME", missing());
    let run = finish(
        {
            bash.stdout(Stdio::piped()).stderr(Stdio::piped());
            bash
        },
        b"",
    );
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].starts_with("Value "), "{lines:?}");
    assert_eq!((&lines[1..], run.errors.as_str()), (&["0 0"][..], ""));
}

#[test]
fn the_program_gives_its_manual_page_and_completions() {
    let shown = |words: &[&str]| finish(kcore(words), b"");
    let page = shown(&["--man"]);
    assert_eq!((page.status, page.errors.as_str()), (Some(0), ""));
    assert!(page.out.contains(".TH kcore 1"), "{}", page.out);
    let script = shown(&["--completions", "bash"]);
    assert!(script.out.contains("complete -F _kcore"), "{}", script.out);
    let version = shown(&["--version"]);
    let line = format!("kcore {}\n", env!("CARGO_PKG_VERSION"));
    assert!(version.out.starts_with(&line) && version.out.contains("zstd"), "{}", version.out);
    assert_eq!(shown(&["-V"]).out, line);
    assert_eq!(shown(&["--completions", "tcsh"]).status, Some(2));
    assert_eq!(shown(&["--man", "core"]).status, Some(2));
}

#[test]
fn help_needs_no_core() {
    let shown = |words: &[&str]| finish(kcore(words), b"");
    let help = shown(&["-c", "::help language; ::help 'stack'", "-c", "::help"]);
    assert_eq!((help.status, help.errors.as_str()), (Some(0), ""));
    for word in ["THE LANGUAGE", "SYNOPSIS", "To begin with:"] {
        assert!(help.out.contains(word), "{word}");
    }
    assert!(shown(&["--json", "-c", "::help json"]).out.contains("\"type\":\"help_topic\""));
    assert_eq!(shown(&["-c", "::help nosuch"]).status, Some(1));
    for other in ["::help; ::status", "::status", "::help a b"] {
        let refused = shown(&["-c", other]);
        assert_eq!(refused.status, Some(2));
        assert!(refused.errors.contains("no core is named"), "{other}: {}", refused.errors);
    }
}

#[test]
fn core_and_executable_stand_in_either_order_and_where_gdb_wants_them() {
    let exe = core().with_file_name("workers");
    let core = core();
    let (exe, core) = (exe.to_str().unwrap(), core.to_str().unwrap());
    for words in [
        &["-c", "main>x; <rip>y", exe, core][..],
        &["-c", "main>x; <rip>y", core, exe],
        &["-c", "main>x; <rip>y", "-e", exe, core],
        &[exe, "-c", core, "-c", "main>x; <rip>y"],
        &["-c", "main>x", exe],
    ] {
        let run = finish(kcore(words), b"");
        assert_eq!((run.status, run.errors.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn what_is_named_and_not_there_is_refused() {
    let missing = missing().display().to_string();
    for option in ["-e", "--sysroot", "--debug-dir", "--perf-map"] {
        let run = on_core(&[option, &missing, "-c", "::status"], b"");
        assert_eq!((run.status, run.out.as_str()), (Some(2), ""), "{option}");
        assert!(run.errors.contains(&missing), "{}", run.errors);
    }
}

#[test]
fn an_executable_that_is_not_the_cores_is_said_not_to_be_used() {
    let own = env!("CARGO_BIN_EXE_kcore");
    let run = on_core(&["-e", own, "-c", "::status"], b"");
    assert_eq!(run.status, Some(0), "{}", run.errors);
    let said = format!("doubt: {own} is not used as the executable: ");
    assert!(run.out.contains(&said), "{}", run.out);
    let run = on_core(&["-e", own, "-c", "::regs"], b"");
    assert!(run.errors.contains("is not used as the executable: "), "{}", run.errors);
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let run = on_core(&["--perf-map", text, "-c", "::status"], b"");
    assert!(run.errors.contains("no names of code are in it"), "{}", run.errors);
}

#[test]
fn commands_and_scripts_run_in_the_order_in_which_they_were_given() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (one, two) = (script("one", "2=J\n"), script("two", "4=J\n"));
    let run = on_core(&["-c", "1=J", "-f", &one, "-c", "3=J", "-f", &two, "-f", "-"], b"5=J\n");
    assert_eq!((run.status, run.errors.as_str()), (Some(0), ""));
    let numbers: Vec<&str> = run.out.split_whitespace().collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5"]);
}

#[test]
fn a_command_may_begin_as_an_option_does() {
    let run = on_core(&["-c", "-1=J", "-c", "-2=J"], b"");
    assert_eq!((run.status, run.errors.as_str()), (Some(0), ""));
    let numbers: Vec<&str> = run.out.split_whitespace().collect();
    assert_eq!(numbers, ["ffffffffffffffff", "fffffffffffffffe"]);
}

/// Makes a file that the system can run.
fn runnable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_script_may_name_kcore_in_its_first_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    let kcore = env!("CARGO_BIN_EXE_kcore");
    for first in [format!("#!{kcore} -f"), format!("#!/usr/bin/env -S {kcore} --no-rc -f")] {
        runnable(&script, &format!("{first}\n7=J\n)\n"));
        let mut command = Command::new(&script);
        command.arg(core()).env("XDG_CONFIG_HOME", missing());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = finish(command, b"");
        assert_eq!((run.status, run.out.trim()), (Some(1), "7"), "{first}: {}", run.errors);
        assert!(run.errors.contains("line 3 of"), "lines keep their numbers: {}", run.errors);
    }
    let run = on_core(&[], b"#!/usr/bin/kcore\n8=J\n");
    assert_eq!((run.status, run.out.trim()), (Some(0), "8"), "{}", run.errors);
    let called = on_core(&["-c", &format!("$<{}", script.display())], b"");
    assert_eq!(called.out.trim(), "7", "a macro file as well: {}", called.errors);
    let later = on_core(&[], b"9=J\n#!/usr/bin/kcore\n");
    assert_eq!((later.status, later.out.trim()), (Some(1), "9"), "only the first line");
}

/// Runs kcore with a configuration folder, which must not make it wait.
fn with_configuration(folder: &Path, words: &[&str]) -> Run {
    let mut command = kcore(words);
    command.arg(core()).env("XDG_CONFIG_HOME", folder);
    finish(command, b"")
}

#[test]
fn a_configuration_that_others_may_write_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("kcore/macros")).unwrap();
    let (rc, macros) = (folder.path().join("kcore/rc"), folder.path().join("kcore/macros/seven"));
    fs::write(&rc, "6=J\n").unwrap();
    fs::write(&macros, "7=J\n").unwrap();
    let run = with_configuration(folder.path(), &["-c", "$<seven"]);
    assert_eq!(run.out.split_whitespace().collect::<Vec<_>>(), ["6", "7"], "{}", run.errors);
    for file in [&rc, &macros] {
        fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
    }
    let run = with_configuration(folder.path(), &["-c", "$<seven", "-c", "8=J"]);
    assert_eq!((run.status, run.out.trim()), (Some(1), "8"));
    let said: Vec<&str> = run.errors.lines().collect();
    let rc_said = format!("kcore: note: {} was not run: everybody may write to it", rc.display());
    assert!(said[0].starts_with(&rc_said), "{said:?}");
    let macro_said = format!("macro file {}: everybody may write to it", macros.display());
    assert!(said[1].contains(&macro_said), "{said:?}");
}

#[test]
fn a_pipe_is_not_waited_for_where_a_file_belongs() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("kcore")).unwrap();
    let pipe = folder.path().join("kcore/rc");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let name = pipe.display().to_string();
    let run = on_core(&["-e", &name, "-c", "8=J"], b"");
    assert_eq!(run.status, Some(2));
    assert_eq!(run.errors, format!("kcore: {name}: not a regular file\n"));
    let run = with_configuration(folder.path(), &["-c", "8=J"]);
    assert_eq!((run.status, run.out.trim()), (Some(0), "8"));
    assert_eq!(run.errors, format!("kcore: note: {name} was not run: not a regular file\n"));
}

#[test]
fn a_script_may_come_through_a_pipe() {
    let line = format!("{} -f <(echo 8=J) {}", env!("CARGO_BIN_EXE_kcore"), core().display());
    let mut bash = Command::new("bash");
    bash.args(["-c", &line]).env("XDG_CONFIG_HOME", missing());
    bash.stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = finish(bash, b"");
    assert_eq!(run.out.trim(), "8", "{}", run.errors);
}
