//! Fibers that are ready in a queue which several schedulers share: no scheduler's list has them meanwhile.

use kcore_mem::{Addr, AddressSpace};

/// `_M_start` and `_M_finish` of a `std::deque` of libstdc++, an iterator each: the place, the chunk's first
/// and its end, and where in the map of chunks that is.
const START: u64 = 16;
const FINISH: u64 = 48;
/// Bytes of a chunk.
const CHUNK: u64 = 512;
/// Fields of `work_stealing` and of its `context_spinlock_queue` (`algo/work_stealing.hpp`,
/// `detail/context_spinlock_queue.hpp`, 1.66 to 1.88): where next is put, where next is taken, room, slots.
const PUT: u64 = 32;
const TAKE: u64 = 40;
const ROOM: u64 = 48;
const SLOTS: u64 = 56;
/// What is looked at of one queue, at most.
const MAX: u64 = 1 << 20;

/// What is in `shared_work::rqueue_`, which lies at `at`, as libstdc++ lays it out.
pub fn of_deque(space: &dyn AddressSpace, at: Addr) -> Vec<Addr> {
    let word = |offset: u64| space.read_addr(at.checked_add(offset)?).ok();
    let iterator = |offset: u64| Some((word(offset)?, word(offset.checked_add(24)?)?));
    let chunks = || {
        let ((first, mut node), (last, last_node)) = (iterator(START)?, iterator(FINISH)?);
        let mut found = Vec::new();
        let mut from = first;
        while node <= last_node && (found.len() as u64) < MAX {
            let chunk = space.read_addr(node).ok()?;
            let whole = chunk.checked_add(CHUNK)?;
            let end = if node == last_node { last } else { whole };
            if from < chunk || end < chunk || end > whole {
                return None;
            }
            found.extend(words(space, from, end));
            node = node.checked_add(8)?;
            from = space.read_addr(node).unwrap_or(end);
        }
        Some(found)
    };
    chunks().unwrap_or_default()
}

/// What is in the queue of a `work_stealing` at `at`.
pub fn of_stealing(space: &dyn AddressSpace, at: Addr) -> Vec<Addr> {
    let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
    let slots = || {
        let (put, take, room) = (word(PUT)?, word(TAKE)?, word(ROOM)?);
        let slots = Addr::new(word(SLOTS)?);
        let is_one = put < room && take < room && room <= MAX;
        let slot = |index: u64| slots.checked_add(index.checked_mul(8)?);
        is_one.then_some(())?;
        Some(match take <= put {
            true => words(space, slot(take)?, slot(put)?),
            false => {
                let mut found = words(space, slot(take)?, slot(room)?);
                found.extend(words(space, slot(0)?, slot(put)?));
                found
            }
        })
    };
    slots().unwrap_or_default()
}

/// The pointers of a half-open range, as far as they can be read.
fn words(space: &dyn AddressSpace, from: Addr, to: Addr) -> Vec<Addr> {
    let count = to.offset_from(from).unwrap_or_default() / 8;
    let at = |index: u64| from.checked_add(index.checked_mul(8)?);
    let read = |index: u64| space.read_addr(at(index)?).ok();
    (0..count.min(MAX)).map_while(read).collect()
}

#[cfg(test)]
mod tests {
    use kcore_mem::{Fault, Origin, Region, Target};

    use super::*;

    /// Words from an address on.
    struct Words(u64, Vec<u8>);

    impl AddressSpace for Words {
        fn target(&self) -> Target {
            Target::X86_64
        }

        fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
            let skip = at.get().checked_sub(self.0).map(|skip| skip as usize);
            let bytes = skip.and_then(|skip| self.1.get(skip..));
            bytes.filter(|bytes| !bytes.is_empty()).ok_or(Fault::Unmapped(at))
        }

        fn origin(&self, at: Addr) -> Result<Origin, Fault> {
            self.slice(at).map(|_| Origin::Core)
        }

        fn regions(&self) -> Vec<Region> {
            Vec::new()
        }
    }

    fn space(words: &[u64]) -> Words {
        Words(0x1000, words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    #[test]
    fn a_queue_goes_round_its_end() {
        let slots = 0x1000 + 8 * 8;
        let queue = [0, 0, 0, 0, 1, 2, 3, slots, 70, 71, 72];
        let found: Vec<u64> =
            of_stealing(&space(&queue), Addr::new(0x1000)).iter().map(|at| at.get()).collect();
        assert_eq!(found, [72, 70]);
        let damaged = [0, 0, 0, 0, 9, 2, 3, slots, 70, 71, 72];
        assert!(of_stealing(&space(&damaged), Addr::new(0x1000)).is_empty());
    }

    #[test]
    fn a_deque_goes_from_chunk_to_chunk() {
        // The map of chunks lies behind the deque, and the chunks behind that.
        let (map, chunk) = (0x1000 + 80, 0x1000 + 96);
        let mut words = vec![map, 2, chunk + 496, chunk, chunk + 512, map];
        words.extend([chunk + 512 + 8, chunk + 512, chunk + 1024, map + 8, chunk, chunk + 512]);
        words.extend(0..128);
        let found: Vec<u64> =
            of_deque(&space(&words), Addr::new(0x1000)).iter().map(|at| at.get()).collect();
        assert_eq!(found, [62, 63, 64]);
        assert!(of_deque(&space(&[0; 10]), Addr::new(0x1000)).is_empty());
    }
}
