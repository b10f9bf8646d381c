//! Where the stack of a greenlet ends that a thread runs: with the function that began it (`g_initialstub` of
//! `TUserGreenlet.cpp`, to 1.1 of `greenlet.c`). What lies beyond is left of others, which unwinds as if it had called.

use kcore_mem::AddrRange;
use kcore_unwind::{Phase, Regs, RuleFrame, RuleStep};

use super::Anchor;
use crate::{Host, HostModule, python::greenlet::may_be_it};

/// The function since 2.0, which the module exports, and before, by its symbol alone.
const EXPORTED: &str = "_ZN8greenlet12UserGreenlet13g_initialstubEPv";
const OWN: &str = "g_initialstub";

/// The functions that begin greenlets, one of each module.
struct Greenlet(Vec<AddrRange>);

/// Looks for the module of greenlets.
pub fn find(host: &dyn Host) -> Option<Box<dyn Anchor>> {
    let modules = host.modules().into_iter().filter(|module| may_be_it(*module));
    let first: Vec<AddrRange> = modules.filter_map(first).collect();
    (!first.is_empty()).then(|| Box::new(Greenlet(first)) as Box<dyn Anchor>)
}

fn first(module: &dyn HostModule) -> Option<AddrRange> {
    let own = || {
        let symbol = module.symbols().table().lookup(OWN)?;
        Some((symbol.value(), symbol.size()))
    };
    let (start, len) = module.exported(EXPORTED).or_else(own)?;
    Some(AddrRange::with_len(module.addr(start)?, len))
}

impl Anchor for Greenlet {
    fn step(
        &self,
        _host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        _caller: &mut Regs,
    ) -> Option<RuleStep> {
        let at = frame.pc.lookup();
        let is_first = phase == Phase::BeforeCfi && self.0.iter().any(|code| code.contains(at));
        is_first.then_some(RuleStep::Outermost { cfa: None })
    }
}
