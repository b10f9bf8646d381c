//! Timers, contexts, parts of `sync` and what is called when objects are gone, held against what the program told.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use gen_cores::Case;
use serde_json::Value;

use kcore::OpenOptions;

use crate::{Opened, cases, harness, open};

const BOTH: [&str; 2] = ["go-timers", "go-contexts"];

/// The lines of what was told that begin with a word, as words.
fn told(case: &Case, of: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(case.dir.join("timers.txt")).expect("what it told");
    let lines = text.lines().filter_map(|line| line.strip_prefix(of)?.strip_prefix(' '));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// A number that the program or a record has in hexadecimal.
fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number")
}

fn address(value: &Value) -> Option<u64> {
    value.as_str().map(hex)
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

/// Whether a timer does what was told, for whom.
fn does(timer: &Value, what: &str, whom: &str) -> bool {
    let known = match what {
        "sleep" | "channel" => {
            timer["goroutines"].as_array().is_some_and(|all| all == &[Value::from(number(whom))])
        }
        "function" => timer["function"] == whom,
        _ => timer["fd"] == number(whom),
    };
    timer["what"] == what && known
}

#[test]
fn timers_are_those_that_the_program_waits_for() {
    for case in cases("go-timers") {
        let core = open(&case);
        let timers = core.records("::gotimers");
        let all = told(&case, "timer");
        assert_eq!(all.len(), 6, "{}", core.name);
        for told in all {
            let [what, whom, period, from, to] = told.as_slice() else { panic!("{told:?}") };
            let found: Vec<&Value> =
                timers.iter().filter(|timer| does(timer, what, whom)).collect();
            assert_eq!(found.len(), 1, "{} {told:?}: {timers:?}", core.name);
            let deadline = found[0]["deadline"].as_u64().expect("a deadline");
            assert!((number(from)..=number(to)).contains(&deadline), "{} {told:?}", core.name);
            assert_eq!(found[0]["period"].as_u64().unwrap_or(0), number(period), "{told:?}");
        }
        // Another stands for the end of a context, and none for what was stopped.
        let hours = |timer: &&Value| timer["function"].as_str() == Some("main.rings");
        assert_eq!(timers.iter().filter(hours).count(), 1, "{}: {timers:?}", core.name);
        let ends = |timer: &&Value| {
            timer["function"].as_str().is_some_and(|name| name.starts_with("context.WithDeadline"))
        };
        assert_eq!(timers.iter().filter(ends).count(), 1, "{}: {timers:?}", core.name);
    }
}

#[test]
fn a_goroutine_that_sleeps_says_until_when() {
    for case in cases("go-timers") {
        let core = open(&case);
        let sleep = told(&case, "timer").into_iter().find(|told| told[0] == "sleep");
        let sleep = sleep.expect("one that sleeps");
        let listed = core.records("::goroutines");
        let record = listed.iter().find(|record| record["id"] == number(&sleep[1]));
        let until = record.expect("a goroutine")["sleeps_until"].as_u64();
        let range = number(&sleep[3])..=number(&sleep[4]);
        assert!(until.is_some_and(|until| range.contains(&until)), "{}: {until:?}", core.name);
    }
}

/// What a record says, in the words of the program.
fn spelled(record: &Value) -> String {
    let mut words = match record["ended"].as_str() {
        Some(why) => format!("ended why={why}"),
        None => "open".to_owned(),
    };
    let text = |key: &str| record[key].as_str().map(|text| format!(" {key}={text}"));
    words.extend(["cause", "key", "value"].into_iter().filter_map(text));
    words.extend(record["context_type"].as_str().map(|text| format!(" type={text}")));
    let is_open = record["ended"].is_null();
    // Numbers that others would round are texts.
    if let Some(deadline) = record["deadline"].as_str().filter(|_| is_open) {
        words.push_str(&format!(" deadline={deadline}"));
    }
    words
}

fn contexts(core: &Opened) -> BTreeMap<u64, Value> {
    let all = core.records("::gocontexts").into_iter();
    all.map(|record| (address(&record["address"]).expect("an address"), record)).collect()
}

/// Words that stand side by side on a stack need not belong together: no object of another type is taken for a context.
#[test]
fn no_other_object_is_a_context() {
    for scenario in ["go-timers", "go-contexts", "go-waits", "goroutines", "go-heap"] {
        for core in cases(scenario).iter().map(open) {
            let known = core.core.runtimes().of::<kcore::go::Go>().next().is_some();
            assert!(known, "{}", core.name);
            for context in harness::json_on(&core.core, "::gocontexts") {
                let Some(at) = context["address"].as_str() else { continue };
                let what = core.records(&format!("{at}::whatis")).remove(0);
                let what = what["object"].as_str().unwrap_or_default().to_owned();
                let is_unknown = what.contains("bytes with pointers)");
                let own = context["context_type"].as_str();
                let is_own = own.is_some_and(|own| what.contains(own));
                let is_one = is_own || what.contains("context.") || what.contains("signal.");
                assert!(is_unknown || is_one, "{}: {context} {what}", core.name);
            }
        }
    }
}

#[test]
fn contexts_have_their_chain() {
    for case in BOTH.into_iter().flat_map(cases) {
        let core = open(&case);
        let found = contexts(&core);
        let all = told(&case, "context");
        assert!(all.len() >= 4, "{}", core.name);
        for told in all {
            let record =
                &found.get(&hex(&told[0])).unwrap_or_else(|| panic!("{told:?}: {found:?}"));
            assert_eq!(record["context"], told[2].as_str(), "{} {told:?}", core.name);
            let parent = address(&record["parent"]).unwrap_or(0);
            let is_root = hex(&told[1]) == 0;
            assert!(is_root || parent == hex(&told[1]), "{} {told:?}: {record}", core.name);
            let mut expected: Vec<&str> = told[3..].iter().map(String::as_str).collect();
            let rest = expected.iter().position(|word| word.starts_with("waits="));
            if let Some(waits) = rest.map(|index| expected.remove(index)) {
                let id = number(waits.trim_start_matches("waits="));
                assert_eq!(record["goroutines"], Value::from(vec![id]), "{}", core.name);
            }
            let rest = expected.iter().position(|word| word.starts_with("children="));
            if let Some(children) = rest.map(|index| expected.remove(index)) {
                let count = number(children.trim_start_matches("children="));
                assert_eq!(record["children"], count, "{} {record}", core.name);
            }
            assert_eq!(spelled(record), expected.join(" "), "{} {record}", core.name);
        }
    }
}

/// A structure without the context that makes it one is none, whatever its type.
#[test]
fn contexts_of_a_program_stand_in_the_chain() {
    for case in cases("go-contexts") {
        let core = open(&case);
        let own: Vec<Value> = contexts(&core).into_values().collect();
        let named = |name: &str| {
            let is_it = |record: &&Value| record["context_type"] == name;
            own.iter().filter(is_it).count()
        };
        assert_eq!((named("main.request"), named("main.scope")), (1, 1), "{}: {own:?}", core.name);
        let told = told(&case, "context");
        let inner = told.iter().find(|told| told.last().unwrap() == "type=main.scope").unwrap();
        let below = told.iter().find(|told| told[1] == inner[0]).unwrap();
        let chain = core.records(&format!("{}::gocontexts", below[0]));
        let kinds: Vec<&str> = chain.iter().filter_map(|it| it["context"].as_str()).collect();
        assert_eq!(kinds, ["cancel", "own", "own", "cancel"], "{}: {chain:?}", core.name);
    }
}

#[test]
fn the_chain_of_one_leads_to_its_root() {
    for case in cases("go-timers") {
        let core = open(&case);
        let all = told(&case, "context");
        let ended = all.iter().rfind(|told| told[2] == "cancel").expect("one that ended");
        let chain = core.records(&format!("{}::gocontexts", ended[0]));
        let found: Vec<u64> =
            chain.iter().filter_map(|record| address(&record["address"])).collect();
        let expected: Vec<u64> = [3, 2, 1, 0].map(|index: usize| hex(&all[index][0])).to_vec();
        assert_eq!(found, expected, "{}", core.name);
        let open = core.records("::gocontexts -o");
        assert!(open.iter().all(|record| record["ended"].is_null()), "{}", core.name);
        assert!(open.len() >= 3, "{}: {open:?}", core.name);
    }
}

#[test]
fn functions_that_run_after_a_context_are_named() {
    for case in cases("go-contexts") {
        let core = open(&case);
        for told in told(&case, "after") {
            let all = contexts(&core);
            let called = all.values().find(|record| record["context"] == "after_func");
            let called = called.expect("a function that waits for a context");
            assert_eq!(called["function"], told[1].as_str(), "{}", core.name);
            assert_eq!(address(&called["parent"]), Some(hex(&told[0])), "{}", core.name);
        }
    }
}

#[test]
fn parts_of_sync_are_told_from_each_other() {
    for case in cases("go-timers") {
        let core = open(&case);
        let listed = core.records("::goroutines");
        let all = told(&case, "waits");
        assert_eq!(all.len(), 4, "{}", core.name);
        for told in all {
            let record = listed.iter().find(|record| record["id"] == number(&told[0]));
            let record = record.expect("a goroutine");
            assert_eq!(record["semaphore_kind"], told[2].as_str(), "{} {record}", core.name);
            assert_eq!(address(&record["semaphore"]), Some(hex(&told[1])), "{}", core.name);
            let waiting = core.records(&format!("::goroutines -w {}", &told[1]));
            assert!(waiting.contains(record), "{} {told:?}", core.name);
        }
    }
}

#[test]
fn what_is_called_when_objects_are_gone_is_listed() {
    for case in BOTH.into_iter().flat_map(cases) {
        let core = open(&case);
        let found = core.records("::gofinalizers");
        for told in told(&case, "special") {
            let is_it = |record: &&Value| {
                address(&record["address"]) == Some(hex(&told[1]))
                    && record["what"] == told[0].as_str()
                    && record["function"] == told[2].as_str()
                    && record["go_type"] == told[3].as_str()
            };
            assert_eq!(found.iter().filter(is_it).count(), 1, "{} {told:?}: {found:?}", core.name);
        }
    }
}

/// Lines that read all that is tested here.
const LINES: &str = "::gotimers; ::gocontexts; ::gofinalizers; ::goroutines | ::goroutine";

/// What the lines show on a core that is damaged by a change of its bytes.
fn hurt(case: &Case, name: &str, damage: &dyn Fn(&mut Vec<u8>)) -> Vec<Value> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut bytes = fs::read(&case.core).expect("the core");
    damage(&mut bytes);
    fs::write(&path, &bytes).expect("a copy");
    let exe = Some(case.exe.clone());
    let options = OpenOptions { core: Some(path.clone()), exe, ..OpenOptions::default() };
    let core = Arc::new(kcore::Core::open(&options).expect("it opens"));
    let records = harness::json_on(&core, LINES);
    fs::remove_file(path).expect("the copy goes");
    records
}

#[test]
fn damaged_cores_show_no_more_than_whole_ones() {
    let stripped = |case: &Case| case.name().ends_with("go1.27-stripped");
    let Some(case) = cases("go-timers").into_iter().find(stripped) else { return };
    let told = |records: &[Value], what: &str| {
        records.iter().filter(|record| record["type"] == what).count()
    };
    let whole = hurt(&case, "go-timers-whole", &|_| {});
    for part in [2, 6, 10, 14] {
        let cut = hurt(&case, &format!("go-timers-cut-{part}"), &|bytes| {
            bytes.truncate(bytes.len() / 16 * part);
        });
        for what in ["go_timer", "go_context", "go_special"] {
            assert!(told(&cut, what) <= told(&whole, what), "{part}/16: {what}");
        }
    }
    for seed in [0x11_u8, 0x6b, 0xf0] {
        // A byte of each 499 behind the headers: many pointers and fields, and no whole structure.
        let flipped = hurt(&case, &format!("go-timers-flipped-{seed}"), &|bytes| {
            bytes.iter_mut().skip(0x4000).step_by(499).for_each(|byte| *byte ^= seed);
        });
        assert!(flipped.len() < 10 * whole.len() + 100, "{seed}: {}", flipped.len());
    }
}
