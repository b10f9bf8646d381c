//! Colours of the line being typed: which dcmds there are, numbers, quoted text, comments.

use kcore_render::Style;

use crate::complete::Completer;
use crate::lexer::{self, Scanner};

/// `line` in colours; not a letter of it is changed.
pub(super) fn line(line: &str, completer: &Completer) -> String {
    let mut scanner = Scanner::new(line);
    let mut painted = String::with_capacity(line.len() * 2);
    while !scanner.rest().is_empty() {
        let start = scanner.position();
        let after_name = scanner.since(0).ends_with(lexer::is_name);
        let style = piece(&mut scanner, completer);
        // Behind a name it may be a part of it.
        let style = style.filter(|style| !after_name || *style != Style::Error);
        let text = scanner.since(start);
        match style {
            Some(style) => painted.push_str(&style.paint(text)),
            None => painted.push_str(text),
        }
    }
    painted
}

/// Takes what is of one colour, at least one letter.
fn piece(scanner: &mut Scanner<'_>, completer: &Completer) -> Option<Style> {
    let start = scanner.position();
    if scanner.rest().starts_with("//") {
        scanner.take_while(|c| c != '\n');
        Some(Style::Faint)
    } else if scanner.at_shell() {
        scanner.take_shell();
        None
    } else if scanner.eat("::") {
        scanner.take_while(lexer::is_name);
        dcmd(scanner.since(start), scanner.rest().is_empty(), completer)
    } else {
        operand(scanner, completer)
    }
}

fn operand(scanner: &mut Scanner<'_>, completer: &Completer) -> Option<Style> {
    let start = scanner.position();
    match scanner.bump() {
        Some('$') if !scanner.rest().starts_with('[') => {
            scanner.bump();
            dcmd(scanner.since(start), false, completer)
        }
        Some(quote @ ('\'' | '"')) => {
            scanner.take_while(|c| c != quote);
            scanner.bump();
            Some(Style::Quoted)
        }
        Some(c) if lexer::is_name(c) => {
            scanner.take_while(lexer::is_name);
            c.is_ascii_digit().then_some(Style::Number)
        }
        _ => None,
    }
}

/// A dcmd that there is, and one that there is not. One that is still being typed is neither.
fn dcmd(spelling: &str, at_end: bool, completer: &Completer) -> Option<Style> {
    if completer.spec(spelling).is_some() {
        return Some(Style::Command);
    }
    let may_become = at_end && completer.begins_dcmd(spelling);
    let is_macro = spelling == "$<";
    (!may_become && !is_macro).then_some(Style::Error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// The line, with a letter for each colour.
    fn shown(text: &str) -> String {
        let completer = Completer::new(&testing::session(), None);
        let mut shown = line(text, &completer);
        for (style, letter) in [
            (Style::Command, "C"),
            (Style::Error, "E"),
            (Style::Number, "N"),
            (Style::Quoted, "Q"),
            (Style::Faint, "F"),
        ] {
            let on = style.paint("").replace("\x1b[0m", "");
            shown = shown.replace(&on, &format!("<{letter}:"));
        }
        shown.replace("\x1b[0m", ">")
    }

    #[test]
    fn dcmds_numbers_quotes_and_comments() {
        assert_eq!(shown("main::seen -v 12"), "main<C:::seen> -v <N:12>");
        assert_eq!(shown("::nosuch x"), "<E:::nosuch> x");
        assert_eq!(shown("ns::nosuch::seen"), "ns::nosuch<C:::seen>");
        assert_eq!(shown("0t10::emit 'a b' \"c"), "<N:0t10><C:::emit> <Q:'a b'> <Q:\"c>");
        assert_eq!(shown("$s // no"), "<C:$s> <F:// no>");
        assert_eq!(shown("$z"), "<E:$z>");
        assert_eq!(shown("::seen $[1]"), "<C:::seen> $[<N:1>]");
        assert_eq!(shown("::seen ! grep 'x"), "<C:::seen> ! grep 'x");
        assert_eq!(shown("! echo 'a;b' | ::seen 1"), "! echo 'a;b' | <C:::seen> <N:1>");
    }

    #[test]
    fn a_dcmd_that_is_being_typed_is_not_wrong_yet() {
        assert_eq!(shown("::see"), "::see");
        assert_eq!(shown("::sex"), "<E:::sex>");
    }

    #[test]
    fn no_letter_is_lost() {
        let completer = Completer::new(&testing::session(), None);
        for text in ["", "é«1'\"\n$", "$", "::", "!", "a\tb"] {
            let painted = line(text, &completer);
            let mut plain = String::new();
            for (number, part) in painted.split('\x1b').enumerate() {
                plain.push_str(if number == 0 { part } else { part.split_once('m').unwrap().1 });
            }
            assert_eq!(plain, text);
        }
    }
}
