//! Cores that mean harm: files that go away while kcore has them open, names that would command a
//! terminal.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use missing::missing;

#[path = "support/missing.rs"]
mod missing;

/// Unpacks the committed core into a folder, beside its program.
fn unpacked(dir: &Path) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/workers/x86_64");
    let packed = fs::read(data.join("core.zst")).unwrap();
    let mut bytes = Vec::new();
    let mut frames = ruzstd::decoding::StreamingDecoder::new(&packed[..]).unwrap();
    frames.read_to_end(&mut bytes).unwrap();
    let core = dir.join("core");
    fs::write(&core, bytes).unwrap();
    fs::copy(data.join("workers"), dir.join("workers")).unwrap();
    core
}

fn run(core: &Path, commands: &str) -> Output {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["-c", commands]).arg(core).env("XDG_CONFIG_HOME", missing());
    kcore.output().unwrap()
}

#[test]
fn a_core_that_shrinks_ends_in_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let core = unpacked(dir.path());
    let shrink = format!("!truncate -s 12288 {}\n", core.display());
    let output = run(&core, &format!("1>x\n{shrink}::stacks\n::status"));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let said = format!("{} shrank or could not be read", core.display());
    assert!(errors.contains(&said), "{errors}");
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("could not be read"), "the stacks end there: {out}");
}

#[test]
fn a_program_that_shrinks_ends_in_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let core = unpacked(dir.path());
    let exe = dir.path().join("workers");
    let shrink = format!("!truncate -s 4096 {}\n", exe.display());
    let output = run(&core, &format!("::objects\n{shrink}::stacks"));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let said = format!("{} shrank or could not be read", exe.display());
    assert!(errors.contains(&said), "{errors}");
}

/// Replaces bytes by as many others, wherever they are.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len());
    for at in 0..bytes.len() - old.len() {
        if bytes[at..].starts_with(old) {
            bytes[at..at + old.len()].copy_from_slice(new);
        }
    }
}

#[test]
fn strings_of_a_core_command_no_terminal() {
    const COMMANDS: &str = "::status; ::args; ::env; ::objects -v; ::mappings; ::stacks; ::auxv; \
                            ::threads; ::walk object; ::whatis; ::doubts";
    let dir = tempfile::tempdir().unwrap();
    let core = unpacked(dir.path());
    let mut bytes = fs::read(&core).unwrap();
    replace(&mut bytes, b"--port", b"\x1b[2J\x07\x9b");
    replace(&mut bytes, b"kcore-testdata/", b"\x1b]0;owned\x07\r\x08\x1a\xc2/");
    fs::write(&core, bytes).unwrap();
    let output = run(&core, COMMANDS);
    let shown = [output.stdout, output.stderr].concat();
    let harms = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t');
    assert!(!shown.iter().any(harms), "{}", String::from_utf8_lossy(&shown).escape_debug());
    let text = String::from_utf8(shown).expect("UTF-8");
    assert!(text.contains("\\x1b[2J"), "the argument is shown all the same: {text}");
    assert!(text.contains("\\x1b]0;owned"), "and the path: {text}");
}

#[test]
fn a_core_cut_before_its_mappings_does_not_say_that_there_is_no_function() {
    let dir = tempfile::tempdir().unwrap();
    let core = unpacked(dir.path());
    fs::remove_file(dir.path().join("workers")).unwrap();
    let bytes = fs::read(&core).unwrap();
    fs::write(&core, &bytes[..3000]).unwrap();
    let output = run(&core, "::status");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("truncated: the notes end at"), "{text}");
    assert!(text.contains("(nothing is known of it)"), "{text}");
    assert!(!text.contains("(no function is there)"), "{text}");
}
