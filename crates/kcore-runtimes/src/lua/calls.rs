//! The calls of a state: `CallInfo` of `lstate.h`.

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    layout::Series,
    memory::{Function, Memory, Value},
    names::is_called_by_call,
    proto::Proto,
    state::State,
};

/// Calls of one state, at most.
const MAX_CALLS: usize = 1 << 20;
/// `callstatus` of 5.4: a function of C; a new activation of the machine; a hook runs; called in place of its caller; a
/// finalizer.
const C_54: u64 = 1 << 1;
const FRESH_54: u64 = 1 << 2;
const HOOKED_54: u64 = 1 << 3;
const TAIL_54: u64 = 1 << 5;
const FINALIZER_54: u64 = 1 << 7;
/// Those of 5.3.
const LUA_53: u64 = 1 << 1;
const HOOKED_53: u64 = 1 << 2;
const FRESH_53: u64 = 1 << 3;
const TAIL_53: u64 = 1 << 5;
const FINALIZER_53: u64 = 1 << 8;
/// Those of 5.2, where one says that the activation is that of the caller.
const LUA_52: u64 = 1;
const HOOKED_52: u64 = 1 << 1;
const SAME_52: u64 = 1 << 2;
const TAIL_52: u64 = 1 << 6;
/// `savedpc` of a state of 5.1, which has the place of the innermost call.
const SAVED_51: u64 = 48;

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// `CallInfo`.
    pub at: Addr,
    /// Where its function lies on the stack of values.
    pub place: Addr,
    /// The function, as a value.
    pub value: Value,
    /// What it is; `None` where it cannot be read.
    pub function: Option<Function>,
    /// Its code, of a function of Lua.
    pub proto: Option<Proto>,
    /// Its instruction, if that is known.
    pub index: Option<u64>,
    /// Whether an activation of the machine was begun for it.
    pub is_fresh: bool,
    /// Whether it was called in place of its caller.
    pub is_tail: bool,
    /// Whether a hook runs that it did not call itself.
    pub is_hooked: bool,
    /// Whether it is a finalizer.
    pub is_finalizer: bool,
}

/// The calls of a state, innermost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// They.
    pub all: Vec<Call>,
    /// Why they end before the outermost.
    pub broken: Option<&'static str>,
}

/// What says how a call was made.
#[derive(Clone, Copy, Default)]
struct Bits {
    is_lua: Option<bool>,
    is_fresh: bool,
    is_tail: bool,
    is_hooked: bool,
    is_finalizer: bool,
}

impl Bits {
    fn read(series: Series, status: u64) -> Self {
        let has = |bit: u64| status & bit != 0;
        match series {
            Series::V54 => Self {
                is_lua: Some(!has(C_54)),
                is_fresh: has(FRESH_54),
                is_tail: has(TAIL_54),
                is_hooked: has(HOOKED_54),
                is_finalizer: has(FINALIZER_54),
            },
            Series::V53 => Self {
                is_lua: Some(has(LUA_53)),
                is_fresh: has(FRESH_53),
                is_tail: has(TAIL_53),
                is_hooked: has(HOOKED_53),
                is_finalizer: has(FINALIZER_53),
            },
            Series::V52 => Self {
                is_lua: Some(has(LUA_52)),
                is_fresh: !has(SAME_52),
                is_tail: has(TAIL_52),
                is_hooked: has(HOOKED_52),
                is_finalizer: false,
            },
            // Found out by the caller.
            Series::V51 => Self {
                is_lua: None,
                is_fresh: false,
                is_tail: status > 0,
                is_hooked: false,
                is_finalizer: false,
            },
        }
    }
}

impl Calls {
    /// Those of a state.
    pub fn of(memory: &Memory<'_>, state: &State) -> Self {
        let mut calls = Self::default();
        if calls.walk(memory, state).is_none() {
            calls.broken = Some("its calls are damaged, or were not dumped");
        }
        if memory.layout.series == Series::V51 {
            calls.find_fresh(memory);
        }
        calls
    }

    fn walk(&mut self, memory: &Memory<'_>, state: &State) -> Option<()> {
        let (mut at, outermost) = state.calls(memory)?;
        let mut protos: FxHashMap<Addr, Option<Proto>> = FxHashMap::default();
        while at != outermost {
            (self.all.len() < MAX_CALLS).then_some(())?;
            let is_innermost = self.all.is_empty();
            self.all.push(call(memory, state, at, is_innermost, &mut protos)?);
            at = match memory.layout.call.previous {
                Some(previous) => memory.pointer(at, previous)?,
                // They lie in an array.
                None => {
                    let size = memory.layout.call.size;
                    let before = at.get().checked_sub(size).map(Addr::new);
                    before.filter(|before| *before >= outermost)?
                }
            };
        }
        Some(())
    }

    /// In 5.1 a function of Lua runs in its caller's activation if an instruction for calls called it.
    fn find_fresh(&mut self, memory: &Memory<'_>) {
        let same: Vec<bool> = self
            .all
            .iter()
            .skip(1)
            .map(|caller| is_called_by_call(memory, caller))
            .chain([false])
            .collect();
        for (call, is_same) in self.all.iter_mut().zip(same) {
            call.is_fresh = !is_same;
        }
    }
}

fn call(
    memory: &Memory<'_>,
    state: &State,
    at: Addr,
    is_innermost: bool,
    protos: &mut FxHashMap<Addr, Option<Proto>>,
) -> Option<Call> {
    let layout = &memory.layout.call;
    let series = memory.layout.series;
    let bits = Bits::read(series, memory.uint(at, layout.status.0, layout.status.1)?);
    let place = match layout.extra.filter(|_| is_innermost && yielded(memory, state, bits)) {
        // What yielded has its function apart.
        Some(extra) => {
            let stack = memory.pointer(state.at, memory.layout.state.stack)?;
            stack.checked_add(memory.word(at, extra)?)?
        }
        None => memory.pointer(at, layout.function)?,
    };
    let value = memory.value(place)?;
    let function = memory.function(value);
    let proto = match function {
        Some(Function::Lua { proto, .. }) if bits.is_lua != Some(false) => {
            protos.entry(proto).or_insert_with(|| Proto::load(memory, proto)).clone()
        }
        _ => None,
    };
    let saved = match series {
        Series::V51 if is_innermost => memory.word(state.at, SAVED_51),
        _ => memory.word(at, layout.saved_pc),
    };
    let index = proto.as_ref().and_then(|proto| proto.index(saved?));
    Some(Call {
        at,
        place,
        value,
        function,
        index,
        is_fresh: bits.is_fresh,
        // 5.1 says nothing of that for functions of C.
        is_tail: bits.is_tail && !(series == Series::V51 && proto.is_none()),
        is_hooked: bits.is_hooked,
        is_finalizer: bits.is_finalizer,
        proto,
    })
}

fn yielded(memory: &Memory<'_>, state: &State, bits: Bits) -> bool {
    let is_c = bits.is_lua == Some(false);
    is_c && state.activity(memory) == Some(super::state::Activity::Suspended)
}
