//! gdb as a second opinion of what programs told of their values: of both, the program must be right.

use std::path::Path;
use std::process::Command;

use gen_cores::Outcome;

/// The cases that gdb is asked for: one of each compiler.
const CASES: [(&str, &str); 5] = [
    ("values-c", "O0-pie"),
    ("values-c", "O0-clang-pie"),
    ("values-cpp", "O0-pie"),
    ("values-rust", "debug-pie"),
    ("values-go", "O2-static"),
];

/// What gdb does not tell as the program does. In all of these the program is right.
const DIFFERS: &[(&str, &[&str], &str)] = &[
    ("values-c", &["g_uint128"], "Python's view of a number has 64 bits: -1; `p` prints it right"),
    ("values-c", &["g_packed.wide"], "gdb reads no bit-field that takes more than 8 bytes"),
    ("values-c", &["g_bits_left"], "the same in other words: `(B_TWO | unknown: 0x10)`"),
    ("values-c", &["g_bits24", "g_bits100"], "gdb 13 knows no `_BitInt` and takes it as unsigned"),
    ("values-cpp", &["demo::g_in_inline"], "gdb wants the name of the inline namespace"),
    ("values-cpp", &["demo::g_hides.demo::Point.x"], "gdb's expressions have no base of this name"),
    ("values-cpp", &["demo::g_nullptr"], "Python cannot make a number of a `nullptr_t`"),
    (
        "values-cpp",
        &["q_*", "h_*", "v_animals", "u_shared", "k_wrapper"],
        "the printers of owning pointers give words, and no pointer to compare",
    ),
    (
        "values-cpp",
        &["a_ints", "a_strings", "a_none"],
        "gdb finds no printer for `std::array`, and shows the structure",
    ),
    ("values-cpp", &["d_many[394]"], "its operator forgets that the first block begins late: 394"),
    (
        "values-cpp",
        &["k_complex", "k_atomic", "k_duration", "k_time"],
        "shown as a structure of one number",
    ),
    ("values-cpp", &["k_path", "k_empty_path"], "its printer prints a word and a quote too"),
    (
        "values-cpp",
        &["k_mutex", "k_free_mutex", "k_shared"],
        "a lock is shown as the C library made it",
    ),
    ("values-cpp", &["n_empty"], "gdb has no printer for `std::function`"),
    ("values-cpp", &["g_lambda"], "what a lambda holds is named `__factor` there"),
    ("values-cpp", &["b_bits"], "its printer shows the bits that are set alone"),
    ("values-rust", &["values_rust::U128", "values_rust::OPTION_U128"], "as `g_uint128`"),
    (
        "values-rust",
        &[
            "values_rust::NON_ZERO",
            "values_rust::STRING*",
            "values_rust::COW_*",
            "values_rust::VEC_*",
            "values_rust::DEQUE*",
            "values_rust::LINKED*",
            "values_rust::HEAP",
            "values_rust::TREE_*",
            "values_rust::HASH_*",
        ],
        "gdb without the printers of rustc shows how the library made them",
    ),
    ("values-rust", &["values_rust::DYN_CAT"], "a structure of two pointers; no true type"),
    (
        "values-rust",
        &[
            "values_rust::ONCE",
            "values_rust::ONCE_EMPTY",
            "values_rust::LAZY*",
            "values_rust::WEAK_*",
        ],
        "gdb without the printers of rustc shows how the library made them",
    ),
    ("values-rust", &["values_rust::RAW->x"], "Rust has no `->`, and gdb neither"),
    ("values-go", &["main.gSlice[1]", "main.gPoints[1].X"], "to gdb a slice is no array"),
    (
        "values-go",
        &[
            "main.gNilMap",
            "main.gNoMap",
            "main.gOneMap",
            "main.gAges",
            "main.gManyMap",
            "main.gPointMap",
            "main.gDeepMap",
            "main.gGrown",
            "main.gBoolMap",
            "main.gBigMap",
            "main.gWide",
            "main.gBothBig",
            "main.gManyBig",
            "main.gHuge",
            "main.gThinned",
            "main.gPtrMap",
            "main.gPtrKeys",
            "main.gAnyMap",
            "main.gChan",
            "main.gNoBuffer",
            "main.gClosed",
        ],
        "gdb without the printers of Go's runtime shows maps and channels as it made them",
    ),
    (
        "values-go",
        &["main.gFunc", "main.gClosure", "main.gNilFunc"],
        "shows where the closure lies, not its function",
    ),
];

fn names_it(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == pattern,
    }
}

/// What gdb tells differently: names and differences; and how many values it was asked for.
fn ask(dir: &Path, program: &str) -> (Vec<(String, String)>, usize) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/values/gdb_values.py");
    let mut gdb = Command::new("gdb");
    gdb.args(["-batch", "-nx"]);
    if program == "values-go" {
        // The names of its variables are no expressions of its own language.
        gdb.args(["-iex", "set language c"]);
    }
    let output = gdb
        .arg("-x")
        .arg(script)
        .args([program, "core"])
        .current_dir(dir)
        .env("VALUES", "values.jsonl")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |word: &'static str| text.lines().filter_map(move |line| line.strip_prefix(word));
    let differs = line("DIFFERS\t").filter_map(|line| line.split_once('\t'));
    let asked = line("ASKED\t").next().and_then(|count| count.parse().ok());
    let differs = differs.map(|(name, what)| (name.to_owned(), what.to_owned())).collect();
    (differs, asked.unwrap_or_else(|| panic!("gdb asked nothing: {output:?}")))
}

#[test]
fn gdb_tells_the_same_or_is_known_to_be_wrong() {
    let mut count = 0;
    let mut found = Vec::new();
    let mut used = vec![false; DIFFERS.len()];
    for (scenario, variant) in CASES {
        let case = match gen_cores::ensure(scenario, variant).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                used.iter_mut().zip(DIFFERS).for_each(|(used, row)| *used |= row.0 == scenario);
                continue;
            }
        };
        let (differs, asked) = ask(&case.dir, scenario);
        count += asked;
        for (name, what) in differs {
            let row = DIFFERS.iter().position(|(of, names, _)| {
                *of == scenario && names.iter().any(|pattern| names_it(pattern, &name))
            });
            match row {
                Some(row) => used[row] = true,
                None => found.push(format!("{}: {name}: {what}", case.name())),
            }
        }
    }
    let stale = used.iter().zip(DIFFERS).filter(|(used, _)| !**used);
    found.extend(stale.map(|(_, row)| format!("{} {:?}: not needed any more", row.0, row.1)));
    println!("gdb was asked for {count} values");
    assert!(found.is_empty(), "{} of {count} differ:\n{}", found.len(), found.join("\n"));
}
