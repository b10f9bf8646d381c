//! The states that were seen at each place, in room that was set aside.

use kcore_mem::Addr;

/// Slots: twice the instructions that are followed, at most.
const SLOTS: usize = 1 << 14;

/// A set of numbers for (place, state), which is emptied by beginning another round.
pub struct Visited {
    slots: Box<[(u64, u32)]>,
    round: u32,
}

impl Visited {
    pub fn new() -> Self {
        Self { slots: vec![(0, 0); SLOTS].into(), round: 0 }
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill((0, 0));
            self.round = 1;
        }
    }

    /// Adds a state at a place; says whether it is new. A full set has seen all.
    pub fn insert(&mut self, at: Addr, fingerprint: u64) -> bool {
        let key = fingerprint.rotate_left(17) ^ at.get().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as usize;
        for probe in 0..SLOTS {
            let index = first.wrapping_add(probe) % SLOTS;
            let Some(slot) = self.slots.get_mut(index) else { return false };
            if slot.1 != self.round {
                *slot = (key, self.round);
                return true;
            }
            if slot.0 == key {
                return false;
            }
        }
        false
    }
}
