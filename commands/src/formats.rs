//! `::formats` — the letters of format lists.

use kcore_dcmd::{Args, Cell, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View};

use crate::format::letters::{LETTERS, Letter, Size};

const EXAMPLES: &[Example] = &[Example {
    line: "::formats",
    shows: "every letter, what it shows, and how many bytes it takes",
}];

/// Lists the format letters.
pub struct Formats;

impl Dcmd for Formats {
    fn spec(&self) -> Spec {
        Spec::new("formats", Group::Language, "list the formats of / ? and =")
            .help("::help / explains how to use them.")
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let pointer = cx.core().target().word_size();
        LETTERS.iter().try_for_each(|letter| cx.emit(&LetterRecord { letter, pointer }))
    }
}

struct LetterRecord {
    letter: &'static Letter,
    pointer: usize,
}

impl Record for LetterRecord {
    fn kind(&self) -> &'static str {
        "format"
    }

    fn view(&self) -> View {
        View::Line("{letter} - {description}{size_words? ({size_words})}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let size = match self.letter.size {
            Size::Bytes(bytes) => Some(bytes as u64),
            Size::Pointer => Some(self.pointer as u64),
            Size::Nothing => Some(0),
            Size::Variable => None,
        };
        out.text("letter", self.letter.letter.to_string())
            .num("size", size)
            .text("description", self.letter.help)
            .display("size_words", Cell::or_null(self.letter.size_words(self.pointer), Cell::text));
    }
}
