//! Profiles of heaps out of what allocators sampled, held against what the programs have, and read by pprof.

use std::{fs, ops::ControlFlow, process::Command};

use kcore::profile::{Format, HeapProfile};

use crate::others::{Truth, heap_of};
use crate::truth::{Opened, opened};

const CASES: [(&str, &str); 4] = [
    ("heap-asan", "AddressSanitizer"),
    ("heap-asan-19", "AddressSanitizer"),
    ("heap-jemalloc-prof", "jemalloc"),
    ("heap-tcmalloc-prof", "tcmalloc"),
];

fn profile(opened: &Opened, allocator: &str) -> HeapProfile {
    let heap = heap_of(&opened.core, allocator);
    let profile = opened.core.heaps().profile(heap, &mut |_, _| ControlFlow::Continue(()));
    profile.unwrap_or_else(|| panic!("{}: no profile", opened.name))
}

fn written(profile: &HeapProfile, format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    profile.write(format, &mut bytes).expect("it is written");
    bytes
}

/// Samples, scaled, come to about what the program has.
#[test]
fn a_profile_adds_up_to_what_the_program_has() {
    for (scenario, allocator) in CASES {
        for opened in opened(scenario) {
            let truth = Truth::read(&opened.dir);
            let asked: u64 = truth.live().map(|known| known.asked).sum();
            let profile = profile(&opened, allocator);
            let sum = profile.sum().bytes;
            let share = sum / asked as f64;
            assert!((0.9..1.1).contains(&share), "{}: {sum} of {asked}", opened.name);
            let mut of_work = 0.0;
            for (stack, in_use) in profile.all() {
                let is_work = profile.frames_of(stack).any(|frame| {
                    &*frame.function == "work" && frame.line.is_some() && frame.file.is_some()
                });
                of_work += if is_work { in_use.bytes } else { 0.0 };
            }
            assert!(of_work / sum > 0.95, "{}: {of_work} of {sum}", opened.name);
        }
    }
}

#[test]
fn folded_stacks_end_with_bytes() {
    for opened in opened("heap-asan").iter().take(1) {
        let profile = profile(opened, "AddressSanitizer");
        let text = String::from_utf8(written(&profile, Format::Folded)).expect("a text");
        let bytes = |line: &str| line.rsplit_once(' ').and_then(|(_, it)| it.parse::<f64>().ok());
        let sum: f64 = text.lines().map(|line| bytes(line).expect("a number")).sum();
        assert!((sum - profile.sum().bytes).abs() < 1000.0, "{sum}");
        assert!(text.lines().any(|line| line.contains("work;")), "{text}");
    }
}

/// pprof itself, where Go is there.
#[test]
fn pprof_reads_what_is_written() {
    for (scenario, allocator) in CASES {
        for opened in opened(scenario).iter().take(1) {
            let profile = profile(opened, allocator);
            let path =
                std::env::temp_dir().join(format!("{scenario}-{}.pb.gz", std::process::id()));
            fs::write(&path, written(&profile, Format::Pprof)).expect("it is written");
            let asked =
                ["tool", "pprof", "-top", "-cum", "-unit=bytes", "-sample_index=inuse_space"];
            let read = Command::new("go").args(asked).arg(&path).output();
            fs::remove_file(&path).expect("it is there");
            let Ok(read) = read else {
                eprintln!("not tested: go is not there");
                return;
            };
            let text = String::from_utf8_lossy(&read.stdout);
            let work = text.lines().find(|line| line.ends_with(" work"));
            let work = work.unwrap_or_else(|| panic!("{}: {text}", opened.name));
            let words: Vec<&str> = work.split_whitespace().collect();
            let bytes: f64 = words[3].trim_end_matches('B').parse().expect("a number");
            assert!(bytes / profile.sum().bytes > 0.95, "{}: {text}", opened.name);
            assert!(text.contains("Type: inuse_space"), "{text}");
        }
    }
}
