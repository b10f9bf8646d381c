//! One goroutine, a `runtime.g`.

use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr};
use kcore_unwind::Tid;

use super::{layout::Layout, reason::reason, state::State};

/// Fields that lie alike in all versions: the stack, the panic that is under way, the thread, and what is saved of
/// registers.
const STACK_LOW: u64 = 0;
const STACK_HIGH: u64 = 8;
const PANIC: u64 = 32;
const MACHINE: u64 = 48;
const SAVED_SP: u64 = 56;
const SAVED_PC: u64 = 64;
/// `sched.g`, which points to the goroutine that holds it: what does not is none.
pub const SELF: u64 = 72;
/// Back from `sched.bp` to `sched.lr`.
const LINK: u64 = 8;
/// From the state to the id, to since when it waits, and to what it waits for.
const ID: u64 = 8;
const SINCE: u64 = 24;
const REASON: u64 = 32;
/// From who made it to what it began with.
const START: u64 = 16;
/// Back from the channel of a `runtime.sudog` to the next one of its goroutine, `waitlink`.
const WAITLINK: u64 = 16;
/// From the labels to the timer with which it sleeps.
const TIMER: u64 = 8;
/// Channels of one goroutine that are read.
pub const MAX_CHANNELS: usize = 1024;
/// The number of the goroutine that runs `main`.
const FIRST: u64 = 1;
/// From `incgo` of a `runtime.m` to `isExtraInC`.
const KEPT: u64 = 2;
/// Bytes that are read: those of the largest.
const SIZE: usize = 400;

/// A goroutine that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goroutine {
    /// Its number.
    pub id: u64,
    /// Its `runtime.g`.
    pub at: Addr,
    /// What names it among the tasks of the process: its number, or of a second runtime of Go, whose numbers are those of
    /// the first one too, the address.
    pub task: u64,
    /// What it does.
    pub state: State,
    /// What it waits for, if it waits and its version's numbers are known.
    pub reason: Option<&'static str>,
    /// Since when it waits, in nanoseconds of the system's monotonic clock, once the garbage collector has seen it wait.
    pub since: Option<u64>,
    /// Where the `go` is that made it; the first one was made by the code that starts a process.
    pub creator: Option<CodeAddr>,
    /// The goroutine that made it, since Go 1.21.
    pub parent: Option<u64>,
    /// The function that it began with.
    pub start: Addr,
    /// Whether it is bound to its thread.
    pub locked: bool,
    /// Its stack, half-open.
    pub stack: AddrRange,
    /// The channel that it waits on, or the first of several.
    pub channel: Option<Addr>,
    /// The channels that it waits on, where it selects and there are several: each once, at most 1,024.
    pub channels: Box<[Addr]>,
    /// The thread that runs it, or is in a system call for it, by the number that the runtime has.
    pub thread: Option<Tid>,
    /// The `runtime.m` that runs it, or that it is bound to.
    pub machine: Option<Addr>,
    /// The thread that runs nothing else, if it is bound to one.
    pub bound: Option<Tid>,
    /// Whether it is in C.
    pub in_c: bool,
    /// Registers with which it was left; no stack pointer once it runs again.
    pub saved: SavedRegisters,
    /// Those with which it began its system call.
    pub system_call: Option<SavedRegisters>,
    /// Its innermost `runtime._panic`.
    pub panic: Option<Addr>,
    /// Its labels for profiles, as the runtime has them.
    pub labels: Option<Addr>,
    /// The `runtime.timer` with which it sleeps, or slept.
    pub timer: Option<Addr>,
    /// The bubble of `testing/synctest` that it is in, which has a clock of its own.
    pub bubble: Option<Addr>,
    /// When the runtime last looked at how long it takes, by the clock of `since`.
    pub tracked: Option<u64>,
    /// The signal of which the runtime made a panic.
    pub signal: Option<FaultSignal>,
}

/// Registers that were saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedRegisters {
    /// The program counter.
    pub pc: Addr,
    /// The stack pointer.
    pub sp: Option<Addr>,
    /// The frame pointer.
    pub fp: Option<Addr>,
    /// The link register, on machines that have one. It is saved of a goroutine that has not begun to run, or that was
    /// stopped before its function had a frame.
    pub link: Option<Addr>,
}

/// A signal that a goroutine brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSignal {
    /// Its number.
    pub number: u32,
    /// Its code, as in `siginfo_t`.
    pub code: u64,
    /// The address that it is about.
    pub address: Addr,
    /// Where the goroutine was.
    pub pc: Addr,
}

/// What lies where a goroutine should be.
pub enum FoundGoroutine {
    /// One that has not ended.
    Live(Box<Goroutine>),
    /// One that has ended, or was not yet made.
    Ended,
    /// Nothing that can be read, or that points at itself.
    Damaged,
}

/// A structure that was read in one piece.
struct Fields([u8; SIZE]);

impl Fields {
    fn word(&self, offset: u64) -> u64 {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.0.get(start..).and_then(<[u8]>::first_chunk);
        bytes.map(|bytes| u64::from_le_bytes(*bytes)).unwrap_or_default()
    }

    /// The signal, where it is the last thing that it brought about.
    fn signal(&self, (number, code): (u64, u64)) -> Option<FaultSignal> {
        let number = self.word(number) as u32;
        (number != 0).then(|| FaultSignal {
            number,
            code: self.word(code),
            address: Addr::new(self.word(code.saturating_add(8))),
            pc: Addr::new(self.word(code.saturating_add(16))),
        })
    }

    /// A pointer that is not null.
    fn pointer(&self, offset: u64) -> Option<Addr> {
        Some(Addr::new(self.word(offset))).filter(|at| at.get() != 0)
    }
}

/// The channels of all `runtime.sudog` from the first of a goroutine on, if there are several. They are in the order of
/// the channels, so the same ones lie together.
fn channels(space: &dyn AddressSpace, layout: &Layout, first: Option<Addr>) -> Box<[Addr]> {
    let pointer = |at: Addr, offset: u64| {
        space.read_addr(at.checked_add(offset)?).ok().filter(|at| at.get() != 0)
    };
    let link = layout.channel.saturating_sub(WAITLINK);
    let next = |sudog: &Addr| pointer(*sudog, link);
    let all = std::iter::successors(first, next).take(MAX_CHANNELS);
    let mut all: Vec<Addr> = all.map_while(|sudog| pointer(sudog, layout.channel)).collect();
    all.dedup();
    if all.len() > 1 { all.into() } else { Box::default() }
}

impl Goroutine {
    /// What the `runtime.g` at an address says.
    pub fn load(space: &dyn AddressSpace, layout: &Layout, at: Addr) -> FoundGoroutine {
        let mut fields = Fields([0; SIZE]);
        if space.read(at, &mut fields.0).is_err() || fields.word(SELF) != at.get() {
            return FoundGoroutine::Damaged;
        }
        let status = fields.word(layout.g.status) as u32;
        match State::of(status) {
            Some(state) => {
                FoundGoroutine::Live(Box::new(Self::of(space, layout, at, &fields, state)))
            }
            None => FoundGoroutine::Ended,
        }
    }

    fn of(
        space: &dyn AddressSpace,
        layout: &Layout,
        at: Addr,
        fields: &Fields,
        state: State,
    ) -> Self {
        let g = layout.g;
        let behind = |by: u64| g.status.saturating_add(by);
        let number = fields.word(behind(REASON)).to_le_bytes()[0];
        let since = fields.word(behind(SINCE));
        let sudog = fields.pointer(g.waiting).filter(|_| state.has_reason());
        let field = |at: Addr, offset| space.read_addr(at.checked_add(offset)?).ok();
        let (machine, locked) = (fields.pointer(MACHINE), fields.pointer(g.locked));
        let thread = |machine: Option<Addr>| {
            let thread = field(machine?, layout.thread)?;
            u32::try_from(thread.get()).ok().map(Tid::new)
        };
        let flag = |machine: Addr, behind: u64| {
            let at = machine.checked_add(layout.in_c)?.checked_add(behind)?;
            Some(space.read_uint(at, 1).ok()? != 0)
        };
        let is = |behind: u64| machine.and_then(|machine| flag(machine, behind)) == Some(true);
        // A thread of C keeps it for its next call, since 1.21. In 1.21 and 1.22 the flag is set below Go too.
        let is_kept = layout.minor >= 21
            && state == State::SystemCall
            && is(KEPT)
            && machine.and_then(|machine| {
                space.read_uint(machine.checked_add(layout.calls_of_c)?, 4).ok()
            }) == Some(0);
        let id = fields.word(behind(ID));
        Self {
            id,
            at,
            task: id,
            state,
            reason: reason(layout.minor, number).filter(|it| state.has_reason() && !it.is_empty()),
            since: Some(since)
                .filter(|since| (state.has_reason() || state == State::SystemCall) && *since != 0),
            creator: fields.pointer(g.creator).filter(|_| id != FIRST).map(CodeAddr::Return),
            parent: g.parent.map(|parent| fields.word(parent)).filter(|parent| *parent != 0),
            start: Addr::new(fields.word(g.creator.saturating_add(START))),
            locked: locked.is_some(),
            machine: machine.or(locked),
            bound: thread(locked).filter(|_| !is_kept),
            in_c: state == State::SystemCall && is(0) && !is_kept,
            stack: AddrRange::new(
                Addr::new(fields.word(STACK_LOW)),
                Addr::new(fields.word(STACK_HIGH)),
            ),
            channel: sudog
                .and_then(|sudog| field(sudog, layout.channel))
                .filter(|at| at.get() != 0),
            channels: channels(space, layout, sudog),
            thread: thread(machine).filter(|_| !is_kept),
            saved: SavedRegisters {
                pc: Addr::new(fields.word(SAVED_PC)),
                sp: fields.pointer(SAVED_SP),
                fp: fields.pointer(g.frame_pointer),
                link: fields.pointer(g.frame_pointer.saturating_sub(LINK)),
            },
            system_call: fields.pointer(g.system_call).map(|sp| SavedRegisters {
                pc: Addr::new(fields.word(g.system_call.saturating_add(8))),
                sp: Some(sp),
                fp: None,
                link: None,
            }),
            panic: fields.pointer(PANIC),
            labels: fields.pointer(g.labels),
            timer: fields.pointer(g.labels.saturating_add(TIMER)),
            bubble: g.bubble.and_then(|bubble| fields.pointer(bubble)),
            tracked: g.tracked.map(|stamp| fields.word(stamp)).filter(|stamp| *stamp != 0),
            signal: fields.signal(g.signal),
        }
    }
}
