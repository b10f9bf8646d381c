//! `::jsfindrefs` — which values refer to a value.

use std::collections::BTreeSet;

use kcore::Addr;
use kcore::objects::Referrer;
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{
    counted::{Counted, watched},
    referrer::{ReferrerRecord, Unreferred},
};
use crate::operand;

/// Internal objects of V8 that are followed in a row.
const DEPTH: u64 = 5;
const MAX_DEPTH: u64 = 64;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'd', value: None, help: "also show internal objects of V8 on the way" },
    Opt { flag: 'v', value: None, help: "also show what refers, and how" },
    Opt {
        flag: 'l',
        value: Some("maxdepth"),
        help: "follow at most this many internal objects of V8 in a row (default 5)",
    },
];

const HELP: &str = "\
Finds the objects that refer to the value by a property, an element, an entry of a collection, or \
an internal field. If an internal object of V8 refers to the value, kcore shows what refers to \
that object, and so on. Such objects are the context of closures, or a string that contains the \
value.";

const EXAMPLES: &[Example] = &[Example {
    line: "::findjsobjects -c Module | ::jsfindrefs -v",
    shows: "what refers to the object, and how",
}];

/// Finds references.
pub struct Jsfindrefs;

impl Dcmd for Jsfindrefs {
    fn spec(&self) -> Spec {
        Spec::new("jsfindrefs", Group::Runtimes, "find what refers to a JavaScript value")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let depth = operand::count_option(cx, args, 'l', DEPTH)?.min(MAX_DEPTH);
        let (counted, at) = Counted::of_dot(cx)?;
        let mut printer = Printer { args, seen: BTreeSet::new() };
        let mut to = vec![at];
        for _ in 0..=depth {
            let (v8, core) = (counted.v8, counted.core);
            let found = watched(cx, |watch| v8.referrers(core, &counted.census, &to, watch))?;
            to = printer.emit(cx, &counted, &found)?;
            if to.is_empty() {
                break;
            }
        }
        if printer.seen.is_empty() { cx.emit(&Unreferred(at)) } else { Ok(()) }
    }
}

struct Printer<'a> {
    args: &'a Args,
    seen: BTreeSet<Addr>,
}

impl Printer<'_> {
    /// Emits the referrers that are values. Returns the others, whose referrers come next.
    fn emit(
        &mut self,
        cx: &mut Cx<'_>,
        counted: &Counted<'_>,
        found: &[Referrer],
    ) -> Result<Vec<Addr>> {
        let mut internal = BTreeSet::new();
        for referrer in found {
            let is_value = counted.kind_of(referrer.at).is_some();
            let is_new = self.seen.insert(referrer.at);
            if !is_value && is_new {
                internal.insert(referrer.at);
            }
            if self.args.has('d') || (is_value && (is_new || self.args.has('v'))) {
                cx.emit(&ReferrerRecord { referrer, view: self.view() })?;
            }
        }
        Ok(internal.into_iter().collect())
    }

    fn view(&self) -> &'static str {
        match self.args.has('v') || self.args.has('d') {
            true => "{address:x} (type: {class}){shown}{weak? (weak)}",
            false => "{address:x}",
        }
    }
}
