//! One rule for numbers: counts and limits of options are decimal unless a prefix says more; addresses, sizes and
//! distances of what lies there, masks and values are expressions in the radix.

use kcore_commands::DCMDS;

use crate::harness::{error, open, run, run_on, text};

/// What the value of an option is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Count,
    /// An address, what is added to one, or a mask: an expression.
    Expression,
    /// No number.
    Word,
}

/// By the name that usage gives the value.
fn kind(value: &str) -> Kind {
    match value {
        "frames" | "frame" | "lines" | "limit" | "depth" | "bytes" | "count" | "length"
        | "paragraphs" | "levels" | "max" => Kind::Count,
        "min" | "end" | "mask" | "invmask" | "instr" | "addr" | "address" | "maxoff" | "dist"
        | "distance" => Kind::Expression,
        _ => Kind::Word,
    }
}

/// Options with numbers, each with a line that runs on the core of `nodes`: `#` stands for the value. The others
/// belong to a runtime, or leave what they change behind.
const LINES: &[(&str, char, &str)] = &[
    ("print", 'l', "::print -l # limits"),
    ("print", 'c', "::print -c # greeting"),
    ("print", 's', "::print -s # *request"),
    ("dump", 'l', "head::dump -l #"),
    ("dump", 'w', "head::dump -w #"),
    ("dis", 'n', "main::dis -n #"),
    ("stack", 'l', "::stack -l #"),
    ("$C", 'l', "$C -l #"),
    ("head", 'n', "main::walk symbol | ::head -n #"),
    ("regs", 'f', "::regs -f #"),
];

#[test]
fn each_option_that_counts_is_decimal_and_takes_a_prefix() {
    let nodes = open("nodes", "O0-pie");
    for (_, _, line) in LINES {
        let with = |value: &str| {
            let outcomes = run_on(&nodes.core, &line.replace('#', value));
            (outcomes.out, outcomes.errors)
        };
        assert_eq!(with("2"), with("0x2"), "{line}");
        assert_eq!(with("10"), with("0xa"), "{line}");
        assert_eq!(with("10"), with("0t10"), "{line}");
        assert_ne!(with("1"), with("16"), "{line}: the value matters");
    }
}

/// A new option must be sorted in: what it takes is a count, an expression, or no number.
#[test]
fn each_option_with_a_value_is_known() {
    let counted: Vec<(&str, char)> = DCMDS
        .iter()
        .flat_map(|dcmd| {
            let spec = dcmd.spec();
            spec.options
                .iter()
                .filter_map(move |option| Some((spec.name, option.flag, option.value?)))
        })
        .filter(|(_, _, value)| kind(value) == Kind::Count)
        .map(|(name, flag, _)| (name, flag))
        .collect();
    for (name, flag, _) in LINES {
        assert!(counted.contains(&(name, *flag)), "::{name} -{flag} counts");
    }
    // A count that is no number is a wrong call, and is not read in another radix.
    for (name, flag) in counted {
        let line = match name {
            "head" => format!("::walk thread | ::head -{flag} zz"),
            name if name.starts_with('$') => format!("{name} -{flag} zz"),
            name => format!("main::{name} -{flag} zz"),
        };
        assert!(run(&line).status.failed(), "{line}");
    }
}

#[test]
fn hexadecimal_digits_alone_are_no_count() {
    assert!(error("::stack -l a").contains('a'));
    assert!(error("main::dis -n a").contains("invalid decimal number 'a' (write 0x before"));
    assert!(error("main::dump -l -1").contains("invalid decimal number '-1'"));
    assert_eq!(text("3>n; main::dis -n <n"), text("main::dis -n 3"), "an expression is one");
}

#[test]
fn subscripts_and_counts_behind_a_type_are_decimal() {
    let nodes = open("nodes", "O0-pie");
    // limits[39] is 40, and the last one.
    for line in ["::print limits[39]", "::print limits[0x27]"] {
        assert!(nodes.text(line).contains("0x28"), "{line}");
    }
    assert_eq!(nodes.json("limits::array long 10").len(), 10);
    assert_eq!(nodes.json("limits::array long 0x10").len(), 16);
}
