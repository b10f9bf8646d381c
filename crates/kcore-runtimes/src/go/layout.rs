//! Where the fields of the runtime's structures lie, in bytes, on 64-bit machines.
//!
//! From the debug information of programs that Go 1.19.8, 1.21.13, 1.22.10, 1.23.9, 1.24.11, 1.25.5, 1.26.6 and 1.27.3
//! made (`runtime/runtime2.go`, `runtime/symtab.go`). A version that is not among them is not decoded.

/// The layouts of one minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The 27 in 1.27.
    pub minor: u8,
    /// `runtime.moduledata`: where offsets of `funcdata` begin.
    pub function_data: u64,
    /// The same: where offsets of types and of their names begin.
    pub types: u64,
    /// `runtime.g`.
    pub g: GoroutineLayout,
    /// `runtime.m`: `procid`, the number of its thread.
    pub thread: u64,
    /// The `funcID` of functions that the compiler made around others, `abi.FuncIDWrapper`.
    pub wrapper: u8,
    /// `runtime.sudog`: the channel.
    pub channel: u64,
    /// `runtime._panic`.
    pub panic: PanicLayout,
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
}

impl Layout {
    /// The layouts of a minor version; `None` of one that is not known.
    pub const fn of(minor: u8) -> Option<Self> {
        let (status, locked, parent, creator, waiting) = match minor {
            19 => (144, 232, None, 296, 328),
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
        let (types, function_data) = match minor {
            19 => (280, 304),
            ..=26 => (296, 320),
            _ => (296, 344),
        };
        let wrapper = match minor {
            ..=21 => 21,
            22..=24 => 22,
            _ => 23,
        };
        let panic = match minor {
            ..=21 => PanicLayout { value: 8, link: 24, recovered: 48 },
            22..=25 => PanicLayout { value: 8, link: 24, recovered: 96 },
            _ => PanicLayout { value: 0, link: 16, recovered: 88 },
        };
        let g = GoroutineLayout {
            frame_pointer,
            system_call,
            status,
            locked,
            parent,
            creator,
            waiting,
        };
        let channel = if minor >= 26 { 88 } else { 80 };
        Some(Self { minor, function_data, types, wrapper, g, thread, channel, panic })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_that_were_looked_at_are_known() {
        let known: Vec<u8> = (0..=u8::MAX).filter(|minor| Layout::of(*minor).is_some()).collect();
        assert_eq!(known, [19, 21, 22, 23, 24, 25, 26, 27]);
    }
}
