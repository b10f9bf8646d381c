//! What may follow what was typed: how a dcmd is used, or a line of before.

use rustyline::Context;
use rustyline::hint::{Hint, Hinter, HistoryHinter};

use crate::complete::Completer;
use crate::complete::place::CursorWord;

/// Letters of a line after which history is asked.
const ENOUGH: usize = 3;

/// A faint text behind the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineHint {
    text: String,
    /// Whether it is what the user may want to type, and not what it should look like.
    is_text: bool,
}

impl Hint for LineHint {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.is_text.then_some(&self.text)
    }
}

/// The options and operands of the dcmd that was just typed.
pub(super) fn usage(line: &str, completer: &Completer) -> Option<LineHint> {
    let (spelling, blank) = match CursorWord::at_end_of(line) {
        CursorWord::Spelling(spelling) => (spelling, " "),
        CursorWord::Operand { dcmd, words, word: "" } if words.is_empty() => (dcmd, ""),
        _ => return None,
    };
    let usage = completer.spec(spelling)?.usage_as(spelling);
    let (_, rest) = usage.split_once(spelling)?;
    let rest = rest.trim_start();
    (!rest.is_empty()).then(|| LineHint { text: format!("{blank}{rest}"), is_text: false })
}

/// The rest of the last line that began so.
pub(super) fn from_history(line: &str, context: &Context<'_>) -> Option<LineHint> {
    if line.len() < ENOUGH || line.contains('\n') {
        return None;
    }
    let text = HistoryHinter::new().hint(line, line.len(), context)?;
    Some(LineHint { text, is_text: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn shown(line: &str) -> Option<String> {
        let completer = Completer::new(&testing::session(), None);
        usage(line, &completer).map(|hint| hint.text)
    }

    #[test]
    fn a_dcmd_that_was_typed_says_what_it_takes() {
        assert_eq!(shown("::seen").as_deref(), Some(" [-v] [word...]"));
        assert_eq!(shown("1::seen ").as_deref(), Some("[-v] [word...]"));
        assert_eq!(shown("::plain").as_deref(), Some(" [-v]"));
        for line in ["::see", "::seen x", "::nosuch", "seen", ""] {
            assert_eq!(shown(line), None, "{line}");
        }
    }
}
