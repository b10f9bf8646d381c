//! Minidumps of other machines: written here of cores whose programs know themselves, with the contexts of Breakpad
//! (`src/google_breakpad/common/minidump_cpu_*.h`), and held against those cores.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use gen_cores::Outcome;
use kcore_mem::{Arch, Endian, Target};
use serde_json::Value;

use crate::core_parts::CoreParts;
use crate::written::{Context, write};

const fn target(arch: Arch, endian: Endian, word: u8) -> Target {
    Target { arch, endian, word }
}

/// Variants with their machine, its number in a minidump, and the layout of its context.
const MACHINES: [(&str, Target, u16, Context); 4] = [
    ("O0-i386-static", target(Arch::I386, Endian::Little, 4), 0, Context::X86),
    ("O0-arm-static", target(Arch::Arm, Endian::Little, 4), 5, Context::Arm),
    ("O0-mips-static", target(Arch::Mips, Endian::Big, 4), 1, Context::Mips),
    ("O0-mips64el-static", target(Arch::Mips64, Endian::Little, 8), 0x8004, Context::Mips),
];

/// Registers that a minidump has not.
const UNKNOWN: [&str; 3] = ["orig_eax", "orig_r0", "gsbase"];

fn records(exe: &Path, core: &Path, command: &str, kind: &str) -> Vec<Value> {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["--no-rc", "--json", "-c", command]).arg(exe).arg(core).stdin(Stdio::null());
    let output = kcore.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["type"] == kind).collect()
}

/// Functions, lines and addresses of each thread.
fn stacks(exe: &Path, core: &Path) -> BTreeMap<String, Vec<String>> {
    let frame = |it: &Value| format!("{} {} {}", it["pc"], it["function"], it["line"]);
    let stacks = records(exe, core, "::walk thread | ::stack", "stack");
    let shown = |stack: &Value| stack["frames"].as_array().unwrap().iter().map(frame).collect();
    stacks.iter().map(|stack| (stack["tid"].to_string(), shown(stack))).collect()
}

fn registers(exe: &Path, core: &Path) -> BTreeMap<String, String> {
    let record = records(exe, core, "::regs", "registers").remove(0);
    let all = record["registers"].as_object().unwrap().iter();
    let known = all.filter(|(name, _)| !UNKNOWN.contains(&name.as_str()));
    known.map(|(name, value)| (name.clone(), value.to_string())).collect()
}

#[test]
fn a_minidump_of_another_machine_says_what_the_core_says() {
    for (variant, target, machine, context) in MACHINES {
        let case = match gen_cores::ensure("threads-12", variant).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(&skipped);
                continue;
            }
        };
        let folder = tempfile::tempdir().unwrap();
        let dump = folder.path().join("app.dmp");
        let parts = CoreParts::read(&fs::read(&case.core).unwrap(), target, &case.exe);
        fs::write(&dump, write(&parts, target, machine, context)).unwrap();
        let (of_core, of_dump) = (stacks(&case.exe, &case.core), stacks(&case.exe, &dump));
        assert!(of_core.len() > 1 && of_core.values().any(|it| it.len() > 2), "{of_core:?}");
        assert_eq!(of_dump, of_core, "{variant}");
        let of_core = registers(&case.exe, &case.core);
        assert!(of_core.len() > 8, "{variant}: {of_core:?}");
        assert_eq!(registers(&case.exe, &dump), of_core, "{variant}");
        let status = |core| records(&case.exe, core, "::status", "status").remove(0);
        let (core, dump) = (status(&case.core), status(&dump));
        for what in ["pid", "crashed_tid", "threads", "arch", "bits"] {
            assert_eq!(dump[what], core[what], "{variant}: {what}");
        }
        assert_eq!(dump["signal"]["name"], core["signal"]["name"], "{variant}");
        // qemu tells no address, and a minidump always has one.
        if core["signal"]["address"] != Value::Null {
            assert_eq!(dump["signal"], core["signal"], "{variant}");
        }
        assert!(dump["doubts"].to_string().contains("the core is a minidump"), "{dump}");
    }
}
