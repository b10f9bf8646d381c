//! `::whattype` — the type of the object at an address.

use kcore::{Addr, Evidence, TypeGuess};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use crate::names::Names;

/// Finds the type of the object at an address.
pub struct Whattype;

const OPTIONS: &[Opt] =
    &[Opt { flag: 'v', value: None, help: "show every answer, not only the first one" }];

const HELP: &str = "\
Shows the variable that holds the address, or else the object that a pointer leads to. kcore \
follows the pointers in the variables of all objects and all frames, what their containers hold, \
then the pointers in that, and so on. In the expression, [] stands for an element of a container. The expression shown is the shortest way. If nothing leads to the \
address, the virtual function table of a C++ object around it may show its class. Objects that \
only untyped pointers lead to stay unknown.";

const EXAMPLES: &[Example] = &[Example {
    line: "<rsp::whattype",
    shows: "the type at the top of the stack, if one is known",
}];

impl Dcmd for Whattype {
    fn spec(&self) -> Spec {
        Spec::new("whattype", Group::Types, "find the type of the object at an address")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let at = cx.dot().addr();
        let mut stopped = Ok(());
        let (core, most) = (cx.core(), if args.has('v') { usize::MAX } else { 1 });
        let guesses = core.memory().what_types(at, most, &mut |_| {
            stopped = cx.check_interrupt();
            stopped.is_ok()
        });
        stopped?;
        if guesses.is_empty() {
            let name = Names::new(cx).spelled_or_address(at);
            let is_given_back =
                core.memory().whatis(at).block.is_some_and(|owned| owned.is_given_back());
            let why = match is_given_back {
                true => "lies in a block that was given back",
                false => "has no known type",
            };
            return Err(DcmdError::at(at, format!("{name} {why}")));
        }
        guesses.into_iter().try_for_each(|guess| cx.emit(&Guess { at, guess }))
    }
}

/// What an address is a part of.
struct Guess {
    at: Addr,
    guess: TypeGuess,
}

impl Guess {
    fn offset(&self) -> u64 {
        self.at.offset_from(self.guess.base).unwrap_or_default()
    }
}

impl Record for Guess {
    fn kind(&self) -> &'static str {
        "type_guess"
    }

    fn view(&self) -> View {
        View::Line(
            "{address} is {base}+{offset}, {type}{member?, member {member}}, by {way}{by? {by}}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let (how, by) = match &self.guess.evidence {
            Evidence::Variable(name) => ("variable", Some(name)),
            Evidence::Pointer(expression) => ("pointer", Some(expression)),
            Evidence::Element(container) => ("element", Some(container)),
            Evidence::VirtualTable => ("vtable", None),
        };
        out.addr("address", self.at)
            .addr("base", self.guess.base)
            .hex("offset", self.offset())
            .text("type_name", self.guess.ty.spelled())
            .num("size", self.guess.ty.size())
            .opt_text("member", self.guess.member.as_deref())
            .text("how", how)
            .opt_text("by", by.map(String::as_str))
            .display("way", Cell::text(if how == "element" { "element of" } else { how }))
            .display("type", Cell::text(self.guess.ty.spelled()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.guess.base))
    }
}
