//! Libraries that end the process after a failed check: their words are shown, and where in the program that was.

use super::{analysis, case, findings, gallery::runs_all};

/// The scenario, and what the sentence begins and ends with.
const ENDS: &[(&str, &str, &str)] = &[
    (
        "why-glib-assert",
        "GLib ended the process: ERROR:",
        ":add: assertion failed: (used <= size), in add",
    ),
    (
        "why-glib-critical",
        "GLib ended the process: add: assertion 'used <= size' failed, in add",
        "",
    ),
    ("why-glib-error", "GLib ended the process: no room for 9 of table, in add", "in add"),
    (
        "why-glog",
        "glog ended the process: F20",
        "] Check failed: used <= size (9 vs. 3) the table is full, in app::add",
    ),
];

#[test]
fn a_library_that_ended_the_process_is_named_with_its_words() {
    for (scenario, begins, ends) in ENDS {
        let Some(case) = case(scenario, "O2-pie") else { continue };
        let said = analysis(&case.core);
        let [finding] = findings(&said) else { panic!("{scenario}: {said:#}") };
        let facts = (&finding["finder"], &finding["confidence"]);
        assert_eq!(facts, (&"last-words".into(), &"certain".into()), "{scenario}");
        let sentence = finding["sentence"].as_str().unwrap();
        let is_told = sentence.starts_with(begins) && sentence.ends_with(ends);
        assert!(is_told, "{scenario}: {sentence}");
        runs_all(scenario, &case.core, finding);
    }
}
