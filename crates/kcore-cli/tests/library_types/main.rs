//! Types of libraries and arrays of Fortran: what kcore shows of them is what the programs told of them before they died.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod program;

use program::{Asked, BUILDS};

/// Whether an answer is the truth; else what it is.
fn check(asked: &Asked, verb: &str, path: &str, truth: &str) -> Result<(), String> {
    let text = || asked.text(path);
    let value = || asked.value(path);
    let number = |value: &serde_json::Value| value.to_string().trim_matches('"').to_owned();
    let seen = match verb {
        "means" => value()["symbol"].as_str().unwrap_or_default().to_owned(),
        "number" => number(&value()["value"]),
        "text" => value()["value"].as_str().unwrap_or_default().to_owned(),
        "total" => number(&value()["total"]),
        "holds" => number(&value()["children"][0]["value"]),
        "use" | "weak" => number(&value()["counts"][verb]),
        "has" if text().contains(truth) => return Ok(()),
        _ => text(),
    };
    match seen == truth {
        true => Ok(()),
        false => Err(format!("{verb} {path}: should be {truth}, is {seen}: {}", text())),
    }
}

fn wrong(name: &str, asked: Option<Asked>) -> (usize, Vec<String>) {
    let Some(asked) = asked else { return (0, Vec::new()) };
    let told = asked.told();
    let failed = told.iter().filter_map(|line| {
        let [verb, path, truth] = line.splitn(3, '\t').collect::<Vec<_>>().try_into().unwrap();
        check(&asked, verb, path, truth).err()
    });
    let failed = failed.map(|what| format!("{name}: {what}")).collect();
    (told.len(), failed)
}

#[test]
fn every_value_is_what_its_program_told() {
    let (mut count, mut failed) = (0, Vec::new());
    for build in BUILDS {
        let (told, wrong) = wrong(&build.name(), build.made());
        count += told;
        failed.extend(wrong);
    }
    println!("{count} values");
    assert!(failed.is_empty(), "{} of {count} differ:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_value_of_a_crate_is_what_its_program_told() {
    if gen_cores::is_short_run() {
        return gen_cores::not_tested("crates of Rust: a short run builds none of the registry");
    }
    let (count, failed) = wrong("crates", program::of_crates());
    println!("{count} values");
    assert!(failed.is_empty(), "{} of {count} differ:\n{}", failed.len(), failed.join("\n"));
}
