//! Each program has one finding, and every line that shows its evidence runs.

use std::path::Path;

use gen_cores::{Case, Truth};
use serde_json::Value;

use super::{
    analysis, case,
    claims::{CLAIMS, Claim, HEALTHY, RUNTIMES, UNTOLD},
    commands, findings, kcore,
};

#[test]
fn a_program_has_the_finding_of_its_bug_and_no_other() {
    for claim in CLAIMS {
        for (variant, sure) in claim.variants.iter().zip(claim.sure) {
            let Some(case) = case(claim.scenario, variant) else { continue };
            let said = analysis(&case.core);
            check(claim, sure, &case, findings(&said));
        }
    }
}

#[test]
fn without_the_words_of_the_kernel_a_finding_is_at_most_likely() {
    check_each(UNTOLD, "likely");
}

#[test]
fn runtimes_tell_why_and_the_place_is_the_programs_own() {
    check_each(RUNTIMES, "certain");
}

fn check_each(claims: &[(&str, &str, &str, &str)], sure: &str) {
    for (scenario, variant, finder, says) in claims {
        let Some(case) = case(scenario, variant) else { continue };
        let said = analysis(&case.core);
        let [finding] = findings(&said) else { panic!("{scenario}: {said:#}") };
        let facts = (&finding["finder"], &finding["confidence"]);
        assert_eq!(facts, (&(*finder).into(), &sure.into()), "{scenario}");
        assert!(finding["sentence"].as_str().unwrap().contains(says), "{scenario}: {finding:#}");
        runs_all(scenario, &case.core, finding);
    }
}

#[test]
fn a_process_that_waits_has_no_finding() {
    for (scenario, variant) in HEALTHY {
        let Some(case) = case(scenario, variant) else { continue };
        let said = analysis(&case.core);
        assert_eq!(
            (findings(&said).len(), &said["tid"]),
            (0, &Value::Null),
            "{scenario}: {said:#}"
        );
    }
}

fn check(claim: &Claim, sure: &str, case: &Case, findings: &[Value]) {
    let name = format!("{}/{}", case.scenario, case.variant);
    let [finding] = findings else { panic!("{name}: not one finding: {findings:#?}") };
    assert_eq!(
        (&finding["finder"], &finding["confidence"]),
        (&claim.finder.into(), &sure.into()),
        "{name}"
    );
    let sentence = finding["sentence"].as_str().unwrap();
    let facts = serde_json::to_value(Truth::load(&case.truth_path).unwrap()).unwrap();
    for part in claim.says {
        let part = filled_in(part, &facts);
        assert!(sentence.contains(&part), "{name}: no '{part}' in '{sentence}'");
    }
    runs_all(&name, &case.core, finding);
}

/// The lines that show the evidence succeed, and show something.
pub fn runs_all(name: &str, core: &Path, finding: &Value) {
    for command in commands(finding) {
        let output = kcore(&["-c", command], core);
        assert!(output.status.success(), "{name}: {command}: {output:?}");
        assert!(!output.stdout.is_empty(), "{name}: {command} shows nothing");
    }
}

/// A part of a sentence, with the facts of the program in it.
fn filled_in(part: &str, facts: &Value) -> String {
    let Some((before, rest)) = part.split_once('{') else { return part.to_owned() };
    let (fact, after) = rest.split_once('}').expect("a closed brace");
    let value = facts[fact].as_str().unwrap_or_else(|| panic!("no fact '{fact}'"));
    format!("{before}{value}{after}")
}
