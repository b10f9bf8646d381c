//! Bugs that no scenario has: what is claimed of them.

use std::fs;

use gen_cores::{Program, core_of};

use super::{analysis, findings, gallery::runs_all, process};

/// The bug, the finder, the word for how sure it is, and what the sentence holds.
const BUGS: &[(&str, &str, &str, &str)] = &[
    ("unmapped", "unmapped-access", "certain", ", where nothing is mapped, in follow"),
    (
        "pattern",
        "bad-pointer",
        "likely",
        "0xdeadbeefdeadbeef, a pattern that memory is filled with",
    ),
    ("text", "bad-pointer", "likely", "whose bytes are the text 'AAAABB', in follow"),
    ("none", "execution", "certain", "a mapping that allows no access, called from main"),
    ("guard", "no-access", "certain", "in a mapping of [ anon ] that allows no access, in follow"),
    ("misaligned", "misaligned", "certain", "movaps wants a multiple of 16 as address, and "),
    ("slot", "jump-target", "certain", "0x4847464544434241, whose bytes are the text 'ABCDEFGH'"),
    ("register", "jump-target", "certain", "0x1122334455667788, which is no address, in main"),
    ("jump", "execution", "certain", "jumped to a null pointer, after main called jump_on"),
    ("tail", "execution", "certain", "jumped to a null pointer"),
    ("trap", "trap", "certain", "stopped itself with the instruction ud2, in stop_by"),
    ("int3", "trap", "certain", "stopped itself with the instruction int3, in stop_by"),
    ("hlt", "trap", "certain", "stopped itself with the instruction hlt, in stop_by"),
    ("illegal", "trap", "certain", "are no instruction, in no_instruction"),
    ("elsewhere", "trap", "certain", "are no instruction, in no_instruction"),
    ("large", "stack-overflow", "likely", "a frame is larger than its stack, in large_frame"),
    ("below", "stack-overflow", "certain", "the stack is full of calls that repeat: repeat"),
    ("grows", "trap", "certain", "stopped itself with the instruction hlt, in near_end"),
    ("cut", "bus-error", "likely", "cut, which the file did not have"),
    ("copied", "bus-error", "likely", ", called from copy_cut"),
    ("seccomp", "refused-call", "certain", "refused the system call getpriority, in forbidden"),
    ("cpu", "limit", "certain", "RLIMIT_CPU"),
    ("file", "limit", "certain", "RLIMIT_FSIZE"),
];

/// What the summary of a bug does not say.
const DENIED: &[(&str, &str)] = &[
    // The address is one of the machine, and only its alignment is wrong.
    ("misaligned", "non-canonical"),
    // The stack of a first thread grows until it reaches its limit.
    ("grows", "no room for the frame"),
    ("grows", "stack overflow"),
];

#[test]
fn a_bug_has_its_finding_and_no_other() {
    let program = process::compiled("why/ends.c");
    for (bug, finder, sure, says) in BUGS {
        let folder = tempfile::tempdir().unwrap();
        let program = Program { path: &program, args: &[bug], stack_kib: 8192 };
        let core = core_of(&program, folder.path()).unwrap();
        let said = analysis(&core);
        let [finding] = findings(&said) else { panic!("{bug}: {said:#}") };
        assert_eq!(
            (&finding["finder"], &finding["confidence"]),
            (&(*finder).into(), &(*sure).into()),
            "{bug}"
        );
        let sentence = finding["sentence"].as_str().unwrap();
        assert!(sentence.contains(says), "{bug}: {sentence}");
        runs_all(bug, &core, finding);
        let summary = said["summary"].as_str().unwrap();
        let not_said = DENIED.iter().filter(|(of, _)| of == bug);
        assert!(not_said.clone().all(|(_, words)| !summary.contains(words)), "{bug}: {summary}");
        if *bug == "tail" {
            let evidence = finding["evidence"].to_string();
            assert!(!sentence.contains("call_by_rax"), "{sentence}");
            assert!(evidence.contains("in call_by_rax: that, or what it called"), "{evidence}");
        }
        if ["unmapped", "guard", "misaligned"].contains(bug) {
            let address = fs::read_to_string(folder.path().join("output.txt")).unwrap();
            assert!(sentence.contains(address.trim()), "{address} {sentence}");
        }
    }
    fs::remove_file(program).unwrap();
}
