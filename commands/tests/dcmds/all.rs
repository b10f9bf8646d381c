//! What holds for every dcmd and every walker.

use std::collections::HashSet;
use std::sync::Arc;

use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::{AddrUse, Group, Spec};

use kcore::Core;

use crate::harness::{core, json_on, open, run, run_on, text};

fn specs() -> impl Iterator<Item = Spec> {
    DCMDS.iter().map(|dcmd| dcmd.spec())
}

#[test]
fn names_are_unique() {
    let mut seen = HashSet::new();
    for spelling in specs().flat_map(|spec| spec.spellings().collect::<Vec<_>>()) {
        assert!(seen.insert(spelling.clone()), "{spelling}");
    }
    let walkers: HashSet<_> = WALKERS.iter().map(|walker| walker.spec().name).collect();
    assert_eq!(walkers.len(), WALKERS.len());
}

#[test]
fn summaries_are_one_short_line() {
    let walkers = WALKERS.iter().map(|walker| (walker.spec().name, walker.spec().summary));
    for (name, summary) in specs().map(|spec| (spec.name, spec.summary)).chain(walkers) {
        assert!((1..=79).contains(&summary.chars().count()) && !summary.ends_with('.'), "{name}");
        let first = summary.chars().next().unwrap_or_default();
        assert!(!first.is_uppercase() || summary.starts_with("LWP"), "{name}");
    }
}

#[test]
fn each_has_help_and_options_that_are_explained() {
    for spec in specs() {
        assert!(!spec.help.is_empty(), "{}", spec.name);
        let flags: HashSet<_> = spec.options.iter().map(|opt| opt.flag).collect();
        assert_eq!(flags.len(), spec.options.len(), "{}", spec.name);
        for opt in spec.options {
            assert!(!opt.help.is_empty(), "{} -{}", spec.name, opt.flag);
        }
    }
}

#[test]
fn usage_names_every_option_and_operand() {
    for spec in specs() {
        let usage = spec.usage();
        for opt in spec.options {
            match opt.value {
                Some(value) => assert!(usage.contains(&format!("[-{} {value}]", opt.flag))),
                None => assert!(usage.contains(opt.flag), "{usage}"),
            }
        }
        assert_eq!(spec.operands.usage.is_empty(), spec.operands.max == 0, "{usage}");
        assert_eq!(usage.starts_with("address"), spec.addr == AddrUse::Required, "{usage}");
    }
}

/// The core that the examples of a dcmd run on: those of types want some of known names, those of
/// runtimes a runtime.
fn core_of_examples(spec: &Spec) -> Arc<Core> {
    match spec.group {
        Group::Types => open("nodes", "O0-pie").core,
        Group::Runtimes if spec.name.starts_with("bthread") => open("bthreads", "O2-pie").core,
        Group::Runtimes if spec.name.starts_with("goroutine") => open("goroutines", "go1.19").core,
        Group::Runtimes if spec.name == "channel" => open("go-waits", "go1.27-stripped").core,
        Group::Runtimes if ["gotimers", "gocontexts", "gofinalizers"].contains(&spec.name) => {
            open("go-timers", "go1.19").core
        }
        Group::Runtimes if spec.name.starts_with("go") => open("go-heap", "go1.19").core,
        Group::Runtimes if spec.name.contains("java") => open("java-threads", "java11").core,
        Group::Runtimes if spec.name == "fibers" => open("fibers", "O2-pie").core,
        Group::Runtimes if ["classes", "path"].contains(&spec.name) => {
            open("python-stack", "python3.11").core
        }
        Group::Runtimes if spec.name == "greenlets" => open("greenlets", "python3.13").core,
        Group::Runtimes if spec.name == "trio" => open("trio", "python3.13").core,
        Group::Runtimes if spec.name == "tokio" => open("tokio-tasks", "release-pie").core,
        Group::Runtimes if spec.name == "reactors" => open("asio-coroutines", "O2-pie").core,
        Group::Runtimes if spec.name == "coroutines" => open("cpp-coroutines", "O2-pie").core,
        Group::Runtimes if spec.name.starts_with("erl") => {
            open("erlang-processes", "erlang25").core
        }
        Group::Runtimes if spec.name.starts_with("py") => open("python-stack", "python3.11").core,
        Group::Runtimes => open("node-waiting", "node24").core,
        _ if spec.name == "tasks" => open("fibers", "O2-pie").core,
        _ if spec.name == "findcontexts" => open("ucontexts", "O2-pie").core,
        _ if ["heap", "blocks", "heapcheck", "malloctypes"].contains(&spec.name) => {
            open("heap-glibc", "O2-pie").core
        }
        _ if ["findleaks", "reachedby", "reaches", "retained"].contains(&spec.name) => {
            open("heap-leaks", "O2-pie").core
        }
        _ => core(),
    }
}

#[test]
fn examples_run() {
    for spec in specs() {
        let core = core_of_examples(&spec);
        for example in spec.examples {
            let outcomes = run_on(&core, example.line);
            assert!(!outcomes.status.failed(), "{}: {}", example.line, outcomes.errors);
            assert!(!example.shows.is_empty());
            let records = json_on(&core, example.line);
            let errors = records.iter().filter(|record| record["type"] == "error");
            assert_eq!(errors.count(), 0, "{}", example.line);
        }
    }
}

#[test]
fn each_has_an_example_but_those_that_always_fail() {
    // The small core holds no jump buffer.
    let fails = |spec: &Spec| ["\\", "unload", "jmp_buf"].contains(&spec.name);
    for spec in specs().filter(|spec| spec.group != Group::Unsupported && !fails(spec)) {
        assert!(!spec.examples.is_empty(), "{}", spec.name);
    }
}

#[test]
fn each_has_a_page_of_help_that_fits_a_terminal() {
    for spec in specs() {
        for spelling in spec.spellings() {
            let page = text(&format!("::help '{spelling}'"));
            assert!(page.contains("NAME\n") && page.contains(spec.summary), "{spelling}");
            for line in page.lines().filter(|line| !line.contains(&spelling)) {
                assert!(line.chars().count() <= 100, "{spelling}: {line}");
            }
        }
    }
}

#[test]
fn wrong_calls_are_refused_and_do_no_harm() {
    let strange =
        ["-!", "--", "-n", "''", "$[-1]", "ffffffffffffffff", "-l -1", "-g 0 -w 0", "-f x -t x"];
    // `::log` takes any word for the name of a file, and makes it.
    for spec in specs().filter(|spec| spec.name != "log") {
        for spelling in spec.spellings() {
            for address in ["", "0", "-1", "-1,-1", "<rsp,0", "<rip"] {
                for words in strange {
                    run(&format!("{address}{spelling} {words}"));
                }
            }
        }
    }
}
