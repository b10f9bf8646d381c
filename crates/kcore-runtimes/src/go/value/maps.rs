//! The entries of maps (`internal/runtime/maps/{map.go,table.go,group.go}`; before Go 1.24 `runtime/map.go`).

use kcore_mem::{Addr, AddressSpace};

use super::printer::Printer;
use crate::go::{
    heap::TypeReader,
    type_shape::{Field, MapShape, Shape},
};

/// Entries of a group or bucket.
const ENTRIES: u64 = 8;
/// Groups, buckets and tables that are looked at, at most.
const MAX_GROUPS: u64 = 1 << 16;
const MAX_TABLES: u64 = 1 << 12;
/// Since when maps have groups.
const GROUPS_SINCE: u8 = 24;
/// Fields of a map, and of a table.
const DIRECTORY: u64 = 16;
const DIRECTORY_LENGTH: u64 = 24;
const GROUPS: u64 = 16;
const LAST_GROUP: u64 = 24;
/// A bit of a control byte: no entry.
const EMPTY: u64 = 0x80;
/// Fields of `runtime.hmap`, a flag of it, and the lowest hash that is one of an entry.
const FLAGS: u64 = 8;
const LOG_BUCKETS: u64 = 9;
const BUCKETS: u64 = 16;
const OLD_BUCKETS: u64 = 24;
const SAME_SIZE: u64 = 8;
const LOWEST_HASH: u64 = 5;

/// Entries: where the key and the value of each lie, and their types.
#[derive(Default)]
pub struct Entries {
    pub all: Vec<[(Addr, Addr); 2]>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// At most so many entries of the map whose head lies at an address.
pub fn entries(printer: &Printer<'_>, map: MapShape, head: Addr, most: u64) -> Option<Entries> {
    let space = printer.host.space();
    let layout = GroupLayout::of(printer.reader, map)?;
    let most = usize::try_from(most).ok()?;
    let mut found = Reader { space, layout, most, left: MAX_GROUPS, entries: Entries::default() };
    match printer.go.layout.minor >= GROUPS_SINCE {
        true => found.of_groups(head)?,
        false => found.of_buckets(head)?,
    }
    Some(found.entries)
}

/// Where keys and values lie in a group or bucket.
struct GroupLayout {
    size: u64,
    /// The first one, how far they are apart, their type, and whether pointers to them are there.
    key: (u64, u64, Addr, bool),
    value: (u64, u64, Addr, bool),
    /// The pointer to the next bucket.
    overflow: Option<u64>,
}

impl GroupLayout {
    /// By the type that describes a group: it has the fields `slots`, of `key` and `elem`, or `keys` and `elems`.
    fn of(reader: &TypeReader<'_>, map: MapShape) -> Option<Self> {
        let group = reader.shaped(map.group)?;
        let Shape::Structure(fields) = &group.shape else { return None };
        let named =
            |fields: &[Field], name: &str| fields.iter().find(|it| &*it.name == name).cloned();
        let array = |field: &Field| match reader.shaped(field.ty)?.shape {
            Shape::Array(element, ENTRIES) => Some(element),
            _ => None,
        };
        let size = |ty: Addr| Some(reader.shaped(ty)?.ty.size);
        let part =
            |offset: u64, step: u64, held: Addr, meant: Addr| (offset, step, meant, held != meant);
        let overflow = named(fields, "overflow").map(|field| field.offset);
        let [key, value] = match named(fields, "slots") {
            Some(slots) => {
                let slot = reader.shaped(array(&slots)?)?;
                let Shape::Structure(parts) = &slot.shape else { return None };
                let of = |name: &str, meant: Addr| {
                    let field = named(parts, name)?;
                    let offset = slots.offset.checked_add(field.offset)?;
                    Some(part(offset, slot.ty.size, field.ty, meant))
                };
                [of("key", map.key)?, of("elem", map.value)?]
            }
            None => {
                let of = |name: &str, meant: Addr| {
                    let field = named(fields, name)?;
                    let held = array(&field)?;
                    Some(part(field.offset, size(held)?, held, meant))
                };
                [of("keys", map.key)?, of("elems", map.value)?]
            }
        };
        Some(Self { size: group.ty.size, key, value, overflow })
    }
}

struct Reader<'a> {
    space: &'a dyn AddressSpace,
    layout: GroupLayout,
    most: usize,
    left: u64,
    entries: Entries,
}

impl Reader<'_> {
    fn word(&self, at: Addr, offset: u64) -> Option<u64> {
        self.space.read_word(at.checked_add(offset)?).ok()
    }

    /// Whether there is room for more, and time.
    fn goes_on(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.entries.is_cut |= self.left == 0;
        !self.entries.is_cut
    }

    fn of_groups(&mut self, head: Addr) -> Option<()> {
        let (directory, count) =
            (Addr::new(self.word(head, DIRECTORY)?), self.word(head, DIRECTORY_LENGTH)?);
        if directory.get() == 0 {
            return Some(());
        }
        if count == 0 {
            return self.group(directory);
        }
        self.entries.is_cut |= count > MAX_TABLES;
        let mut before = None;
        for number in 0..count.min(MAX_TABLES) {
            let table = Addr::new(self.word(directory, number.checked_mul(8)?)?);
            // A table that has not grown with the directory stands in it several times.
            if before.replace(table) == Some(table) {
                continue;
            }
            let groups = Addr::new(self.word(table, GROUPS)?);
            for index in 0..=self.word(table, LAST_GROUP)? {
                if !self.goes_on() {
                    return Some(());
                }
                self.group(groups.checked_add(index.checked_mul(self.layout.size)?)?)?;
            }
        }
        Some(())
    }

    fn group(&mut self, at: Addr) -> Option<()> {
        let control = self.word(at, 0)?;
        let bytes = control.to_le_bytes();
        for (index, _) in (0..ENTRIES).zip(bytes).filter(|(_, byte)| u64::from(*byte) & EMPTY == 0)
        {
            self.entry(at, index)?;
        }
        Some(())
    }

    fn of_buckets(&mut self, head: Addr) -> Option<()> {
        let log = self.space.read_uint(head.checked_add(LOG_BUCKETS)?, 1).ok()?;
        let flags = self.space.read_uint(head.checked_add(FLAGS)?, 1).ok()?;
        let old = if flags & SAME_SIZE == 0 { log.saturating_sub(1) } else { log };
        for (offset, log) in [(BUCKETS, log), (OLD_BUCKETS, old)] {
            let first = Addr::new(self.word(head, offset)?);
            let count = 1_u64.checked_shl(u32::try_from(log).ok()?)?;
            for index in (0..count).take_while(|_| first.get() != 0) {
                if self.entries.is_cut {
                    return Some(());
                }
                self.chain(first.checked_add(index.checked_mul(self.layout.size)?)?)?;
            }
        }
        Some(())
    }

    /// A bucket with those that it overflows to.
    fn chain(&mut self, first: Addr) -> Option<()> {
        let mut next = first;
        while next.get() != 0 && self.goes_on() {
            let hashes = self.word(next, 0)?.to_le_bytes();
            for (index, _) in
                (0..ENTRIES).zip(hashes).filter(|(_, hash)| u64::from(*hash) >= LOWEST_HASH)
            {
                self.entry(next, index)?;
            }
            next = Addr::new(self.word(next, self.layout.overflow?)?);
        }
        Some(())
    }

    fn entry(&mut self, group: Addr, index: u64) -> Option<()> {
        if self.entries.all.len() >= self.most {
            self.entries.is_cut = true;
            return Some(());
        }
        let part = |(offset, step, ty, is_pointer): (u64, u64, Addr, bool)| {
            let at = group.checked_add(offset)?.checked_add(index.checked_mul(step)?)?;
            Some((if is_pointer { self.space.read_addr(at).ok()? } else { at }, ty))
        };
        let entry = [part(self.layout.key)?, part(self.layout.value)?];
        self.entries.all.push(entry);
        Some(())
    }
}
