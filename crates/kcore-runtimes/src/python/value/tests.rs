//! Containers that are written word by word, whole and damaged.

use kcore_mem::{Addr, AddressSpace, Fault, Origin, Region, Target};

use super::{
    super::{
        heap::{DICT, Heap, Object},
        layout::Layout,
    },
    deque, ordered,
};

const BASE: u64 = 0x1000;
const AT: Addr = Addr::new(BASE);

/// Words from an address on.
struct Words(Vec<u8>);

impl AddressSpace for Words {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let skip = at.get().checked_sub(BASE).map(|skip| skip as usize);
        let bytes = skip.and_then(|skip| self.0.get(skip..));
        bytes.filter(|bytes| !bytes.is_empty()).ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

fn with_heap<T>(words: &[u64], ask: impl FnOnce(&Heap<'_>) -> T) -> T {
    let space = Words(words.iter().flat_map(|word| word.to_le_bytes()).collect());
    let layout = Layout::of(12).expect("it is known");
    ask(&Heap { space: &space, layout: &layout })
}

fn numbers(found: Option<Vec<Addr>>) -> Option<Vec<u64>> {
    found.map(|found| found.iter().map(|at| at.get()).collect())
}

/// A deque of the last item of one block, and the first two of the next one.
fn two_blocks() -> Vec<u64> {
    let (left, right) = (BASE + 9 * 8, BASE + 9 * 8 + 66 * 8);
    let mut words = vec![1, 0, 3, left, right, 63, 1, 0, u64::MAX];
    words.push(0);
    words.extend((0..64).map(|item| 0x100 + 8 * item));
    words.extend([right, left]);
    words.extend((0..64).map(|item| 0x1000 + 8 * item));
    words.push(0);
    words
}

fn items(words: &[u64], most: u64) -> Option<Vec<u64>> {
    let deque = Object { at: AT, class: AT, flags: 0 };
    with_heap(words, |heap| numbers(deque::items(heap, deque, most)))
}

#[test]
fn a_deque_goes_from_block_to_block() {
    let whole = vec![0x100 + 8 * 63, 0x1000, 0x1008];
    assert_eq!(items(&two_blocks(), 9), Some(whole.clone()));
    assert_eq!(items(&two_blocks(), 2), Some(whole[..2].to_vec()));
}

#[test]
fn a_deque_that_is_not_as_long_as_it_says_is_not_told() {
    let with = |place: usize, word| {
        let mut words = two_blocks();
        words[place] = word;
        items(&words, 9)
    };
    assert_eq!(with(2, 2), None, "a length");
    assert_eq!(with(5, 64), None, "an index beyond a block");
    assert_eq!(with(9 + 65, BASE + 7 * 8), None, "a link to elsewhere");
    assert_eq!(with(9 + 65, 0), None, "no link");
}

/// An `OrderedDict` of the keys 0x50 and 0x40, which its dict has in the other order.
fn moved() -> Vec<u64> {
    let keys = BASE + 8 * 8;
    let nodes = keys + 9 * 8;
    let mut words = vec![1, 0, 2, 0, keys, 0, nodes, nodes + 32];
    // Tables of 8 slots and 8 bytes, whose keys are texts.
    words.extend([1, 3 | 3 << 8 | 1 << 16, 0, 2, 0, 0x40, 0x48, 0x50, 0x58]);
    words.extend([0x50, 0, nodes + 32, 0, 0x40, 0, 0, nodes]);
    words
}

fn entries(words: &[u64], most: u64) -> Option<Vec<[u64; 2]>> {
    let dict = Object { at: AT, class: AT, flags: DICT };
    let found = with_heap(words, |heap| ordered::entries(heap, dict, most))?;
    Some(found.iter().map(|entry| [entry.key.get(), entry.value.get()]).collect())
}

#[test]
fn an_ordered_dict_has_the_order_of_its_list() {
    assert_eq!(entries(&moved(), 9), Some(vec![[0x50, 0x58], [0x40, 0x48]]));
    assert_eq!(entries(&moved(), 1), Some(vec![[0x50, 0x58]]));
}

#[test]
fn a_list_that_is_not_the_dicts_gives_no_order() {
    let nodes = 8 + 9;
    let with = |place: usize, word| {
        let mut words = moved();
        words[place] = word;
        entries(&words, 9)
    };
    assert_eq!(with(nodes, 0x60), None, "a key that the dict has not");
    assert_eq!(with(nodes + 2, 0), None, "too few nodes");
    assert_eq!(with(nodes + 6, BASE + nodes as u64 * 8), None, "a circle");
    assert_eq!(with(nodes + 7, 0), None, "a link back to nowhere");
    assert_eq!(with(2, 3), None, "another length");
}
