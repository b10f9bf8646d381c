//! Whether a core is whole, and which threads it hurts if it is not.

use kcore_elf::core_file::Damage;
use kcore_mem::Fault;
use kcore_unwind::End;

use crate::{Core, MAX_FRAMES, Tid};

/// What a look at a stored core tells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoreCheck {
    /// What is wrong with the file, in words; nothing if it is whole.
    pub damage: Vec<String>,
    /// Bytes of memory that the file should have and has not.
    pub missing_bytes: u64,
    /// Bytes of memory that whoever wrote the file left out on purpose: a core of stacks alone is whole without them.
    pub left_out_bytes: u64,
    /// Whether threads may be missing altogether, since the notes are cut off.
    pub may_lack_threads: bool,
    /// How many threads it has.
    pub threads: usize,
    /// Threads whose stacks end where the file does or read as zeros, and at which address that is noticed.
    pub hurt: Vec<HurtThread>,
}

/// A thread whose stack is not whole in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HurtThread {
    /// The thread.
    pub tid: Tid,
    /// Frames that are left.
    pub frames: usize,
    /// Why there are no more.
    pub why: String,
}

impl CoreCheck {
    /// Whether nothing is wrong with the file.
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.hurt.is_empty()
    }
}

impl Core {
    /// Looks whether the core file is whole: all stacks are walked. A snapshot, or an executable alone, is always whole.
    pub fn check(&self) -> CoreCheck {
        let mut damage = self.damage();
        let known = || self.file().into_iter().flat_map(|file| file.damage());
        let missing = known().map(|damage| match damage {
            Damage::Memory { missing, .. } => *missing,
            _ => 0,
        });
        let hurt = match damage.is_empty() {
            true if self.path().is_none() => Vec::new(),
            is_all_there => self.hurt_threads(is_all_there),
        };
        damage.extend(self.empty_parts().into_iter().map(ToOwned::to_owned));
        CoreCheck {
            missing_bytes: missing.fold(0, u64::saturating_add),
            left_out_bytes: self.excerpt().map_or(0, |(held, whole)| whole.saturating_sub(held)),
            may_lack_threads: known().any(|it| !matches!(it, Damage::Memory { .. }))
                || self.file().is_some() && self.threads().is_empty(),
            threads: self.threads().len(),
            hurt,
            damage,
        }
    }

    /// Parts that every core has, and that are not in this one.
    fn empty_parts(&self) -> Vec<&'static str> {
        let Some(file) = self.file() else { return Vec::new() };
        let headers = file.segments().is_empty().then_some("no program headers are in it");
        let threads = self.threads().is_empty().then_some("no threads are in it");
        headers.into_iter().chain(threads).collect()
    }

    /// The threads whose stacks lie, from some place on, in memory that the file has lost. Where all is there that the
    /// headers name, that is memory of which whoever wrote the core wrote zeros.
    fn hurt_threads(&self, is_all_there: bool) -> Vec<HurtThread> {
        let tids = self.tids().into_iter().take_while(|_| !self.budget().is_halted());
        tids.filter_map(|tid| {
            let stack = self.stacks().of_thread(tid, MAX_FRAMES);
            let is_hurt = match stack.end {
                End::Fault(fault) => !is_all_there && is_lost(&fault),
                End::Zeros(_) => true,
                _ => false,
            };
            let at = self.registers().stack_pointer(tid).filter(|_| !is_hurt && !is_all_there);
            let at_once = at.and_then(|sp| self.space().slice(sp).err()).filter(is_lost);
            let why = match (is_hurt, at_once) {
                (true, _) => stack.end.to_string(),
                (false, Some(fault)) => fault.to_string(),
                (false, None) => return None,
            };
            Some(HurtThread { tid, frames: stack.frames.len(), why })
        })
        .collect()
    }
}

const fn is_lost(fault: &Fault) -> bool {
    matches!(fault, Fault::Truncated(_) | Fault::Unreadable(_))
}
