//! States: `lua_State` and `global_State` of `lj_obj.h`, frames of the virtual machine of `lj_frame.h`.
//!
//! A state leads to the global state, and that to the main thread, which lies in one allocation right before it
//! (`GG_State` of `lj_dispatch.h`). Nothing else in a process looks so.

use kcore_mem::{Addr, AddressSpace};

use super::memory::{FUNCTION, Memory, TABLE, TAG, THREAD, pointer};

/// Bytes of a state: from one to the global state behind it. OpenResty's has two words more.
pub const SIZES: [u64; 2] = [96, 112];
/// `status`, `glref`, `base`, `top`, `maxstack`, `stack` and `cframe` of a state.
const STATUS: u64 = 11;
pub const GLOBAL: u64 = 16;
const BASE: u64 = 32;
const TOP: u64 = 40;
const LAST: u64 = 48;
const STACK: u64 = 56;
const C_FRAME: u64 = 80;
/// `gc.root`, `vmstate`, `mainthref`, `cur_L` and `jit_base` of the global state.
const OBJECTS: u64 = 40;
const MACHINE: u64 = 184;
const MAIN: u64 = 192;
const CURRENT: u64 = 368;
const TRACE_BASE: u64 = 376;
/// Of a frame of the machine (`CFRAME_OFS_NRES` and so on): results, its state, its instruction and the frame outside.
const RESULTS: u64 = 8;
const OWNER: u64 = 16;
const INSTRUCTION: u64 = 24;
const OUTER: u64 = 32;
/// `CFRAME_RAWMASK`.
const FLAGS: u64 = 3;
/// `LUA_YIELD`.
const YIELD: u8 = 1;
/// Frames of the machine of one state, at most.
const MAX_MACHINES: usize = 1 << 16;

/// A thread of Lua: the main one, or a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// `lua_State`.
    pub at: Addr,
    /// `global_State`.
    pub global: Addr,
    /// The state of the main thread.
    pub main: Addr,
}

/// What a state does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It has calls, and runs them or waits for a coroutine that it resumed.
    Active,
    /// It yielded.
    Suspended,
    /// It has not begun: its function lies on its stack.
    Created,
    /// An error ended it, whose calls are still there.
    Failed,
    /// It has no calls.
    Idle,
}

/// A frame of the virtual machine on the stack of C, by where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineFrame(pub Addr);

impl State {
    /// The state at an address, if one lies there.
    pub fn at(space: &dyn AddressSpace, at: Addr) -> Option<Self> {
        let memory = Memory { space };
        (memory.byte(at, TAG)? == THREAD).then_some(())?;
        let global = memory.pointer(at, GLOBAL)?;
        let main = memory.pointer(global, MAIN)?;
        let is_main = SIZES.contains(&global.offset_from(main)?)
            && memory.byte(main, TAG)? == THREAD
            && memory.pointer(main, GLOBAL)? == global;
        is_main.then_some(Self { at, global, main })
    }

    /// Whether it is the main thread of its global state.
    pub fn is_main(&self) -> bool {
        self.at == self.main
    }

    /// Where its stack of values begins.
    pub fn stack(&self, memory: &Memory<'_>) -> Option<Addr> {
        memory.pointer(self.at, STACK)
    }

    /// Where the variables of its innermost call begin; in a trace, of the one that entered it.
    pub fn base(&self, memory: &Memory<'_>) -> Option<Addr> {
        let traced = self.trace(memory).and_then(|_| memory.pointer(self.global, TRACE_BASE));
        traced.or_else(|| memory.pointer(self.at, BASE))
    }

    /// Whether variables of a call may begin at a place on its stack: a function stands before them.
    pub fn is_base(&self, memory: &Memory<'_>, at: Addr) -> bool {
        let check = || {
            let (stack, end) = (self.stack(memory)?, memory.pointer(self.at, LAST)?);
            let called = Addr::new(at.get().checked_sub(16)?);
            let is_inside = at.get().is_multiple_of(8) && called >= stack && at <= end;
            let function = super::memory::Value(memory.word(called, 0)?).object(FUNCTION)?;
            memory.function(function).filter(|_| is_inside)
        };
        check().is_some()
    }

    /// The innermost frame of the machine that runs it.
    pub fn machine(&self, memory: &Memory<'_>) -> Option<MachineFrame> {
        machine(memory.word(self.at, C_FRAME)?)
    }

    /// All frames of the machine that run it, innermost first.
    pub fn machines(&self, memory: &Memory<'_>) -> Vec<MachineFrame> {
        let mut all: Vec<MachineFrame> = Vec::new();
        let mut next = self.machine(memory);
        while let Some(frame) = next.filter(|_| all.len() < MAX_MACHINES) {
            // They lie higher from one to the next.
            if all.last().is_some_and(|last| frame <= *last) {
                break;
            }
            all.push(frame);
            next = frame.outer(memory);
        }
        all
    }

    /// The number of the trace in whose machine code the process is, where this state runs it.
    pub fn trace(&self, memory: &Memory<'_>) -> Option<u32> {
        // Below zero it says what else is done.
        let number = u32::try_from(memory.uint(self.global, MACHINE, 4)?).ok()?;
        (1..1 << 31).contains(&number).then_some(())?;
        let is_current = memory.pointer(self.global, CURRENT)? == self.at
            && memory.pointer(self.global, TRACE_BASE).is_some();
        is_current.then_some(number)
    }

    /// The table of what C code keeps: `registrytv`.
    pub fn registry(&self, memory: &Memory<'_>) -> Option<Addr> {
        const REGISTRY: u64 = 272;
        memory.value(self.global.checked_add(REGISTRY)?)?.object(TABLE)
    }

    /// The first of all objects.
    pub fn objects(&self, memory: &Memory<'_>) -> Option<Addr> {
        memory.pointer(self.global, OBJECTS)
    }

    /// What it does: `lj_cf_coroutine_status` of `lib_base.c`.
    pub fn activity(&self, memory: &Memory<'_>) -> Option<Activity> {
        let status = memory.byte(self.at, STATUS)?;
        let (base, top) = (self.base(memory)?, memory.pointer(self.at, TOP)?);
        let bottom = self.stack(memory)?.checked_add(16)?;
        let has_machine = self.machine(memory).is_some();
        Some(match status {
            YIELD => Activity::Suspended,
            0 if base > bottom || has_machine => Activity::Active,
            0 if top > base => Activity::Created,
            0 => Activity::Idle,
            _ => Activity::Failed,
        })
    }
}

impl MachineFrame {
    /// The state that it runs.
    pub fn owner(self, memory: &Memory<'_>) -> Option<Addr> {
        memory.pointer(self.0, OWNER)
    }

    /// The instruction that was stored before it left for C.
    pub fn instruction(self, memory: &Memory<'_>) -> Option<u64> {
        memory.word(self.0, INSTRUCTION)
    }

    /// The frame of the same state around it.
    pub fn outer(self, memory: &Memory<'_>) -> Option<Self> {
        machine(memory.word(self.0, OUTER)?)
    }

    /// The place on the stack of values, from its beginning, under which it runs nothing: of a protected call of C.
    pub fn floor(self, memory: &Memory<'_>) -> Option<u64> {
        let results = u32::try_from(memory.uint(self.0, RESULTS, 4)?).ok()?.cast_signed();
        (results < 0).then(|| u64::from(results.unsigned_abs()))
    }
}

fn machine(word: u64) -> Option<MachineFrame> {
    pointer(word & !FLAGS).map(MachineFrame)
}
