//! The format dcmds `/`, `?`, `\`, `@` and `=`: memory and values by a list of letters.

mod characters;
pub mod letters;
mod list;
mod number;
mod page;
mod print;
mod search;
mod shown;
mod source;
mod value;

use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Piped, Result, Spec,
};

use self::list::Item;
use self::print::Printer;
use self::search::Search;
use self::source::Source;
use crate::operand;

/// Repetitions of a list, at most.
const MAX_REPEAT: u64 = 1 << 24;

/// The list of `/` and `?` when none is given: a word, and the instruction that it is.
const DEFAULT_LIST: &str = "X^\"= \"i";

const HELP: &str = "\
Shows what lies at the address, one item for each format letter: X is a hexadecimal word, s a \
string, i an instruction, p a pointer as symbol. A decimal number before a letter repeats it. \
Quoted text prints as it is, a prints the address of the next item, and n begins a new line. \
::formats lists all letters. A count repeats the whole list. Dot stays at the address, and + is \
the address after the last item.

The letters l, L and M search, from the address on, for a value of 2, 4 or 8 bytes. A mask may \
follow the value. kcore never writes to its target.";

const MEMORY_EXAMPLES: &[Example] = &[
    Example { line: "<rsp,3/nap", shows: "words of the stack, each with its address, as symbols" },
    Example { line: "main/4i", shows: "the first instructions of a function" },
    Example { line: "<rsp/4X", shows: "four words of 4 bytes" },
];

const FILE_EXAMPLES: &[Example] =
    &[Example { line: "main?i", shows: "an instruction as the file has it" }];

const VALUE_EXAMPLES: &[Example] = &[
    Example { line: "0t1000=X", shows: "a decimal number in hexadecimal" },
    Example { line: "main=K", shows: "the value of a symbol" },
    Example { line: "1005=j", shows: "which bits are set" },
];

/// What all of them have in common.
const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, Group::Memory, summary)
        .addr(AddrUse::Optional)
        .operands("[format...]", 0, usize::MAX)
        .takes_count()
        .takes_list()
}

/// `/`: shows the memory of the process.
pub struct Examine;

impl Dcmd for Examine {
    fn spec(&self) -> Spec {
        spec("/", "show memory by format letters").help(HELP).examples(MEMORY_EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        examine(cx, args, Source::Memory(core.space()))
    }
}

/// `?`: shows the files of the modules.
pub struct ExamineFile;

impl Dcmd for ExamineFile {
    fn spec(&self) -> Spec {
        spec("?", "show the file of an object by format letters").help(HELP).examples(FILE_EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let file = cx.core().file_space();
        examine(cx, args, Source::Memory(&file))
    }
}

/// `\` and `@`: show physical memory in MDB. A core has none.
pub struct ExaminePhysical;

impl Dcmd for ExaminePhysical {
    fn spec(&self) -> Spec {
        spec("\\", "show physical memory, which a core does not have")
            .aliases(&["@"])
            .help("In MDB these dcmds are for kernels. Here they fail.")
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        refuse_to_write(cx, args.operands())?;
        if Search::new(cx, args.operands())?.is_none() {
            list::parse(args.operands())?;
        }
        Err(DcmdError::failed("failed to read data from target: operation not supported by target"))
    }
}

/// `=`: shows a value in other forms.
pub struct Evaluate;

impl Dcmd for Evaluate {
    fn spec(&self) -> Spec {
        spec("=", "show a value by format letters")
            .help(
                "Formats the address itself. Each letter takes as many of its low bytes as it \
                 needs. ::formats lists the letters.",
            )
            .examples(VALUE_EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let items = list::parse(args.operands())?;
        if items.is_empty() {
            let message = "expected one or more format characters following '='";
            return Err(DcmdError::failed(message));
        }
        let source = Source::Value(cx.core().target());
        show(cx, &items, source)
    }
}

fn examine(cx: &mut Cx<'_>, args: &Args, source: Source<'_>) -> Result<()> {
    refuse_to_write(cx, args.operands())?;
    if let (Source::Memory(space), Some(search)) = (&source, Search::new(cx, args.operands())?) {
        return search.run(cx, *space);
    }
    let mut items = list::parse(args.operands())?;
    if items.is_empty() {
        items = list::parse(&[Arg::Text(DEFAULT_LIST.to_owned())])?;
    }
    show(cx, &items, source)
}

/// Checks the values of a list that begins with a letter that writes, and then fails.
fn refuse_to_write(cx: &Cx<'_>, words: &[Arg]) -> Result<()> {
    let Some((Arg::Text(first), values)) = words.split_first() else { return Ok(()) };
    let letter = first.chars().next().and_then(letters::find);
    let Some(letter) = letter.filter(|letter| letter.is_write()) else { return Ok(()) };
    let Some(value) = values.first() else {
        return Err(DcmdError::failed(format!("expected value following {}", letter.letter)));
    };
    let value = kcore_dcmd::digits(operand::number(cx, value)?, cx.shell().radix());
    let at = cx.dot().addr();
    let message =
        format!("failed to write {value} at address {at:#x}: target is not open for writing");
    Err(DcmdError::at(at, message))
}

/// Shows the list at dot, as often as the count says, or at each value of a pipe.
fn show(cx: &mut Cx<'_>, items: &[Item], source: Source<'_>) -> Result<()> {
    let count = cx.input().count.unwrap_or(1);
    if count > MAX_REPEAT {
        let message = format!("count {count:x} is too high: at most {MAX_REPEAT:x}");
        return Err(DcmdError::failed(message));
    }
    let is_value = source.is_value();
    let mut printer = Printer::new(cx, source);
    if let Some(dots) = cx.input().list.as_deref() {
        return show_each(cx, &mut printer, items, dots);
    }
    let (mut dot, mut increment) = (cx.dot().number(), 0_u64);
    printer.first_label(items, dot);
    for repetition in 0..count {
        if repetition > 0 && !is_value {
            dot = dot.wrapping_add(increment);
        }
        match printer.list(cx, items, dot) {
            Ok(next) => increment = next.wrapping_sub(dot),
            Err(error) => {
                printer.give_up(cx)?;
                return Err(error);
            }
        }
        if is_value {
            dot = dot.wrapping_add(increment);
        }
    }
    printer.finish(cx)?;
    cx.shell_mut().set_dot(Dot::Number(dot), if is_value { 0 } else { increment });
    Ok(())
}

/// Shows the list at each value of a pipe. A failure at one value does not stop the next.
fn show_each(
    cx: &mut Cx<'_>,
    printer: &mut Printer<'_>,
    items: &[Item],
    dots: &[Piped],
) -> Result<()> {
    let mut increment = 0;
    for (index, dot) in dots.iter().map(|value| value.dot.number()).enumerate() {
        if index == 0 {
            printer.first_label(items, dot);
        }
        match printer.list(cx, items, dot) {
            Ok(next) => increment = next.wrapping_sub(dot),
            Err(error @ DcmdError::Failed { .. }) => {
                printer.give_up(cx)?;
                cx.report(&error)?;
            }
            Err(error) => return Err(error),
        }
    }
    printer.finish(cx)?;
    if let Some(last) = dots.last() {
        cx.shell_mut().set_dot(last.dot, increment);
    }
    Ok(())
}
