//! `::erlprint`: a term as Erlang prints it.

use kcore::{
    Addr,
    erlang::{Missing, PrintedTerm, TermKind, TermLimits},
};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use super::{missing, subject};

/// Prints a term of Erlang.
pub struct Erlprint;

/// Limits unless others are asked for.
const DEPTH: usize = 12;
const ELEMENTS: usize = 64;
const TEXT: usize = 256;
/// Terms inside of each other, at most: each level takes room on the stack.
const MAX_DEPTH: usize = 200;
/// Bytes of one term, at most.
const WHOLE: usize = 64 << 10;

/// The options by which terms are limited.
pub const LIMITS: [Opt; 2] = [
    Opt {
        flag: 'd',
        value: Some("depth"),
        help: "how many terms inside of each other to show, in decimal (default 12, at most 200)",
    },
    Opt {
        flag: 'n',
        value: Some("count"),
        help: "how many elements of each list, tuple and map to show, in decimal (default 64)",
    },
];

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "the address is that of the word which is the term" },
    LIMITS[0],
    LIMITS[1],
];

const HELP: &str = "\
Prints a term as Erlang itself does. A term is a word: an atom or a small number, or a pointer \
with a tag in its lowest bits. ::erlmessages shows the words of messages. With -a, the word is read \
from the address.

Text is cut after 256 characters. What a limit leaves out is marked by three dots. What cannot be \
read is marked `<unreadable>`; `<not copied>` in a snapshot, which has little of heaps, and `<not \
dumped>` where the core lacks it. Processes, ports and references of other nodes are marked `remote`.";

impl Dcmd for Erlprint {
    fn spec(&self) -> Spec {
        Spec::new("erlprint", Group::Runtimes, "print a term of Erlang")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(HELP)
            .examples(&[Example {
                line: "::erlprocesses -m 1 | ::erlmessages | ::erlprint",
                shows: "the messages that wait, as Erlang prints them",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let dot = cx.addr().ok_or_else(|| DcmdError::usage("::erlprint needs a term"))?;
        let limits = limits(args)?;
        let core = cx.core().clone();
        let instances = subject::instances(&core)?;
        let term = match args.has('a') {
            true => core
                .space()
                .read_word(dot.addr())
                .map_err(|it| DcmdError::failed(it.to_string()))?,
            false => dot.number(),
        };
        if TermKind::of(term) == TermKind::Other {
            return Err(DcmdError::failed(format!("{term:x} is no term: its lowest bits say so")));
        }
        let printed = instances.into_iter().map(|erlang| erlang.print(core.as_ref(), term, limits));
        let mut printed: Vec<PrintedTerm> = printed.collect();
        printed.sort_by_key(|printed| printed.missing.is_some());
        let Some(printed) = printed.first() else { return Ok(()) };
        cx.emit(&TermRecord { term, printed })?;
        missing::note(cx, printed.missing)
    }
}

/// How much of terms options ask for.
///
/// # Errors
/// When a number is none.
pub fn limits(args: &Args) -> Result<TermLimits> {
    let depth = subject::decimal(args, 'd', DEPTH)?.min(MAX_DEPTH);
    Ok(TermLimits {
        depth: u32::try_from(depth).unwrap_or_default(),
        elements: subject::decimal(args, 'n', ELEMENTS)?,
        text: TEXT,
        whole: WHOLE,
    })
}

struct TermRecord<'t> {
    term: u64,
    printed: &'t PrintedTerm,
}

impl Record for TermRecord<'_> {
    fn kind(&self) -> &'static str {
        "erlang_term"
    }

    fn view(&self) -> View {
        View::Line("{value}")
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        out.hex("term", self.term)
            .put("value", Cell::text(self.printed.text.as_str()))
            .flag("cut", self.printed.is_cut)
            .flag("damaged", self.printed.missing.is_some())
            .opt_text("missing", self.printed.missing.map(Missing::as_str));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(Addr::new(self.term)))
    }
}
