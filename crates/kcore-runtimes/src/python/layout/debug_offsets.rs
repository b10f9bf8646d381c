//! `_Py_DebugOffsets`: what `_PyRuntime` begins with since 3.13, `Include/internal/pycore_debug_offsets.h`.
//!
//! All fields are `uint64_t`; each group of them begins with the size of the structure that it is of. The
//! groups grow with each minor version, so that each has a table of its own of where they lie.

use kcore_mem::{Addr, AddressSpace};

use super::{super::Version, CodeOffsets, FrameOffsets, InterpreterOffsets, Layout, ThreadOffsets};

/// What it begins with.
pub const COOKIE: &[u8; 8] = b"xdebugpy";

/// No structure is so big.
const MAX_SIZE: u64 = 1 << 20;

/// What a process says of its layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugOffsets {
    /// Where it lies: `_PyRuntime`.
    pub at: Addr,
    /// The version.
    pub version: Version,
    /// Whether the build has no global lock: other layouts, which are not known.
    pub is_free_threaded: bool,
}

impl DebugOffsets {
    /// That which lies at `at`, if one does.
    pub fn load(space: &dyn AddressSpace, at: Addr) -> Option<Self> {
        let mut cookie = [0; 8];
        space.read(at, &mut cookie).ok()?;
        (&cookie == COOKIE).then_some(())?;
        let word = |offset| space.read_word(at.checked_add(offset)?).ok();
        Some(Self { at, version: Version::parse(word(8)?)?, is_free_threaded: word(16)? != 0 })
    }

    /// The layouts of its version, with what it says in place of what the table has. `None` when the
    /// version is not known, or the table is damaged.
    pub fn layout(&self, space: &dyn AddressSpace) -> Option<Layout> {
        let mut layout = Layout::of(self.version.minor())?;
        for group in groups(&mut layout)? {
            let size = self.word(space, group.size)?;
            (0 < size && size <= MAX_SIZE).then_some(())?;
            for (place, offset) in group.fields {
                *offset = self.word(space, place).filter(|offset| *offset < size)?;
            }
        }
        let [gil, gc, collecting] = self.of_interpreter(space, layout.minor)?;
        layout.interpreter.size = self.word(space, 48);
        layout.interpreter.gil = Some(gil);
        layout.interpreter.gc = Some(gc);
        layout.interpreter.collecting = Some(collecting);
        Some(layout)
    }

    fn word(&self, space: &dyn AddressSpace, place: u64) -> Option<u64> {
        space.read_word(self.at.checked_add(place)?).ok()
    }

    /// The pointer to the state of the lock, the state of the collector, and whether that runs.
    fn of_interpreter(&self, space: &dyn AddressSpace, minor: u8) -> Option<[u64; 3]> {
        let [gil, gc, collecting] = match minor {
            13 => [112, 80, 576],
            14 => [120, 88, 656],
            _ => [120, 88, 760],
        };
        let gc = self.word(space, gc)?;
        Some([self.word(space, gil)?, gc, gc.checked_add(self.word(space, collecting)?)?])
    }
}

/// A structure: where its size stands, and where its fields stand, with what they are to become.
struct Group<'a> {
    size: u64,
    fields: Vec<(u64, &'a mut u64)>,
}

/// Where the groups begin whose fields have the same order in all versions.
struct GroupOffsets {
    thread: u64,
    thread_ids: u64,
    frame: u64,
    code: u64,
    /// `sys.modules`, `sys` and `builtins` of an interpreter.
    dicts: [u64; 3],
}

impl GroupOffsets {
    const fn of(minor: u8) -> Option<Self> {
        Some(match minor {
            13 => {
                Self { thread: 152, thread_ids: 192, frame: 224, code: 272, dicts: [88, 96, 104] }
            }
            14 => {
                Self { thread: 176, thread_ids: 216, frame: 248, code: 312, dicts: [96, 104, 112] }
            }
            15 => {
                Self { thread: 176, thread_ids: 240, frame: 312, code: 376, dicts: [96, 104, 112] }
            }
            _ => return None,
        })
    }
}

/// The structures that are read, in 3.13 to 3.15.
fn groups(layout: &mut Layout) -> Option<[Group<'_>; 5]> {
    let places = GroupOffsets::of(layout.minor)?;
    Some([
        Group { size: 24, fields: vec![(40, &mut layout.runtime.head)] },
        interpreter(&mut layout.interpreter, &places),
        thread(&mut layout.thread, &places),
        frame(&mut layout.frame, &places),
        code(&mut layout.code, &places),
    ])
}

fn interpreter<'a>(offsets: &'a mut InterpreterOffsets, places: &GroupOffsets) -> Group<'a> {
    let [modules, sysdict, builtins] = places.dicts;
    let fields = vec![
        (56, &mut offsets.id),
        (64, &mut offsets.next),
        (72, &mut offsets.threads),
        (modules, &mut offsets.modules),
        (sysdict, &mut offsets.sysdict),
        (builtins, &mut offsets.builtins),
    ];
    Group { size: 48, fields }
}

fn thread<'a>(offsets: &'a mut ThreadOffsets, places: &GroupOffsets) -> Group<'a> {
    let after = |bytes| places.thread.saturating_add(bytes);
    let mut fields = vec![
        (after(8), &mut offsets.prev),
        (after(16), &mut offsets.next),
        (after(24), &mut offsets.interpreter),
        (places.thread_ids, &mut offsets.thread_id),
    ];
    fields.extend(offsets.frame.as_mut().map(|field| (after(32), field)));
    let native_id = places.thread_ids.saturating_add(8);
    fields.extend(offsets.native_id.as_mut().map(|field| (native_id, field)));
    Group { size: places.thread, fields }
}

fn frame<'a>(offsets: &'a mut FrameOffsets, places: &GroupOffsets) -> Group<'a> {
    let after = |bytes| places.frame.saturating_add(bytes);
    let mut fields = vec![
        (after(8), &mut offsets.previous),
        (after(16), &mut offsets.code),
        (after(24), &mut offsets.instruction),
        (after(32), &mut offsets.slots),
    ];
    fields.extend(offsets.owner.as_mut().map(|field| (after(40), field)));
    Group { size: places.frame, fields }
}

fn code<'a>(offsets: &'a mut CodeOffsets, places: &GroupOffsets) -> Group<'a> {
    let after = |bytes| places.code.saturating_add(bytes);
    let mut fields = vec![
        (after(8), &mut offsets.filename),
        (after(16), &mut offsets.name),
        (after(32), &mut offsets.lines),
        (after(40), &mut offsets.first_line),
        (after(48), &mut offsets.arguments),
        (after(72), &mut offsets.instructions),
    ];
    fields.extend(offsets.qualname.as_mut().map(|field| (after(24), field)));
    Group { size: places.code, fields }
}
