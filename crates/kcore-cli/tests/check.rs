//! `kcore check` and `kcore missing` on stored cores: the exit status, and the threads that a cut hurts.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A committed core of twelve threads, unpacked beside its program.
struct Stored {
    folder: TempDir,
    bytes: Vec<u8>,
}

impl Stored {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/workers/x86_64");
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(&root).unwrap().flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
            }
        }
        let packed = fs::read(root.join("core.zst")).unwrap();
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(&packed[..]).unwrap();
        let mut bytes = Vec::new();
        decoder.read_to_end(&mut bytes).unwrap();
        let stored = Self { folder, bytes };
        stored.cut(stored.bytes.len());
        stored
    }

    fn core(&self) -> PathBuf {
        self.folder.path().join("core")
    }

    fn cut(&self, len: usize) {
        fs::write(self.core(), &self.bytes[..len]).unwrap();
    }

    fn run(&self, words: &[&str]) -> (String, String, i32) {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        let (word, options) = words.split_first().unwrap();
        kcore.arg(word).args(["--no-rc"]).args(options).arg(self.core()).stdin(Stdio::null());
        let output = kcore.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap())
    }

    fn records(&self, words: &[&str], kind: &str) -> Vec<Value> {
        let (text, ..) = self.run(words);
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.filter(|record| record["type"] == kind).collect()
    }

    fn word(&self, at: usize, len: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..len].copy_from_slice(&self.bytes[at..at + len]);
        u64::from_le_bytes(bytes)
    }

    /// Offset in the file of what lies at an address.
    fn offset(&self, address: u64) -> Option<u64> {
        let (first, count) = (self.word(32, 8) as usize, self.word(56, 2) as usize);
        (0..count).map(|number| first + number * 56).find_map(|header| {
            let [offset, start, len] = [8, 16, 32].map(|at| self.word(header + at, 8));
            let is_load = self.word(header, 4) == 1;
            (is_load && (start..start + len).contains(&address)).then(|| offset + address - start)
        })
    }

    /// The offsets between which each thread's frames lie, by thread.
    fn stacks(&self) -> Vec<(u64, u64, u64)> {
        let words = ["stacks", "--json", "-c", "::walk thread | ::stack"];
        let stacks = self.records(&words, "stack");
        let hex = |value: &Value| {
            u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
        };
        let of = |stack: &Value| {
            let frames = stack["frames"].as_array().unwrap();
            let (first, last) = (frames.first().unwrap(), frames.last().unwrap());
            let sp = self.offset(hex(&first["sp"])).unwrap();
            (stack["tid"].as_u64().unwrap(), sp, sp + hex(&last["sp"]) - hex(&first["sp"]))
        };
        stacks.iter().map(of).collect()
    }
}

#[test]
fn a_whole_core_is_whole() {
    let stored = Stored::new();
    let (text, errors, status) = stored.run(&["check"]);
    assert_eq!((text.as_str(), status), ("whole: 12 threads\n", 0), "{errors}");
    let check = &stored.records(&["check", "--json"], "check")[0];
    assert_eq!((&check["whole"], &check["threads"]), (&Value::Bool(true), &Value::from(12)));
    assert_eq!(
        (&check["missing_bytes"], check["hurt"].as_array().unwrap().len()),
        (&Value::from(0), 0)
    );
}

#[test]
fn a_cut_core_is_not_and_names_the_threads_that_it_hurts() {
    let stored = Stored::new();
    let stacks = stored.stacks();
    assert_eq!(stacks.len(), 12);
    let mut cuts: Vec<u64> =
        stacks.iter().flat_map(|(_, start, end)| [start - 4096, end + 4096]).collect();
    cuts.sort_unstable();
    for cut in cuts.into_iter().step_by(3) {
        if cut as usize >= stored.bytes.len() {
            continue;
        }
        stored.cut(cut as usize);
        let check = &stored.records(&["check", "--json"], "check")[0];
        assert_eq!(check["whole"], false);
        assert_eq!(check["may_lack_threads"], false);
        let hurt = check["hurt"].as_array().unwrap().iter();
        let hurt: BTreeSet<u64> = hurt.map(|hurt| hurt["tid"].as_u64().unwrap()).collect();
        let lost = stacks.iter().filter(|(_, start, _)| *start >= cut).map(|(tid, ..)| *tid);
        let lost: BTreeSet<u64> = lost.collect();
        let kept = stacks.iter().filter(|(_, _, end)| end + 4096 <= cut).map(|(tid, ..)| *tid);
        assert!(hurt.is_superset(&lost), "at {cut}: {hurt:?}, lost {lost:?}");
        assert!(kept.into_iter().all(|tid| !hurt.contains(&tid)), "at {cut}: {hurt:?}");
        let (text, errors, status) = stored.run(&["check"]);
        assert_eq!(status, 1, "{text}{errors}");
        assert!(text.starts_with("not whole: stacks of "), "{text}");
        assert!(text.contains("truncated: "), "{text}");
        assert_eq!(text.matches("\n  thread ").count(), hurt.len(), "{text}");
    }
    stored.cut(2000);
    let check = &stored.records(&["check", "--json"], "check")[0];
    assert_eq!(
        (&check["whole"], &check["may_lack_threads"]),
        (&Value::Bool(false), &Value::Bool(true))
    );
    stored.cut(10);
    assert_eq!(stored.run(&["check"]).2, 2);
}

#[test]
fn what_is_no_core_is_not_whole() {
    let stored = Stored::new();
    fs::copy(env!("CARGO_BIN_EXE_kcore"), stored.core()).unwrap();
    let (text, errors, status) = stored.run(&["check"]);
    assert_eq!((text.as_str(), status), ("", 2), "{errors}");
    assert!(errors.contains("an executable, not a core"), "{errors}");
    let mut bytes = stored.bytes.clone();
    bytes[56..58].fill(0);
    fs::write(stored.core(), &bytes).unwrap();
    let (text, errors, status) = stored.run(&["check"]);
    assert_eq!(status, 1, "{text}{errors}");
    assert!(text.starts_with("not whole: no threads are left"), "{text}");
    assert!(text.contains("no program headers are in it"), "{text}");
}

#[test]
fn stacks_that_read_as_zeros_are_hurt() {
    let stored = Stored::new();
    let (tid, start, end) = stored.stacks()[0];
    let mut bytes = stored.bytes.clone();
    bytes[start as usize & !4095..(end as usize | 4095) + 1].fill(0);
    fs::write(stored.core(), &bytes).unwrap();
    let check = &stored.records(&["check", "--json"], "check")[0];
    assert_eq!(
        (&check["whole"], check["damage"].as_array().unwrap().len()),
        (&Value::Bool(false), 0)
    );
    let hurt = check["hurt"].as_array().unwrap();
    assert!(hurt.iter().any(|hurt| hurt["tid"].as_u64() == Some(tid)), "{hurt:?}");
    assert_eq!(stored.run(&["check"]).2, 1);
}

#[test]
fn what_to_fetch_is_listed_with_build_ids() {
    let stored = Stored::new();
    let all = stored.records(&["missing", "--json"], "missing_file");
    let program = |it: &&Value| it["path"].as_str().unwrap().ends_with("/workers");
    assert!(
        !all.iter().any(|it| it["what"] == "executable" && program(&it)),
        "it is there: {all:?}"
    );
    for entry in fs::read_dir(stored.folder.path()).unwrap().flatten() {
        if entry.file_name() != "core" && entry.path().is_file() {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let modules = stored.records(&["stacks", "--json", "-c", "::objects"], "object");
    let exe = modules.iter().find(|it| it["executable"] == true).unwrap();
    if exe["file"] != Value::Null {
        // The tree of the committed core stands where it was built.
        return;
    }
    let all = stored.records(&["missing", "--json"], "missing_file");
    let of_exe = all.iter().filter(|it| it["base"] == exe["base"]).collect::<Vec<_>>();
    let what: Vec<_> = of_exe.iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["executable", "debuginfo"]);
    assert!(
        of_exe
            .iter()
            .all(|it| it["build_id"] == exe["build_id"] && it["frames"].as_u64() > Some(0))
    );
    assert!(of_exe[0]["size_at_least"].as_u64() > Some(0) && of_exe[1]["size_at_least"].is_null());
    let frames: Vec<_> = all.iter().map(|it| it["frames"].as_u64().unwrap()).collect();
    assert!(frames.is_sorted_by(|one, two| one >= two), "{frames:?}");
}
