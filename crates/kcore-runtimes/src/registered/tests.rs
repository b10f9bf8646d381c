//! Objects and trees of libgcc, made in memory.

use kcore_mem::{Addr, AddressSpace, Fault, Origin, Region, Target};

use super::{object, record_len, section_len, tree};

const BASE: u64 = 0x1000;
/// Where a section of frame descriptions begins, and what is none.
const SECTION: u64 = BASE + 0x800;
const NO_SECTION: u64 = BASE + 0x900;

/// Words at [`BASE`].
struct Memory(Vec<u8>);

impl Memory {
    /// With sections at [`SECTION`] and 8 places that follow it, 32 bytes apart.
    fn new() -> Self {
        let mut memory = Self(vec![0; 0x1000]);
        for index in 0..8 {
            // A length of 16, the mark of what descriptions have in common, version 1.
            memory.put(SECTION + 32 * index, &[16, 1]);
        }
        memory
    }

    fn put(&mut self, at: u64, words: &[u64]) {
        for (index, word) in words.iter().enumerate() {
            let offset = (at - BASE) as usize + index * 8;
            self.0[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
        }
    }

    fn list(&self, first: u64) -> Vec<u64> {
        let mut found = Vec::new();
        object::sections(Addr::new(first), self, &mut found);
        found.into_iter().map(Addr::get).collect()
    }

    fn tree(&self, root: u64) -> Vec<u64> {
        let mut found = Vec::new();
        tree::sections(Addr::new(root), self, &mut found);
        found.into_iter().map(Addr::get).collect()
    }
}

impl AddressSpace for Memory {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let offset = at.offset_from(Addr::new(BASE)).ok_or(Fault::Unmapped(at))?;
        let rest = self.0.get(offset as usize..).filter(|rest| !rest.is_empty());
        rest.ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

/// An object: `pc_begin`, `tbase`, `dbase`, `u`, `s`, `next`.
const fn object_of(u: u64, s: u64, next: u64) -> [u64; 6] {
    [u64::MAX, 0, 0, u, s, next]
}

/// What `s` is of an object whose descriptions were not looked through: no encoding is known.
const NEW: u64 = 0xff << 3;

#[test]
fn a_list_has_objects_of_all_kinds() {
    let mut memory = Memory::new();
    let [sorted, array] = [BASE + 0x200, BASE + 0x300];
    memory.put(BASE, &object_of(SECTION, NEW, BASE + 0x40));
    memory.put(BASE + 0x40, &object_of(sorted, 1 | 5 << 11, BASE + 0x80));
    memory.put(sorted, &[SECTION + 32, 5, 0, 0]);
    memory.put(BASE + 0x80, &object_of(array, 2 | NEW, 0));
    memory.put(array, &[SECTION + 64, SECTION + 96, 0, SECTION + 128]);
    let sections = [SECTION, SECTION + 32, SECTION + 64, SECTION + 96];
    assert_eq!(memory.list(BASE), sections);
}

#[test]
fn what_is_no_object_has_no_sections() {
    let mut memory = Memory::new();
    memory.put(BASE, &object_of(NO_SECTION, NEW, 0));
    memory.put(BASE + 0x40, &object_of(SECTION, NEW | 1 << 40, 0));
    memory.put(BASE + 0x80, &object_of(0xdead_0000, NEW, 0));
    assert_eq!(
        [0, 0x40, 0x80, 0x5000].map(|at| memory.list(BASE + at)),
        [const { Vec::<u64>::new() }; 4]
    );
    assert_eq!(memory.list(0), [0; 0]);
}

#[test]
fn a_list_that_goes_round_ends() {
    let mut memory = Memory::new();
    memory.put(BASE, &object_of(SECTION, NEW, BASE));
    assert_eq!(memory.list(BASE), [SECTION]);
}

#[test]
fn a_tree_has_the_objects_of_its_leaves() {
    let mut memory = Memory::new();
    let [root, left, right] = [BASE + 0x100, BASE + 0x200, BASE + 0x300];
    let [inner, leaf] = [0, 1 << 32];
    for (index, at) in [BASE, BASE + 0x40, BASE + 0x80].into_iter().enumerate() {
        memory.put(at, &object_of(SECTION + 32 * index as u64, NEW, 0xbad));
    }
    memory.put(root, &[4, 2 | inner, 0x5000, left, u64::MAX, right]);
    memory.put(left, &[8, 2 | leaf, 0x4000, 0x100, BASE, 0x4800, 0x100, BASE + 0x40]);
    memory.put(right, &[8, 1 | leaf, 0x6000, 0x100, BASE + 0x80]);
    assert_eq!(memory.tree(root), [SECTION, SECTION + 32, SECTION + 64]);
    assert_eq!(memory.tree(right), [SECTION + 64]);
}

#[test]
fn a_damaged_tree_ends() {
    let mut memory = Memory::new();
    let root = BASE + 0x100;
    memory.put(root, &[4, 2, 0x5000, root, u64::MAX, root]);
    assert_eq!(memory.tree(root), [0; 0]);
    memory.put(root, &[4, 16, 0x5000, root]);
    assert_eq!(memory.tree(root), [0; 0], "more entries than a node can have");
    memory.put(root, &[4, 1 | 2 << 32, 0x5000, 0x100, root]);
    assert_eq!(memory.tree(root), [0; 0], "a node that is free");
}

#[test]
fn a_section_is_as_long_as_its_records_or_its_memory() {
    let mut memory = Memory::new();
    let at = |offset: u64| Addr::new(BASE + offset);
    memory.put(BASE, &[12, 0, 4 | 7 << 32, 0]);
    assert_eq!(section_len(at(0), 1 << 20, &memory), 16 + 8);
    assert_eq!(section_len(at(0), 20, &memory), 20);
    memory.put(BASE, &[0xffff_ffff]);
    assert_eq!((record_len(at(0), &memory), section_len(at(0), 64, &memory)), (None, 0));
}
