//! The stack of a process (`beam_common.c`): return addresses between terms.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, CodeAddr};

use super::{
    Erlang,
    code::{self, ErlangPlace, Mfa},
    process::ErlangProcess,
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
        let innermost = match (self.code(host), self.current(host, process)) {
            (Err(why), _) => Some(unknown(why.into())),
            (_, Some(place)) => Some(place.frame()),
            // It has not begun, or it waits in a function that is written in C.
            _ => process.noted.or(process.initial).and_then(|mfa| self.named(host, mfa)),
        };
        innermost.into_iter().chain(self.on_stack(host, process.stack)).collect()
    }

    /// A frame of a function of which no place is known.
    pub(super) fn named(&self, host: &dyn Host, mfa: Mfa) -> Option<LanguageFrame> {
        self.function_name(host, mfa).ok().map(|name| code::frame(Some(name), None))
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
        if (held.len() as u64) < stack.len() {
            frames.push(unknown("the rest of the stack was not dumped".into()));
        }
        frames
    }

    /// What the outermost function of a process returns to.
    fn exits(&self, host: &dyn Host) -> Vec<Addr> {
        let exits = self.roots.exits.iter();
        exits.filter_map(|at| host.space().read_addr(*at).ok()).collect()
    }
}

/// What stands in place of frames that are not known.
fn unknown(why: Arc<str>) -> LanguageFrame {
    code::frame(Some("<unknown>".into()), Some(why))
}
