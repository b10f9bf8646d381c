//! Where the fields of the runtime's structures lie, in bytes, on 64-bit machines.
//!
//! From the debug information of programs that Go 1.18.3, 1.19.8, 1.20, 1.21.13, 1.22.10, 1.23.9, 1.24.11, 1.25.5, 1.26.6
//! and 1.27.3 made (`runtime/runtime2.go`, `runtime/symtab.go`). A version that is not among them is not decoded.

use super::timer_layout::TimerLayout;

/// The layouts of one minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The 27 in 1.27.
    pub minor: u8,
    /// `runtime.moduledata`: where offsets of `funcdata` begin.
    pub function_data: u64,
    /// The same: where types and their names begin, and end.
    pub types: u64,
    /// See `types`.
    pub types_end: u64,
    /// The same: the module behind it in the list of those that share a runtime.
    pub next_module: u64,
    /// `runtime.g`.
    pub g: GoroutineLayout,
    /// `runtime.m`: `procid`, the number of its thread.
    pub thread: u64,
    /// The same: `incgo`, whether it runs C.
    pub in_c: u64,
    /// The same: `ncgo`, how many calls of C are under way.
    pub calls_of_c: u64,
    /// The `funcID` of functions that the compiler made around others, `abi.FuncIDWrapper`.
    pub wrapper: u8,
    /// `runtime.sudog`: the channel.
    pub channel: u64,
    /// `runtime.hchan`: the type of the elements.
    pub channel_type: u64,
    /// `runtime._panic`.
    pub panic: PanicLayout,
    /// What `runtime.asmcgocall` keeps.
    pub call: CallLayout,
    /// Timers.
    pub timers: TimerLayout,
}

/// Words that `runtime.asmcgocall` keeps on the stack of the system while C runs, from its stack pointer on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLayout {
    /// How far the goroutine's stack pointer lay below the end of its stack.
    pub depth: u64,
    /// The goroutine.
    pub goroutine: u64,
    /// Bytes that it takes at least.
    pub room: u64,
}

/// Fields of `runtime._panic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanicLayout {
    /// `arg`, a word for its type and one for its data.
    pub value: u64,
    /// `link`: the panic that was under way when this one began.
    pub link: u64,
    /// `recovered`.
    pub recovered: u64,
    /// `repanicked`, since 1.25: that which it led to has the same value.
    pub repeated: Option<u64>,
    /// `goexit`: it is a call of `runtime.Goexit`.
    pub ends_goroutine: u64,
}

/// Fields of `runtime.g`. Those before them lie alike in all versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoroutineLayout {
    /// `sched.bp`.
    pub frame_pointer: u64,
    /// `syscallsp`; `syscallpc` follows it.
    pub system_call: u64,
    /// `atomicstatus`; `goid`, `waitsince` and `waitreason` lie behind it alike in all versions.
    pub status: u64,
    /// `lockedm`.
    pub locked: u64,
    /// `parentGoid`, since 1.21.
    pub parent: Option<u64>,
    /// `gopc`; `startpc` is two words behind it.
    pub creator: u64,
    /// `waiting`.
    pub waiting: u64,
    /// `labels`.
    pub labels: u64,
    /// `bubble` of `testing/synctest`, in 1.24 `syncGroup`.
    pub bubble: Option<u64>,
    /// `trackingStamp`, an instant that is not long ago, since 1.20.
    pub tracked: Option<u64>,
    /// `sig`, and `sigcode0`; `sigcode1` and `sigpc` follow that.
    pub signal: (u64, u64),
}

impl Layout {
    /// The layouts of a minor version; `None` of one that is not known.
    pub const fn of(minor: u8) -> Option<Self> {
        let (status, locked, parent, creator, waiting) = match minor {
            18..=20 => (144, 232, None, 296, 328),
            21 | 22 => (144, 208, Some(272), 280, 312),
            23 | 24 => (152, 216, Some(280), 288, 320),
            25 => (144, 208, Some(272), 280, 312),
            26 | 27 => (144, 208, Some(280), 288, 320),
            _ => return None,
        };
        let (frame_pointer, system_call, thread) = match minor {
            ..=24 => (104, 112, 72),
            _ => (96, 104, 64),
        };
        let (types, types_end, function_data) = match minor {
            ..=19 => (280, 288, 304),
            20..=26 => (296, 304, 320),
            _ => (296, 312, 344),
        };
        let next_module = match minor {
            ..=19 => 544,
            20 => 560,
            21 | 22 | 26 => 584,
            23..=25 => 576,
            _ => 560,
        };
        let wrapper = match minor {
            ..=21 => 21,
            22..=24 => 22,
            _ => 23,
        };
        let panic = match minor {
            ..=25 => {
                let (recovered, repeated, ends_goroutine) = match minor {
                    ..=21 => (48, None, 50),
                    25 => (96, Some(97), 98),
                    _ => (96, None, 97),
                };
                PanicLayout { value: 8, link: 24, recovered, repeated, ends_goroutine }
            }
            _ => PanicLayout {
                value: 0,
                link: 16,
                recovered: 88,
                repeated: Some(89),
                ends_goroutine: 90,
            },
        };
        let signal = match minor {
            ..=20 => (240, 272),
            21 | 22 => (216, 248),
            23 => (224, 256),
            24 => (228, 256),
            25 => (220, 248),
            _ => (224, 256),
        };
        let call = match minor {
            ..=21 => CallLayout { depth: 40, goroutine: 48, room: 64 },
            _ => CallLayout { depth: 0, goroutine: 8, room: 16 },
        };
        let (in_c, calls_of_c) = match minor {
            ..=21 => (280, 312),
            22 | 23 => (280, 304),
            25 => (272, 320),
            _ => (280, 328),
        };
        let channel = if minor >= 26 { 88 } else { 80 };
        let channel_type = if minor >= 23 { 40 } else { 32 };
        let tracked = match minor {
            ..=19 => None,
            23 | 24 => Some(200),
            _ => Some(192),
        };
        let labels = match minor {
            ..=20 => 360,
            21 | 22 | 25 => 344,
            _ => 352,
        };
        let bubble = match minor {
            ..=23 => None,
            25 => Some(384),
            _ => Some(392),
        };
        let g = GoroutineLayout {
            frame_pointer,
            system_call,
            status,
            locked,
            parent,
            creator,
            waiting,
            signal,
            labels,
            bubble,
            tracked,
        };
        Some(Self {
            minor,
            function_data,
            types,
            types_end,
            next_module,
            g,
            thread,
            in_c,
            calls_of_c,
            wrapper,
            channel,
            channel_type,
            panic,
            call,
            timers: TimerLayout::of(minor),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_that_were_looked_at_are_known() {
        let known: Vec<u8> = (0..=u8::MAX).filter(|minor| Layout::of(*minor).is_some()).collect();
        assert_eq!(known, [18, 19, 20, 21, 22, 23, 24, 25, 26, 27]);
    }
}
