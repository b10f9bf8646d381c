//! All objects of a heap in one list, for runtimes whose memory does not tell where an object begins that holds an address.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::objects::{HeapObject, Stopped, Watch};

/// Objects, at most.
const MAX_OBJECTS: usize = 1 << 25;
/// Objects between two looks at whether to go on.
const EVERY: usize = 1 << 14;
/// Below it lies nothing: what stands for a class there is the number of a type.
const FIRST_ADDRESS: u64 = 0x1000;

/// An object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Where it begins.
    pub at: Addr,
    /// What tells its class, or the number of its type.
    pub class: Addr,
    /// Bytes of the block in which it lies.
    pub own: u64,
    /// Those, and what it keeps elsewhere that nothing else has.
    pub size: u64,
    /// The number of the heap that has it, where there are several.
    pub heap: u32,
}

impl From<&Listed> for HeapObject {
    fn from(listed: &Listed) -> Self {
        Self { at: listed.at, class: Some(listed.class), size: listed.size }
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct ObjectList {
    /// They, lowest first once the list is finished.
    all: Vec<Listed>,
    known: FxHashSet<Addr>,
    /// What classes are called.
    names: FxHashMap<Addr, Arc<str>>,
    /// Whether there may be more.
    pub is_cut: bool,
}

impl ObjectList {
    /// Whether an object at an address is new; from now on it is known.
    pub fn is_new(&mut self, at: Addr) -> bool {
        let has_room = self.known.len() < MAX_OBJECTS;
        self.is_cut |= !has_room;
        has_room && self.known.insert(at)
    }

    /// Adds an object.
    pub fn add(&mut self, object: Listed) {
        self.all.push(object);
    }

    /// Says what a class is called.
    pub fn name(&mut self, class: Addr, name: Arc<str>) {
        self.names.insert(class, name);
    }

    /// Sorts them, once all are there.
    pub fn finish(&mut self) {
        self.all.sort_unstable_by_key(|object| object.at);
        self.known = FxHashSet::default();
    }

    /// The one whose block holds an address.
    pub fn holding(&self, at: Addr) -> Option<&Listed> {
        let after = self.all.partition_point(|object| object.at <= at);
        let object = self.all.get(after.checked_sub(1)?)?;
        at.offset_from(object.at).filter(|inside| *inside < object.own).map(|_| object)
    }

    /// The one that begins at an address.
    pub fn at(&self, at: Addr) -> Option<&Listed> {
        self.holding(at).filter(|object| object.at == at)
    }

    /// What the class of an object is called; `None` of one that is the number of a type.
    pub fn class_name(&self, object: &Listed) -> Option<Arc<str>> {
        (object.class.get() >= FIRST_ADDRESS).then(|| self.names.get(&object.class).cloned())?
    }

    /// Tells each of them.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn each(&self, watch: Watch<'_>, tell: &mut dyn FnMut(HeapObject)) -> Result<(), Stopped> {
        for (index, object) in self.all.iter().enumerate() {
            let is_look = index.is_multiple_of(EVERY);
            if is_look && watch(index as u64, self.all.len() as u64).is_break() {
                return Err(Stopped);
            }
            tell(object.into());
        }
        Ok(())
    }

    /// One line about the object that holds an address. `class` gives the name of its class.
    pub fn identify(&self, at: Addr, class: &str) -> Option<String> {
        let object = self.holding(at)?;
        let inside = match at.offset_from(object.at) {
            Some(0) | None => String::new(),
            Some(offset) => format!("+{offset:#x}"),
        };
        Some(format!("{:x}{inside}, {class} of {} bytes", object.at.get(), object.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_held_by_the_block_around_it_alone() {
        let mut list = ObjectList::default();
        for (at, own) in [(0x3000, 16), (0x2000, 32)] {
            let at = Addr::new(at);
            assert!(list.is_new(at) && !list.is_new(at));
            list.add(Listed { at, class: Addr::new(5), own, size: own, heap: 0 });
        }
        list.finish();
        let held = |at| list.holding(Addr::new(at)).map(|object| object.at.get());
        assert_eq!((held(0x2000), held(0x201f), held(0x2020)), (Some(0x2000), Some(0x2000), None));
        assert_eq!((held(0x1fff), held(0x300f), held(0x3010)), (None, Some(0x3000), None));
        assert!(list.at(Addr::new(0x2008)).is_none());
        let whole = list.identify(Addr::new(0x2008), "(table)");
        assert_eq!(whole.as_deref(), Some("2000+0x8, (table) of 32 bytes"));
    }
}
