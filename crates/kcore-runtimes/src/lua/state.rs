//! States: `lua_State` and `global_State` of `lstate.h`.
//!
//! A state leads to the global state, that to the main thread, and the main thread back: in one allocation the main
//! thread lies right before the global state. Nothing else in a process looks so.

use kcore_mem::{Addr, AddressSpace};

use super::{
    layout::{LAYOUTS, Layout, Series},
    memory::{Memory, THREAD, pointer},
};

const TAG: u64 = 8;
/// `LUA_YIELD`.
const YIELD: u8 = 1;

/// A thread of Lua: the main one, or a coroutine.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// `lua_State`.
    pub at: Addr,
    /// `global_State`.
    pub global: Addr,
    /// The state of the main thread.
    pub main: Addr,
    /// How it is laid out.
    pub layout: &'static Layout,
}

/// What a state does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It has calls, and runs them or waits for a coroutine that it resumed.
    Active,
    /// It yielded.
    Suspended,
    /// It has no calls: the main thread while nobody calls it, a coroutine that has not begun or that ended.
    Idle,
    /// An error ended it, whose calls are still there.
    Failed,
}

impl State {
    /// The state at an address, if one lies there.
    pub fn at(space: &dyn AddressSpace, at: Addr) -> Option<Self> {
        let tag = space.read_uint(at.checked_add(TAG)?, 1).ok()?;
        (tag == u64::from(THREAD)).then_some(())?;
        LAYOUTS.iter().find_map(|layout| Self::with_layout(space, layout, at))
    }

    fn with_layout(space: &dyn AddressSpace, layout: &'static Layout, at: Addr) -> Option<Self> {
        let memory = Memory { space, layout };
        let global = memory.pointer(at, layout.state.global)?;
        let main = memory.pointer(global, layout.global.main)?;
        let is_main = main.checked_add(layout.state.size)? == global
            && memory.byte(main, TAG)? == THREAD
            && memory.pointer(main, layout.state.global)? == global;
        is_main.then_some(Self { at, global, main, layout })
    }

    /// The memory that it lies in.
    pub const fn memory<'a>(&self, space: &'a dyn AddressSpace) -> Memory<'a> {
        Memory { space, layout: self.layout }
    }

    /// Whether it is the main thread of its global state.
    pub fn is_main(&self) -> bool {
        self.at == self.main
    }

    /// The innermost call, and the outermost, which stands for whoever called Lua.
    pub fn calls(&self, memory: &Memory<'_>) -> Option<(Addr, Addr)> {
        let innermost = memory.pointer(self.at, self.layout.state.call)?;
        let base = self.layout.state.base_call;
        let outermost = match self.layout.series {
            Series::V51 => memory.pointer(self.at, base)?,
            _ => self.at.checked_add(base)?,
        };
        Some((innermost, outermost))
    }

    /// What it does.
    pub fn activity(&self, memory: &Memory<'_>) -> Option<Activity> {
        let (innermost, outermost) = self.calls(memory)?;
        let status = memory.byte(self.at, self.layout.state.status)?;
        Some(match (status, innermost == outermost) {
            (YIELD, _) => Activity::Suspended,
            (_, true) => Activity::Idle,
            (0, false) => Activity::Active,
            (_, false) => Activity::Failed,
        })
    }

    /// Where on the stack of C the innermost protected call lies that it is in: `lua_longjmp` of `ldo.c`.
    pub fn protected(&self, memory: &Memory<'_>) -> Option<Addr> {
        memory.pointer(self.at, self.layout.state.error_jump)
    }

    /// Whether a coroutine waits for its first resumption: its function and its arguments lie on its stack.
    pub fn has_function(&self, memory: &Memory<'_>) -> bool {
        let stack = memory.pointer(self.at, self.layout.state.stack);
        let top = memory.word(self.at, self.layout.state.top).and_then(pointer);
        // The place of the outermost call comes first.
        stack.zip(top).and_then(|(stack, top)| top.offset_from(stack)).is_some_and(|used| used > 16)
    }
}
