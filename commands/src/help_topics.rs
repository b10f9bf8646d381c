//! What `::help` says about a subject: sections of the book, and tables of the program.

use kcore_dcmd::{Cell, Fields, Record, View};

use crate::{book_text, gdb};

const LANGUAGE: &str = include_str!("help/language.md");
const FORMATS: &str = include_str!("help/formats.md");
const LIVE: &str = include_str!("help/live.md");
const JSON: &str = include_str!("help/json.md");
const PRINTERS: &str = include_str!("help/printers.md");

const STACKS: &str = "\
STACKS

  $C                        the stack of the current thread
  ::stack -v                the same with source lines, arguments and locals
  ::stacks                  the stacks of all threads, each once, most common first
  ::stacks -c FUNCTION      only stacks that contain FUNCTION; -C those that do not
  ::walk thread | ::stack   the stack of every thread
  ::threads                 the threads; 0tLWP::thread chooses one
  ::frame 2                 chooses a frame for ::locals, ::print, $r and <rip
  ADDR::whatis              whose stack an address is on

  [guessed] marks a frame that is a guess, and every frame outside of it. If a stack does not end at
  its outermost frame, a line says why. ::help stack explains all marks.";

/// A subject of help.
pub struct Topic {
    /// Its name.
    pub name: &'static str,
    text: fn() -> String,
}

/// Every subject.
pub const TOPICS: &[Topic] = &[
    Topic { name: "language", text: language },
    Topic { name: "expressions", text: expressions },
    Topic { name: "formats", text: formats },
    Topic { name: "pipelines", text: pipelines },
    Topic { name: "stacks", text: || STACKS.to_owned() },
    Topic { name: "live", text: live },
    Topic { name: "json", text: || book_text::sections(JSON, &["JSON"]) },
    Topic { name: "gdb", text: gdb::text },
    Topic { name: "printers", text: printers },
];

fn language() -> String {
    let headings = ["The language", "Counts", "Dcmds, options and quotes", "Variables", "Errors"];
    book_text::sections(LANGUAGE, &headings)
}

fn expressions() -> String {
    book_text::sections(LANGUAGE, &["Numbers", "Operators", "Operands"])
}

fn printers() -> String {
    let headings = [
        "Printers, walkers and dcmds of one's own",
        "Which types",
        "What an object is",
        "Walkers",
        "Dcmds",
        "natvis",
    ];
    book_text::sections(PRINTERS, &headings)
}

fn formats() -> String {
    let shown = book_text::sections(LANGUAGE, &["Showing memory and values"]);
    let headings = ["Integers", "Pointers, code, text, time", "Layout and movement"];
    format!("{shown}\n\n{}", book_text::sections(FORMATS, &headings))
}

fn pipelines() -> String {
    book_text::sections(LANGUAGE, &["Pipelines", "The shell"])
}

fn live() -> String {
    book_text::sections(LIVE, &["Live processes", "Snapshots", "What the process notices"])
}

/// The record of a subject, or of lines of another debugger; `None` if nothing has that name.
pub fn find(name: &str) -> Option<TopicPage> {
    let topic = TOPICS.iter().find(|topic| topic.name == name).map(|topic| (topic.text)());
    let text = topic.or_else(|| gdb::about(name))?;
    Some(TopicPage { name: name.to_owned(), text: text.trim_end().to_owned() })
}

/// All about a subject.
pub struct TopicPage {
    name: String,
    text: String,
}

impl Record for TopicPage {
    fn kind(&self) -> &'static str {
        "help_topic"
    }

    fn view(&self) -> View {
        View::Line("{text:m}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", &self.name).put("text", Cell::text(self.text.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_has_a_text_without_signs_of_markdown() {
        for topic in TOPICS {
            let text = (topic.text)();
            assert!(text.lines().count() > 8, "{}", topic.name);
            assert!(!text.contains("](") && !text.contains("<!--"), "{}", topic.name);
        }
    }
}
