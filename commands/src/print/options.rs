//! The options of `::print`.

use kcore::Limits;
use kcore_dcmd::{Args, Cx, DcmdError, Integers, Result, TypeNames, ValueStyle};

use crate::operand;

/// How much of an object is read, and how it is shown.
pub struct Options {
    /// How it is shown.
    pub style: ValueStyle,
    /// How much is read.
    pub limits: Limits,
    /// Whether holes are shown.
    pub holes: bool,
    /// Whether the address is the value itself.
    pub immediate: bool,
}

impl Options {
    /// Reads them; limits that are not given are those of the session.
    ///
    /// # Errors
    /// When two of them exclude each other, or a limit is no number.
    pub fn new(cx: &Cx<'_>, args: &Args) -> Result<Self> {
        let immediate = args.has('i');
        if args.has('p') {
            return Err(DcmdError::failed(match immediate {
                true => "-p and -i options are incompatible",
                false => "failed to print type: operation not supported by target",
            }));
        }
        Ok(Self {
            style: style(cx, args),
            limits: limits(cx, args)?,
            holes: args.has('h'),
            immediate,
        })
    }
}

fn style(cx: &Cx<'_>, args: &Args) -> ValueStyle {
    ValueStyle {
        addresses: args.has('a'),
        types: match (args.has('T'), args.has('t')) {
            (true, _) => TypeNames::WithBase,
            (false, true) => TypeNames::Declared,
            (false, false) => TypeNames::Hidden,
        },
        integers: match (args.has('x'), args.has('d')) {
            (true, _) => Integers::Hexadecimal,
            (false, true) => Integers::Decimal,
            (false, false) => cx.shell().settings().integers(),
        },
        plain_pointers: args.has('n'),
        ..ValueStyle::lines(cx.core().target().endian)
    }
}

fn limits(cx: &Cx<'_>, args: &Args) -> Result<Limits> {
    let limit =
        |all: char, some: char, session: Option<u64>| match (args.has(all), args.value(some)) {
            (true, _) => Ok(None),
            (false, Some(word)) => operand::count(cx, word).map(Some),
            (false, None) => Ok(session),
        };
    let settings = cx.shell().settings();
    Ok(Limits {
        depth: args.value('s').map(|word| operand::count(cx, word)).transpose()?,
        elements: limit('L', 'l', settings.array_members)?,
        characters: limit('C', 'c', settings.array_characters)?,
        raw: args.has('r'),
        ..Limits::default()
    })
}
