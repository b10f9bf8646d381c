//! Every scenario's folder is complete and follows the rules of README.md.

use std::collections::BTreeSet;

use gen_cores::{Language, Maker, Scenario, scenarios};

/// Scenarios of which gdb cannot save a useful core, as their recipes say (it stops at the first of two signals that are
/// the same), and those in which it does not matter who saved it: what they have is looked for in stacks that others of
/// their language hold against both.
const WITHOUT_GCORE: &[&str] = &[
    "asio-coroutines",
    "cpp-coroutines-many",
    "go-bubbles",
    "go-callback",
    "go-contexts",
    "go-ends",
    "go-ends-again",
    "go-ends-deadlock",
    "go-ends-exit",
    "go-ends-fault",
    "go-ends-itself",
    "go-ends-maps",
    "go-ends-memory",
    "go-ends-nil",
    "go-ends-overflow",
    "go-ends-quit",
    "go-heap",
    "go-plugin",
    "go-library",
    "go-library-20",
    "go-race",
    "go-shared",
    "go-timers",
    "go-variables",
    "go-variables-plain",
    "go-waits",
    "goroutines-many",
    "heap-asan",
    "heap-asan-19",
    "heap-asan-clang",
    "heap-google-tcmalloc-prof",
    "heap-google-tcmalloc-threads",
    "heap-leaks-asan",
    "heap-torn-list",
    "heap-torn-size",
    "heap-torn-top",
    "heap-torn-twice",
    "heap-types-cpp",
    "heap-types-rust",
    "java-crash",
    "java-locals",
    "locals",
    "locals-cpp",
    "locals-rust",
    "main-exited",
    "php-fibers",
    "ruby-ractors",
    "signal-again",
    "signal-again-alarm",
    "signal-again-altstack",
    "signal-again-division",
    "signal-again-non-canonical",
    "signal-again-other",
    "signal-again-plain",
    "stack-overflow-handled",
    "trio",
    "trio-old",
    "why-glib-assert",
    "why-glib-critical",
    "why-glib-error",
    "why-glog",
    "why-map-failed",
    "why-nested-exception",
    "why-noexcept",
    "why-null-element",
    "why-null-passed",
    "why-rseq",
    "why-rust-allocation",
    "why-several-bases",
    "why-small-stack",
];

fn all() -> Vec<Scenario> {
    scenarios().unwrap()
}

#[test]
fn every_folder_is_a_scenario_or_holds_sources_of_one() {
    let sources: BTreeSet<_> =
        all().iter().filter_map(|s| s.source().parent().map(ToOwned::to_owned)).collect();
    for entry in std::fs::read_dir(gen_cores::scenarios_dir()).unwrap() {
        let dir = entry.unwrap().path();
        let used = dir.join("recipe.toml").is_file() || sources.contains(&dir);
        assert!(used, "{} is no scenario and holds no source of one", dir.display());
    }
}

#[test]
fn every_source_says_what_it_shows() {
    for scenario in all() {
        let text = std::fs::read_to_string(scenario.source()).unwrap();
        let starts: &[&str] = match scenario.recipe.language {
            Language::C => &["/*"],
            Language::Cpp => &["//", "/*"],
            Language::Go | Language::JavaScript | Language::Java => &["//"],
            Language::Rust => &["//!"],
            Language::Python => &["\"\"\""],
            Language::Ruby => &["#"],
            Language::Lua => &["--"],
            Language::Perl => &["#"],
            Language::Erlang => &["%"],
            Language::Php => &["<?php\n//"],
        };
        let has_comment = starts.iter().any(|start| text.starts_with(start));
        assert!(has_comment, "{}: no comment at its head", scenario.name);
    }
}

#[test]
fn every_scenario_is_dumped_by_the_kernel_and_by_gdb() {
    for scenario in all() {
        let has = |maker| scenario.all_variants().any(|variant| variant.maker == maker);
        assert!(has(Maker::Kernel), "{}: no kernel core", scenario.name);
        let excused = WITHOUT_GCORE.contains(&scenario.name.as_str());
        assert_ne!(has(Maker::Gcore), excused, "{}: gcore", scenario.name);
    }
}

#[test]
fn variants_are_named_once() {
    for scenario in all() {
        let names: BTreeSet<_> = scenario.all_variants().map(|v| &v.name).collect();
        assert_eq!(names.len(), scenario.all_variants().count(), "{}", scenario.name);
    }
}

#[test]
fn unknown_names_are_errors() {
    let error = gen_cores::ensure("no-such", "O2-pie").unwrap_err().to_string();
    assert_eq!(error, "no scenario `no-such`: `gen-cores --list` shows all");
    let error = gen_cores::ensure("leaf", "O9").unwrap_err().to_string();
    assert_eq!(error, "`leaf` has no variant `O9`: `gen-cores --list` shows all");
}
