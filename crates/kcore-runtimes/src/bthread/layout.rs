//! Where the fields of `bthread::TaskMeta` and of its stack lie, by release.

use std::sync::Arc;

use kcore_mem::Arch;

/// Offsets of the fields of `bthread::TaskMeta` that are read. Those before the entry function are the same
/// in all releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of one.
    pub size: u64,
    /// `current_waiter`.
    pub waiter: u64,
    /// `current_sleep`.
    pub sleep: u64,
    /// `version_butex`.
    pub version_butex: u64,
    /// `tid`.
    pub id: u64,
    /// `fn`.
    pub entry: u64,
    /// `arg`.
    pub argument: u64,
    /// `stack`.
    pub stack: u64,
    /// `attr`, which begins with the type of the stack.
    pub attributes: u64,
    /// `attr.name`, since 1.16.
    pub name: Option<u64>,
    /// `stat.nswitch`, where it is known.
    pub switches: Option<u64>,
    /// What `stack` points at.
    pub of_stack: StackLayout,
    /// `_cur_meta` of `bthread::TaskGroup`.
    pub current: u64,
    /// Where all this was had from, for people.
    pub source: Arc<str>,
}

/// Offsets in `bthread::ContextualStack`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackLayout {
    /// `context`: the stack pointer with which it was left.
    pub context: u64,
    /// `storage.stacksize`; the size of the guard comes behind it.
    pub size: u64,
    /// `storage.bottom`, its high end.
    pub bottom: u64,
}

/// Without a table of virtual functions, until 1.12; and with one, since 1.13.
pub const STACKS: [StackLayout; 2] = [
    StackLayout { context: 0, size: 16, bottom: 24 },
    StackLayout { context: 8, size: 24, bottom: 32 },
];

/// What the releases are told apart by, and what does not follow from that.
pub struct Release {
    /// Which ones.
    pub name: &'static str,
    /// Bytes of `TaskMeta`, on x86-64.
    size: u64,
    /// `fn`.
    pub entry: u64,
    /// `attr.name`.
    pub name_in_attributes: Option<u64>,
    /// `stat.nswitch`.
    pub switches: u64,
}

/// Bytes that a `pthread_mutex_t` of glibc's has more on aarch64 than on x86-64.
const WIDER_MUTEX: u64 = 8;

impl Release {
    /// Bytes of `TaskMeta`. Since 1.16, when attributes got a name, there is a mutex in it.
    pub fn size(&self, arch: Arch) -> u64 {
        let is_wider = arch == Arch::Aarch64 && self.name_in_attributes.is_some();
        self.size.saturating_add(if is_wider { WIDER_MUTEX } else { 0 })
    }
}

/// Checked with the compiler's `offsetof` on the tags 1.0.0 to 1.17.0 and on the state of 2026-08.
pub const RELEASES: &[Release] = &[
    Release { name: "0.9 to 1.7", size: 128, entry: 40, name_in_attributes: None, switches: 96 },
    Release { name: "1.8 to 1.11", size: 136, entry: 40, name_in_attributes: None, switches: 104 },
    Release { name: "1.12 to 1.15", size: 160, entry: 40, name_in_attributes: None, switches: 104 },
    Release {
        name: "1.16 to 1.17",
        size: 232,
        entry: 40,
        name_in_attributes: Some(20),
        switches: 136,
    },
    Release {
        name: "after 1.17",
        size: 240,
        entry: 48,
        name_in_attributes: Some(20),
        switches: 144,
    },
];

/// Where `tid` lies in all releases, and before it what tells whether a task lives.
pub const ID: u64 = 32;
/// `_cur_meta` of `bthread::TaskGroup` in all releases.
pub const CURRENT: u64 = 0;
/// `version_butex` in all releases.
pub const VERSION_BUTEX: u64 = 24;

impl Layout {
    /// The layout of a size whose entry function lies at `entry`: its argument, stack and attributes come
    /// behind it in all releases.
    pub fn of(arch: Arch, size: u64, entry: u64, of_stack: StackLayout) -> Self {
        let is_it = |release: &&Release| (release.size(arch), release.entry) == (size, entry);
        let release = RELEASES.iter().find(is_it);
        let after = |words: u64| entry.saturating_add(words.saturating_mul(8));
        let attributes = after(3);
        let name = release.and_then(|release| release.name_in_attributes);
        let source = release.map_or_else(
            || format!("a layout of {size} bytes, found in memory"),
            |release| format!("the layout of releases {}, found by its size", release.name),
        );
        Self {
            size,
            waiter: 0,
            sleep: 8,
            version_butex: VERSION_BUTEX,
            id: ID,
            entry,
            argument: after(1),
            stack: after(2),
            attributes,
            name: name.map(|name| attributes.saturating_add(name)),
            switches: release.map(|release| release.switches),
            of_stack,
            current: CURRENT,
            source: source.into(),
        }
    }
}
