//! What gdb tells of the arguments and locals that programs told.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use gen_cores::Case;

/// What differs from what the program told, by the line of it; empty where nothing does. `None` where
/// gdb cannot read such cores.
pub fn opinion(case: &Case) -> Option<HashMap<usize, String>> {
    if case.variant.contains("aarch64") {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/values/gdb_values.py");
    let output = Command::new("gdb")
        .args(["-batch", "-nx", "-iex", "set debuginfod enabled off", "-x"])
        .arg(script)
        .args([&case.scenario, "core"])
        .current_dir(&case.dir)
        .env("VALUES", "values.jsonl")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told: HashMap<usize, String> = text.lines().filter_map(parse).collect();
    assert!(!told.is_empty(), "{}: gdb told nothing: {output:?}", case.name());
    Some(told)
}

fn parse(line: &str) -> Option<(usize, String)> {
    let (number, what) = line.strip_prefix("LOCAL\t")?.split_once('\t')?;
    Some((number.parse().ok()?, what.to_owned()))
}
