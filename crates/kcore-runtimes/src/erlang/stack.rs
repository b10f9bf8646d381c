//! The stack of a process (`beam_common.c`): return addresses between terms.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, CodeAddr};

use super::{
    Erlang,
    code::{self, ErlangPlace},
    process::{ErlangProcess, ErlangState},
};
use crate::{Host, LanguageFrame};

/// Bits that are zero in return addresses alone.
const TAG: u64 = 3;
/// Frames of one stack, at most, and bytes of it.
const MAX_FRAMES: usize = 4096;
const MAX_STACK: u64 = 32 << 20;

impl Erlang {
    /// The frames of a process that no thread runs, innermost first.
    pub fn frames(&self, host: &dyn Host, process: &ErlangProcess) -> Vec<LanguageFrame> {
        let Ok(found) = self.code(host) else { return vec![unknown(self.why_no_code(host))] };
        let terms = self.terms(host);
        let innermost = found.at(&terms, CodeAddr::Pc(process.code));
        let mut frames = match &innermost {
            Some(place) => vec![place.frame()],
            None => {
                let noted = process.noted.or(process.initial);
                let name = noted.and_then(|mfa| found.name(&terms, mfa));
                name.map(|name| code::frame(Some(name), None)).into_iter().collect()
            }
        };
        // In C, the function that called is the innermost one.
        if let (Some(place), Some(noted)) = (&innermost, process.noted)
            && noted != place.mfa
            && process.state == ErlangState::Running
        {
            let name = found.name(&terms, noted);
            frames = name.map(|name| code::frame(Some(name), None)).into_iter().collect();
        }
        frames.extend(self.on_stack(host, process.stack));
        frames
    }

    /// The function that a process executes, or goes on with.
    pub fn current(&self, host: &dyn Host, process: &ErlangProcess) -> Option<Arc<ErlangPlace>> {
        self.code(host).ok()?.at(&self.terms(host), CodeAddr::Pc(process.code))
    }

    /// The callers whose return addresses stand on a stack, innermost first.
    pub(super) fn on_stack(&self, host: &dyn Host, stack: AddrRange) -> Vec<LanguageFrame> {
        let Ok(code) = self.code(host) else { return Vec::new() };
        let (terms, exits) = (self.terms(host), self.exits(host));
        let wanted = stack.len().min(MAX_STACK);
        let held = host.space().read_held(stack.start, wanted);
        let words = held.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let returns = words.filter(|word| *word != 0 && word & TAG == 0);
        let returns = returns.map(Addr::new).filter(|at| code.has(*at) && !exits.contains(at));
        let mut frames = Vec::new();
        let mut is_cut = (held.len() as u64) < wanted;
        for at in returns {
            if frames.len() >= MAX_FRAMES {
                frames.push(unknown("there are more frames, which are left out".into()));
                return frames;
            }
            match code.at(&terms, CodeAddr::Return(at)) {
                Some(place) => frames.push(place.frame()),
                None => frames.push(unknown("its module's table of functions is damaged".into())),
            }
        }
        is_cut |= stack.len() > wanted;
        if is_cut {
            frames.push(unknown("the rest of the stack was not dumped".into()));
        }
        frames
    }

    /// What the outermost function of a process returns to.
    fn exits(&self, host: &dyn Host) -> Vec<Addr> {
        let exits = self.roots.exits.iter();
        exits.filter_map(|at| host.space().read_addr(*at).ok()).collect()
    }

    fn why_no_code(&self, host: &dyn Host) -> Arc<str> {
        self.code(host).err().unwrap_or_default().into()
    }
}

/// What stands in place of frames that are not known.
fn unknown(why: Arc<str>) -> LanguageFrame {
    code::frame(Some("<unknown>".into()), Some(why))
}
