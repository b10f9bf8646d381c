//! The ends of lines, and what is being typed there.

use super::*;

fn operand<'l>(dcmd: &'l str, words: &[&'l str], word: &'l str) -> CursorWord<'l> {
    CursorWord::Operand { dcmd, words: words.to_vec(), word }
}

#[test]
fn the_end_of_the_line_decides() {
    for (before, expected) in [
        ("", CursorWord::Nothing),
        ("mai", CursorWord::Name("mai")),
        ("*mai", CursorWord::Name("mai")),
        ("12+libc.so.6`mai", CursorWord::Name("libc.so.6`mai")),
        ("12", CursorWord::Nothing),
        (".", CursorWord::Nothing),
        ("é", CursorWord::Name("é")),
        ("«é", CursorWord::Name("é")),
        ("\"ld-linux`rt", CursorWord::Quoted("ld-linux`rt")),
        ("'ab", CursorWord::Nothing),
        ("<r", CursorWord::Variable("r")),
        ("1+<", CursorWord::Variable("")),
        ("1<<ma", CursorWord::Name("ma")),
        ("1==ma", CursorWord::Name("ma")),
        ("*/i/ma", CursorWord::Name("ma")),
        ("5>x", CursorWord::Variable("x")),
        ("5>/s/x", CursorWord::Variable("x")),
        ("5,ma", CursorWord::Name("ma")),
    ] {
        assert_eq!(CursorWord::at_end_of(before), expected, "{before:?}");
    }
}

#[test]
fn verbs_and_their_words() {
    for (before, expected) in [
        ("::sta", CursorWord::Spelling("::sta")),
        ("main::sta", CursorWord::Spelling("::sta")),
        ("::", CursorWord::Spelling("::")),
        ("$", CursorWord::Spelling("$")),
        ("$C", CursorWord::Spelling("$C")),
        ("$<", operand("$<", &[], "")),
        ("$<<fi", operand("$<<", &[], "fi")),
        ("::stack ", operand("::stack", &[], "")),
        ("1::walk th", operand("::walk", &[], "th")),
        ("::nm -f a 'b c' li", operand("::nm", &["-f", "a", "'b c'"], "li")),
        ("main/X", CursorWord::Nothing),
        ("main=ma", CursorWord::Nothing),
        ("main/nap | ::di", CursorWord::Spelling("::di")),
        ("! cat fi", CursorWord::Shell("fi")),
        ("! cat f | ::sta", CursorWord::Spelling("::sta")),
        ("! echo 'a;b' | so", CursorWord::Shell("so")),
        ("::nm ! grep 'a; b' /et", CursorWord::Shell("/et")),
    ] {
        assert_eq!(CursorWord::at_end_of(before), expected, "{before:?}");
    }
}

#[test]
fn only_the_last_statement_and_stage_count() {
    for (before, expected) in [
        ("::nm ; ma", CursorWord::Name("ma")),
        ("1=X\n::di", CursorWord::Spelling("::di")),
        ("::walk thread | ::", CursorWord::Spelling("::")),
        ("::walk thread|::stack -", operand("::stack", &[], "-")),
        ("1|ma", CursorWord::Name("ma")),
        ("! a; ma", CursorWord::Name("ma")),
        ("::echo 'a | b' x", operand("::echo", &["'a | b'"], "x")),
    ] {
        assert_eq!(CursorWord::at_end_of(before), expected, "{before:?}");
    }
}

#[test]
fn quotes_and_immediates_hold_the_language() {
    for (before, expected) in [
        ("::map '<r", CursorWord::Variable("r")),
        ("::eval '::sta", CursorWord::Spelling("::sta")),
        ("::dis $[ma", CursorWord::Name("ma")),
        ("::dis $[1] ma", operand("::dis", &["$[1]"], "ma")),
        ("::eval \"::eval '::eval $[ma", CursorWord::Nothing),
    ] {
        assert_eq!(CursorWord::at_end_of(before), expected, "{before:?}");
    }
}

#[test]
fn no_line_is_too_strange() {
    let letters = ["$", ":", "/", "\"", "'", "[", "a", "é", "|", "!", ";", "\n", " ", "<", "\\"];
    for first in letters {
        for second in letters {
            for third in letters {
                CursorWord::at_end_of(&format!("{first}{second}{third}"));
                CursorWord::at_end_of(&format!("::a {first}{second}{third}"));
            }
        }
    }
    CursorWord::at_end_of(&"'\"".repeat(30_000));
}
