//! Variables and values of Python as dcmds show them, held against what the programs told before they died.

#[expect(dead_code, reason = "no committed core holds Python")]
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, LazyLock};

use gen_cores::{Case, Extent, Language, Truth, ensure_language};
use kcore::{Core, OpenOptions};
use kcore_shell::Source;
use serde_json::Value;

static CASES: LazyLock<Vec<(Case, Truth)>> = LazyLock::new(|| {
    let report = ensure_language(Language::Python, Extent::Usual).expect("cores are made");
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    let with_truth = |case: Case| case.truth().map(|truth| (case, truth)).expect("a truth");
    report.cases.into_iter().map(with_truth).collect()
});

fn cases(scenario: &str) -> impl Iterator<Item = &'static (Case, Truth)> {
    CASES.iter().filter(move |(case, _)| case.scenario == scenario)
}

fn open(case: &Case) -> Arc<Core> {
    let options = OpenOptions {
        core: Some(case.core.clone()),
        exe: Some(case.exe.clone()),
        ..OpenOptions::default()
    };
    Arc::new(Core::open(&options).expect("the core opens"))
}

fn answer(core: &Arc<Core>, line: &str) -> String {
    let mut session = support::session(core.clone());
    let answer = support::answer(&mut session, Source::Text, line);
    assert!(answer.errors.is_empty(), "{line}: {:?}", answer.errors);
    answer.out
}

/// A value without what only lays it out: blanks, and commas before a bracket that closes.
fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|sign| !sign.is_whitespace()).collect();
    [",)", ",]", ",}"].iter().fold(text, |text, end| text.replace(end, &end[1..]))
}

/// The lines below each frame of `::pystack -v`, those of one variable joined.
fn variables(text: &str) -> Vec<Vec<String>> {
    let mut frames: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("        ") {
            None => frames.push(Vec::new()),
            Some(own) => {
                let frame = frames.last_mut().expect("a frame comes first");
                match own.starts_with([' ', ')', ']', '}']) {
                    true => frame.last_mut().expect("a variable").push_str(own),
                    false => frame.push(own.to_owned()),
                }
            }
        }
    }
    frames
}

#[test]
fn every_variable_is_what_the_program_told() {
    let mut count = 0;
    for (case, truth) in cases("python-stack") {
        let core = open(case);
        for thread in &truth.threads {
            let shown = variables(&answer(&core, &format!("0t{}::pystack -v -d 4", thread.tid)));
            let calls: Vec<_> = thread.calls().collect();
            assert_eq!(shown.len(), calls.len(), "{} {}", case.name(), thread.role);
            for (call, shown) in calls.iter().zip(&shown) {
                let shown: Vec<String> = shown.iter().map(|line| plain(line)).collect();
                for (name, value) in call.scripted.locals.iter().flatten() {
                    let told = plain(&format!("{name} = {value}"));
                    assert!(
                        shown.contains(&told),
                        "{} {:?}: {told} in {shown:?}",
                        case.name(),
                        call.function
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(CASES.is_empty() || count > 100, "{count} variables");
}

/// The variables below each Python frame of `::stack -v`, the first line of each.
fn variables_on_stack(text: &str) -> Vec<Vec<String>> {
    let mut frames: Vec<Option<Vec<String>>> = Vec::new();
    for line in text.lines() {
        let own = line.strip_prefix(&" ".repeat(21)).filter(|own| !own.starts_with(' '));
        match (line.starts_with(' '), own) {
            (false, _) => frames.push(line.contains(" [python").then(Vec::new)),
            (true, Some(own)) => {
                frames.last_mut().into_iter().flatten().for_each(|it| it.push(own.to_owned()));
            }
            (true, None) => {}
        }
    }
    frames.into_iter().flatten().collect()
}

#[test]
fn a_stack_of_all_languages_has_the_variables_of_python() {
    let (mut names, mut values) = (0, 0);
    for (case, truth) in cases("python-stack") {
        let core = open(case);
        for thread in &truth.threads {
            let shown = variables_on_stack(&answer(&core, &format!("0t{}::stack -v", thread.tid)));
            let calls: Vec<_> = thread.calls().collect();
            assert_eq!(shown.len(), calls.len(), "{} {}", case.name(), thread.role);
            for (call, shown) in calls.iter().zip(&shown) {
                for (name, value) in call.scripted.locals.iter().flatten() {
                    let why = || format!("{} {:?}: {name} {shown:?}", case.name(), call.function);
                    let own = shown.iter().find_map(|it| it.strip_prefix(&format!("{name} = ")));
                    let own = own.unwrap_or_else(|| panic!("{}", why()));
                    names += 1;
                    // What has parts is not told as deep as the program does.
                    if !value.contains(['(', '[', '{', '<']) && value.len() < 60 {
                        assert_eq!(own, value, "{}", why());
                        values += 1;
                    }
                }
            }
        }
    }
    assert!(CASES.is_empty() || names > 100 && values > 50, "{names} names, {values} values");
}

fn told_values(case: &Case) -> Vec<Value> {
    let text = fs::read_to_string(case.dir.join("values.jsonl")).expect("values");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn every_value_is_what_the_program_told() {
    let scenarios = ["python-values", "python-flight", "python-natives"];
    let mut differences = Vec::new();
    for (case, _) in scenarios.into_iter().flat_map(cases) {
        let core = open(case);
        for value in told_values(case).iter().filter(|value| value["spelled"].is_string()) {
            let at = value["at"].as_str().expect("an address");
            let shown = answer(&core, &format!("{at}::pyprint -d 9 -N 4000 -l 200"));
            let told = plain(value["spelled"].as_str().expect("a spelling"));
            if plain(&shown) != told {
                let name = case.name();
                differences.push(format!("{name} {}: {} is {told}", value["name"], plain(&shown)));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn members_are_reached_by_paths() {
    for (case, _) in cases("python-values") {
        let core = open(case);
        let values = told_values(case);
        let at = |name: &str| {
            let value = values.iter().find(|value| value["name"] == name).expect("a value");
            value["at"].as_str().expect("an address").to_owned()
        };
        for (name, path, told) in [
            ("nested", "[1].a.b[0]", "3\n"),
            ("plain", "count", "3\n"),
            ("slotted below", "second[0]", "4\n"),
            ("slotted below", "more", "'attribute'\n"),
            ("dict", "[2]", "'b'\n"),
        ] {
            let shown = answer(&core, &format!("{}::pyprint {path}", at(name)));
            assert_eq!(shown, told, "{} {name} {path}", case.name());
        }
    }
}

#[test]
fn members_of_what_c_code_made_are_reached_by_paths() {
    for (case, _) in cases("python-natives") {
        let core = open(case);
        let values = told_values(case);
        for (name, path, told) in [
            ("deque", "[1][0]", "2\n"),
            ("rolled", "[0]", "'left'\n"),
            ("long deque", "[150]", "150\n"),
            ("moved", "[3]", "'3'\n"),
            ("namespace", "b[0]", "2\n"),
            ("partial", "keywords.base", "8\n"),
            ("named", "port", "80\n"),
            ("pair", "second[0]", "2\n"),
            ("int", "note", "'more'\n"),
            ("numbered", "[5]", "'five'\n"),
            ("bound", "__self__", "'text'\n"),
            ("exception", "detail[0]", "2\n"),
            ("FileNotFoundError", "filename2", "'/no/such/b'\n"),
            ("FileNotFoundError", "__traceback__.tb_frame.arguments[0]", "'/no/such/a'\n"),
            ("KeyError", "__context__.args[0]", "'context'\n"),
            ("KeyError", "__suppress_context__", "True\n"),
        ] {
            let value = values.iter().find(|value| value["name"] == name).expect("a value");
            let at = value["at"].as_str().expect("an address");
            let shown = answer(&core, &format!("{at}::pyprint {path}"));
            assert_eq!(shown, told, "{} {name} {path}", case.name());
        }
    }
}

#[test]
fn a_traceback_says_where_it_was() {
    for (case, _) in cases("python-natives") {
        let core = open(case);
        let values = told_values(case);
        let value = values.iter().find(|value| value["name"] == "FileNotFoundError");
        let at = value.expect("a value")["at"].as_str().expect("an address");
        for (path, line) in [("__traceback__", "tb_lineno"), ("__traceback__.tb_frame", "f_lineno")]
        {
            let shown = answer(&core, &format!("{at}::pyprint {path}"));
            assert!(shown.contains("function='raised'"), "{}: {shown}", case.name());
            let line = answer(&core, &format!("{at}::pyprint {path}.{line}"));
            let place = format!("main.py:{}'", line.trim());
            assert!(shown.contains(&place), "{}: {place} in {shown}", case.name());
        }
    }
}

#[test]
fn what_builtin_types_keep_is_a_member() {
    for (case, _) in cases("python-values") {
        let core = open(case);
        let at = |name: &str| {
            let values = told_values(case);
            let value = values.iter().find(|value| value["name"] == name).expect("a value");
            value["at"].as_str().expect("an address").to_owned()
        };
        let shown =
            |name: &str, path: &str| answer(&core, &format!("{}::pyprint {path}", at(name)));
        assert_eq!(shown("exception", "args[1]"), "7\n", "{}", case.name());
        assert_eq!(shown("module", "name"), "'posix'\n", "{}", case.name());
        let code = shown("function", "__code__");
        assert!(code.starts_with("<code function at "), "{}: {code}", case.name());
        assert!(
            shown("class", "__init__").starts_with("<function Plain.__init__"),
            "{}",
            case.name()
        );
    }
}

#[test]
fn an_address_inside_of_an_object_is_known() {
    for (case, _) in cases("python-values") {
        let core = open(case);
        for (name, class, inside) in
            [("latin", "str", 0x30), ("big", "int", 0x18), ("slotted", "Slotted", 0x10)]
        {
            let values = told_values(case);
            let value = values.iter().find(|value| value["name"] == name).expect("a value");
            let at = value["at"].as_str().expect("an address").trim_start_matches("0x").to_owned();
            let shown = answer(&core, &format!("{at}+{inside:x}::whatis"));
            let told = format!(" is {at}+{inside:#x}, {class} of ");
            assert!(shown.contains(&told), "{}: {shown}", case.name());
        }
    }
}

#[test]
fn who_refers_to_an_object_is_told() {
    for (case, _) in cases("python-referrers") {
        let core = open(case);
        for value in told_values(case) {
            let at = value["at"].as_str().expect("an address").to_owned();
            let shown = answer(&core, &format!("{at}::pyobjects -r"));
            let way = |line: &str| {
                let (_, referrer) = line.split_once(" referred to by ").expect("a referrer");
                referrer.split_once(' ').expect("an address").1.to_owned()
            };
            // To 3.12 a frame keeps the dict in which the program looked for what to tell of it.
            let looked = |way: &String| way == "dict[\"variable\"]";
            let shown = shown.lines().map(way);
            let mut shown: Vec<String> = shown.filter(|way| !looked(way)).collect();
            shown.sort();
            let told = value["referrers"].as_array().expect("referrers").iter();
            let mut told: Vec<&str> = told.map(|it| it.as_str().expect("a referrer")).collect();
            told.sort_unstable();
            assert_eq!(shown, told, "{} {}", case.name(), value["name"]);
        }
    }
}

#[test]
fn references_are_those_that_dcmds_of_all_languages_find() {
    for (case, _) in cases("python-referrers") {
        let core = open(case);
        for value in told_values(case) {
            let at = value["at"].as_str().expect("an address");
            let own = answer(&core, &format!("{at}::pyobjects -r"));
            assert_eq!(answer(&core, &format!("{at}::refs")), own, "{}", case.name());
        }
    }
}

#[test]
fn a_path_begins_at_a_root_that_the_program_has() {
    for (case, _) in cases("python-referrers") {
        let core = open(case);
        let values = told_values(case);
        let path = |name: &str| {
            let value = values.iter().find(|value| value["name"] == name).expect("a value");
            let at = value["at"].as_str().expect("an address").trim_start_matches("0x").to_owned();
            (answer(&core, &format!("{at}::path")), at)
        };
        let (target, at) = path("target");
        let lines: Vec<&str> = target.lines().collect();
        let root = "the variable variable of local_of_thread() of thread ";
        assert!(lines[0].starts_with(root), "{}: {target}", case.name());
        assert_eq!(lines[1..], [format!("    {at} Target")], "{}", case.name());
        let (text, at) = path("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "the module __main__", "{}: {text}", case.name());
        assert_eq!(lines[2], format!("    .text {at} str"), "{}: {text}", case.name());
    }
}

/// Each step is a reference that the search for referrers, which goes the other way, finds too.
#[test]
fn each_step_of_a_path_is_a_reference() {
    for (case, _) in cases("python-referrers") {
        let core = open(case);
        let mut steps = 0;
        for class in ["Holder", "Slotted", "generator", "cell", "Thread"] {
            let objects = answer(&core, &format!("::classes -c {class} | ::head -3"));
            for at in objects.lines() {
                let shown = answer(&core, &format!("{at}::path"));
                // Some cells belong to classes of the library that nothing known keeps.
                let is_guessed = shown.lines().next().expect("a root").contains("guessed");
                assert!(!is_guessed || class == "cell", "{shown}");
                let way: Vec<&str> = shown.lines().skip(1).map(str::trim_start).collect();
                for pair in way.windows(2) {
                    let before = pair[0].split(' ').rev().nth(1).expect("an address");
                    let (edge, at) = pair[1]
                        .rsplit_once(' ')
                        .expect("a class")
                        .0
                        .rsplit_once(' ')
                        .expect("an edge");
                    let found = answer(&core, &format!("{at}::refs"));
                    let is_it = |line: &str| {
                        line.contains(&format!(" by {before} ")) && line.ends_with(edge)
                    };
                    assert!(found.lines().any(is_it), "{}: {shown} {found}", case.name());
                    steps += 1;
                }
            }
        }
        assert!(steps > 5, "{}: {steps}", case.name());
    }
}

#[test]
fn classes_are_counted_and_retain_what_only_they_keep() {
    for (case, _) in cases("python-heap") {
        let core = open(case);
        let told = &told_values(case)[0];
        let class = told["class"].as_str().expect("a class");
        let shown = answer(&core, "::classes -a");
        let line = shown.lines().find(|line| line.ends_with(&format!(" {class}")));
        let words: Vec<&str> = line.expect("the class").split_whitespace().collect();
        assert_eq!(words[0].parse().ok(), told["count"].as_u64(), "{}", case.name());
        let shown = answer(&core, "::classes -ra");
        let line = shown.lines().find(|line| line.ends_with(&format!(" {class}")));
        let words: Vec<u64> =
            line.expect("the class").split_whitespace().take(3).flat_map(str::parse).collect();
        let [_, bytes, retained] = words[..] else { panic!("{line:?}") };
        assert!(retained >= bytes && bytes > 0, "{}: {line:?}", case.name());
    }
}

#[test]
fn a_generator_is_what_it_does_with_its_variables() {
    for (case, _) in cases("python-referrers") {
        let core = open(case);
        let at = told_values(case)[1]["at"].as_str().expect("an address").to_owned();
        let referrers = answer(&core, &format!("{at}::pyobjects -r"));
        let line = referrers.lines().find(|line| line.ends_with("generator<variable held>"));
        let (_, generator) = line.expect("it refers to it").split_once(" referred to by ").unwrap();
        let generator = generator.split_whitespace().next().expect("an address");
        let shown = answer(&core, &format!("{generator}::pyprint"));
        for told in
            ["function='generator'", "state='suspended'", "held='a text of its own'", "main.py:"]
        {
            assert!(shown.contains(told), "{}: {shown}", case.name());
        }
        let held = answer(&core, &format!("{generator}::pyprint held"));
        assert_eq!(held, "'a text of its own'\n", "{}", case.name());
    }
}

#[test]
fn a_million_objects_are_counted_exactly() {
    for (case, _) in cases("python-heap") {
        let core = open(case);
        let told = &told_values(case)[0];
        let groups = answer(&core, "::pyobjects");
        let is_it =
            |line: &&str| line.contains(&format!(" {} (one at ", told["class"].as_str().unwrap()));
        let line = groups.lines().find(is_it).expect("the class");
        let count: u64 = line.split_whitespace().next().unwrap().parse().expect("a count");
        assert_eq!(Some(count), told["count"].as_u64(), "{}", case.name());
    }
}

#[test]
fn tasks_are_told_with_what_they_await() {
    for (case, _) in cases("python-async") {
        let shown = answer(&open(case), "::pytasks");
        let mut tasks: Vec<String> = Vec::new();
        for line in shown.lines() {
            match line.strip_prefix("        ") {
                // The file may be told as a whole.
                Some(frame) => {
                    let (name, place) = frame.split_once(" at ").expect("a frame");
                    let place = place.rsplit('/').next().expect("a place");
                    tasks.last_mut().expect("a task").push_str(&format!(" {name} {place}"));
                }
                None => tasks.push(line.split_once(' ').expect("an address").1.to_owned()),
            }
        }
        let tasks: BTreeSet<String> = tasks.iter().map(|task| without_address(task)).collect();
        let told: BTreeSet<String> = told_values(case)
            .iter()
            .map(|task| task["task"].as_str().expect("a task").to_owned())
            .collect();
        assert_eq!(tasks, told, "{}", case.name());
    }
}

/// A task without where that lies which it awaits.
fn without_address(task: &str) -> String {
    match task.split_once(" at ") {
        None => task.to_owned(),
        Some((before, after)) => {
            let rest = after.split_once(' ').map_or("", |(_, rest)| rest);
            format!("{before} {rest}").trim_end().to_owned()
        }
    }
}

#[test]
fn all_instances_of_a_class_are_counted() {
    for (case, _) in cases("python-values") {
        let core = open(case);
        // Those of the crowd, and one that is told.
        let instances = answer(&core, "::pyobjects -c Slotted");
        assert_eq!(instances.lines().count(), 20_001, "{}", case.name());
        let groups = answer(&core, "::pyobjects");
        assert!(groups.contains(" Slotted (one at "), "{}: {groups}", case.name());
    }
}
