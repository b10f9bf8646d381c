//! Messages, as Erlang prints them.

use serde_json::Value;

use crate::{Opened, cases, number, text};

#[test]
fn messages_are_printed_as_erlang_does() {
    for opened in cases().iter().map(Opened::of) {
        let told = opened.told("processes.jsonl");
        let talker = told.iter().find(|process| process["registered"] == "talker").expect("it");
        let pid = text(&talker["pid"]);
        let line = format!("0t{}::erlmessages", number(&pid));
        let shown = opened.of_type(&line, "erlang_message");
        let told = talker["queue"].as_array().expect("messages");
        assert_eq!(shown.len(), told.len(), "{}", opened.name);
        for (shown, told) in shown.iter().zip(told) {
            assert_eq!(comparable(shown), comparable_text(&text(told)), "{}", opened.name);
            let again = format!("{}::erlprint", text(&shown["term"]));
            let printed = opened.of_type(&again, "erlang_term");
            assert_eq!(printed[0]["value"], shown["value"], "{}", opened.name);
        }
    }
}

fn comparable(message: &Value) -> String {
    comparable_text(&text(&message["value"]))
}

/// Entries of large maps come in the order of their hashes, and Erlang prints them sorted.
fn comparable_text(text: &str) -> String {
    match text.strip_prefix("#{").and_then(|rest| rest.strip_suffix('}')) {
        Some(entries) => {
            let mut entries: Vec<&str> = entries.split(',').collect();
            entries.sort_unstable();
            entries.join(",")
        }
        None => text.to_owned(),
    }
}

#[test]
fn limits_are_marked() {
    for opened in cases().iter().map(Opened::of) {
        let pid = text(&opened.named("talker")["pid"]);
        let line = format!("0t{}::erlmessages -n 2 -d 2", number(&pid));
        let shown = opened.of_type(&line, "erlang_message");
        assert_eq!(text(&shown[0]["value"]), "{hello,[...,...,...]}", "{}", opened.name);
        assert_eq!(shown[0]["cut"], true, "{}", opened.name);
    }
}
