//! Where one walk works, and what it leaves.

use kcore_mem::{Addr, AddressSpace};

use super::{Tables, walk::Walk};
use crate::{
    End, Frame, RegisterId, Regs,
    follow::Follower,
    row::{CfaRule, Context, FoundRow, RowRef, Rule},
};

/// Rules of one row, at most: one for each register that is kept.
const MAX_RULES: usize = Regs::COUNT;

/// Room for one walk at a time. It takes memory when it is made, and none later.
pub struct Room {
    context: Context,
    rules: Rules,
    frames: Vec<Frame>,
    pub(super) follower: Follower,
    pub(super) regs: Regs,
    pub(super) caller: Regs,
}

/// A row, copied out of gimli's room.
pub(super) struct Rules {
    cfa: CfaRule,
    rules: [(RegisterId, Rule); MAX_RULES],
    count: usize,
    return_address: RegisterId,
    is_signal: bool,
}

impl Room {
    /// Room for stacks of so many frames.
    pub fn new(frames: usize) -> Self {
        let regs = Regs::new(Addr::new(0));
        Self {
            context: Context::new(),
            rules: Rules::empty(),
            frames: Vec::with_capacity(frames),
            follower: Follower::new(),
            regs,
            caller: regs,
        }
    }

    /// Walks the stack that `regs` stand on, and leaves its frames. Always ends, and says why. A signal
    /// handler may call it, if it may read `space`.
    pub fn walk(&mut self, tables: &Tables, space: &dyn AddressSpace, regs: &Regs) -> End {
        self.frames.clear();
        self.follower.take_spent();
        self.regs.clone_from(regs);
        Walk { tables, space, room: self }.run()
    }

    /// Walks the stack that was interrupted where the `ucontext_t` at `context` says; gives the registers
    /// that it holds, too.
    pub fn walk_context(
        &mut self,
        tables: &Tables,
        space: &dyn AddressSpace,
        context: Addr,
    ) -> (Regs, End) {
        self.frames.clear();
        match tables.machine.context_regs(context, space) {
            Some(regs) => (regs, self.walk(tables, space, &regs)),
            None => (Regs::new(Addr::new(0)), End::NoRegisters),
        }
    }

    /// The frames of the last walk, innermost first.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Takes a frame; says whether there was room for it.
    pub(super) fn push(&mut self, frame: Frame) -> bool {
        let has_room = self.frames.len() < self.frames.capacity();
        if has_room {
            self.frames.push(frame);
        }
        has_room
    }

    /// Reads the row for the code at `at` into the room.
    pub(super) fn read_row(&mut self, tables: &Tables, at: Addr) -> Option<()> {
        let (context, rules) = (&mut self.context, &mut self.rules);
        tables.cfi_at(at)?.row_in_place(at, context, &mut |found| rules.take(found))
    }

    /// The row that was read last.
    pub(super) fn row(&self) -> RowRef<'_> {
        self.rules.by_ref()
    }

    /// The row that was read last, the registers to apply it to, and those to leave the caller's in.
    pub(super) fn applied(&mut self) -> (RowRef<'_>, &Regs, &mut Regs) {
        (self.rules.by_ref(), &self.regs, &mut self.caller)
    }
}

impl Rules {
    const fn empty() -> Self {
        Self {
            cfa: CfaRule::Register(RegisterId(0), 0),
            rules: [(RegisterId(0), Rule::Undefined); MAX_RULES],
            count: 0,
            return_address: RegisterId(0),
            is_signal: false,
        }
    }

    /// Copies a row; `None` where it has a rule that this machine does not know.
    fn take(&mut self, found: &FoundRow<'_>) -> Option<()> {
        self.count = 0;
        for rule in found.rules() {
            // More than there are registers are none of those that are kept.
            let Some(slot) = self.rules.get_mut(self.count) else { break };
            *slot = rule?;
            self.count = self.count.saturating_add(1);
        }
        self.cfa = found.cfa();
        self.return_address = found.return_address();
        self.is_signal = found.is_signal();
        Some(())
    }

    fn by_ref(&self) -> RowRef<'_> {
        RowRef {
            cfa: self.cfa,
            rules: self.rules.get(..self.count).unwrap_or_default(),
            return_address: self.return_address,
            is_signal: self.is_signal,
        }
    }
}
