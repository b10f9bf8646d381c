//! The ends of lines, and what is being typed there.

use super::*;

fn operand<'l>(dcmd: &'l str, words: &[&'l str], word: &'l str) -> Place<'l> {
    Place::Operand { dcmd, words: words.to_vec(), word }
}

#[test]
fn the_end_of_the_line_decides() {
    for (before, expected) in [
        ("", Place::Nothing),
        ("mai", Place::Name("mai")),
        ("*mai", Place::Name("mai")),
        ("12+libc.so.6`mai", Place::Name("libc.so.6`mai")),
        ("12", Place::Nothing),
        (".", Place::Nothing),
        ("é", Place::Name("é")),
        ("«é", Place::Name("é")),
        ("\"ld-linux`rt", Place::Quoted("ld-linux`rt")),
        ("'ab", Place::Nothing),
        ("<r", Place::Variable("r")),
        ("1+<", Place::Variable("")),
        ("1<<ma", Place::Name("ma")),
        ("1==ma", Place::Name("ma")),
        ("*/i/ma", Place::Name("ma")),
        ("5>x", Place::Variable("x")),
        ("5>/s/x", Place::Variable("x")),
        ("5,ma", Place::Name("ma")),
    ] {
        assert_eq!(Place::at_end_of(before), expected, "{before:?}");
    }
}

#[test]
fn verbs_and_their_words() {
    for (before, expected) in [
        ("::sta", Place::Spelling("::sta")),
        ("main::sta", Place::Spelling("::sta")),
        ("::", Place::Spelling("::")),
        ("$", Place::Spelling("$")),
        ("$C", Place::Spelling("$C")),
        ("$<", operand("$<", &[], "")),
        ("$<<fi", operand("$<<", &[], "fi")),
        ("::stack ", operand("::stack", &[], "")),
        ("1::walk th", operand("::walk", &[], "th")),
        ("::nm -f a 'b c' li", operand("::nm", &["-f", "a", "'b c'"], "li")),
        ("main/X", Place::Nothing),
        ("main=ma", Place::Nothing),
        ("main/nap | ::di", Place::Spelling("::di")),
        ("! cat fi", Place::Shell("fi")),
        ("! cat f | ::sta", Place::Spelling("::sta")),
        ("! echo 'a;b' | so", Place::Shell("so")),
        ("::nm ! grep 'a; b' /et", Place::Shell("/et")),
    ] {
        assert_eq!(Place::at_end_of(before), expected, "{before:?}");
    }
}

#[test]
fn only_the_last_statement_and_stage_count() {
    for (before, expected) in [
        ("::nm ; ma", Place::Name("ma")),
        ("1=X\n::di", Place::Spelling("::di")),
        ("::walk thread | ::", Place::Spelling("::")),
        ("::walk thread|::stack -", operand("::stack", &[], "-")),
        ("1|ma", Place::Name("ma")),
        ("! a; ma", Place::Name("ma")),
        ("::echo 'a | b' x", operand("::echo", &["'a | b'"], "x")),
    ] {
        assert_eq!(Place::at_end_of(before), expected, "{before:?}");
    }
}

#[test]
fn quotes_and_immediates_hold_the_language() {
    for (before, expected) in [
        ("::map '<r", Place::Variable("r")),
        ("::eval '::sta", Place::Spelling("::sta")),
        ("::dis $[ma", Place::Name("ma")),
        ("::dis $[1] ma", operand("::dis", &["$[1]"], "ma")),
        ("::eval \"::eval '::eval $[ma", Place::Nothing),
    ] {
        assert_eq!(Place::at_end_of(before), expected, "{before:?}");
    }
}

#[test]
fn no_line_is_too_strange() {
    let letters = ["$", ":", "/", "\"", "'", "[", "a", "é", "|", "!", ";", "\n", " ", "<", "\\"];
    for first in letters {
        for second in letters {
            for third in letters {
                Place::at_end_of(&format!("{first}{second}{third}"));
                Place::at_end_of(&format!("::a {first}{second}{third}"));
            }
        }
    }
    Place::at_end_of(&"'\"".repeat(30_000));
}
