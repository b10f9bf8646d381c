//! Whether objects of a heap lie in memory that nothing describes.
//!
//! V8 keeps lists of objects, of their maps and of their sizes outside of the heap (`src/heap/scavenger.h`,
//! `pretenuring-handler.h`), which are full of words that refer to maps. Objects lie one behind the other, and
//! what they begin with is what objects of their kind begin with: many that do are no chance.

use kcore_mem::{Addr, AddrRange, Fault};

use super::{
    chunk::CHUNK,
    maps::Maps,
    shape::{self, CODE_OF_STREAM, Extent},
    walk::{self, Step, Walk},
};
use crate::v8::{Heap, Tagged, code::Code, heap::Object, string::Representation};

/// At so many places of a chunk the first object is searched, in so many bytes.
const SAMPLES: u64 = 16;
const SAMPLE: u64 = 4096;
/// So many sound objects one behind the other are no chance.
const CERTAIN: usize = 16;
/// Objects that are looked at, one behind the other, to find so many.
const MAX_RUN: usize = 128;
/// Instructions are aligned to this, in bytes (`kCodeAlignment` in `src/common/globals.h`).
const INSTRUCTIONS: u64 = 32;

/// Looks for objects.
pub struct Evidence<'h, 'a> {
    heap: Heap<'a>,
    held: &'h [AddrRange],
    maps: Maps<'a>,
}

impl<'h, 'a> Evidence<'h, 'a> {
    /// In memory of which these ranges are held, lowest first.
    pub fn new(heap: Heap<'a>, held: &'h [AddrRange]) -> Self {
        Self { heap, held, maps: Maps::new(heap) }
    }

    /// The map of one of the objects that memory holds, if it holds any.
    pub fn objects_in(&mut self, place: AddrRange) -> Option<Addr> {
        let starts = (0..SAMPLES).map(|sample| sample.saturating_mul(CHUNK / SAMPLES));
        let mut samples = starts.map(|start| {
            let start = place.start.saturating_add(start);
            AddrRange::new(start, place.end.min(start.saturating_add(SAMPLE)))
        });
        let map = samples.find_map(|sample| self.objects_of(sample, place.end))?;
        self.holds_mostly_objects(place).then_some(map)
    }

    /// Whether nearly all of what is written in memory is objects: in a chunk it is.
    fn holds_mostly_objects(&mut self, place: AddrRange) -> bool {
        let parts = walk::held(place, self.held);
        let mut walk = Walk::new(self.heap, &mut self.maps);
        walk.area(place, &parts, &[]);
        let written = walk::len(&parts).saturating_sub(walk.rest.blank);
        walk.rest.skipped <= written / 8
    }

    /// The map of the first of a run of objects that begins in a sample.
    fn objects_of(&mut self, sample: AddrRange, end: Addr) -> Option<Addr> {
        let parts = walk::held(sample, self.held);
        parts.into_iter().find_map(|part| {
            let mut at = part.start;
            while let Some(first) = self.next_map(at, part.end) {
                match self.run(first, end) {
                    Ok(()) => return self.heap.object_at(first).map(|object| object.map),
                    Err(broken) => at = broken.max(first.saturating_add(8)),
                }
            }
            None
        })
    }

    /// The first word from `at` on that refers to a map.
    fn next_map(&mut self, at: Addr, end: Addr) -> Option<Addr> {
        let len = usize::try_from(end.offset_from(at)?).ok()?;
        let bytes = self.heap.space.slice(at).ok()?;
        let (words, _) = bytes.get(..len).unwrap_or(bytes).as_chunks();
        let found =
            words.iter().position(|word| self.maps.find(u64::from_le_bytes(*word)).is_some());
        found.map(|index| at.saturating_add((index as u64).saturating_mul(8)))
    }

    /// Follows objects from one to the next; where they end before there are enough, if they do.
    fn run(&mut self, first: Addr, end: Addr) -> Result<(), Addr> {
        let mut at = first;
        let mut sound = 0_usize;
        for _ in 0..MAX_RUN {
            let step = Walk::new(self.heap, &mut self.maps).step(at, end);
            let counts = step.and_then(|step| Some((step.size, self.is_sound(at, &step)?)));
            let Some((size, is_telling)) = counts else { return Err(at) };
            sound = sound.saturating_add(usize::from(is_telling));
            if sound >= CERTAIN {
                return Ok(());
            }
            at = at.saturating_add(size);
        }
        Err(at)
    }

    /// Whether what lies at `at` begins as objects of its map do; `None` if it does not, and false if that
    /// tells nothing.
    fn is_sound(&self, at: Addr, step: &Step) -> Option<bool> {
        let heap = &self.heap;
        let object = heap.object_at(at)?;
        let types = &heap.layout.types;
        let second = heap.word(at, 8)?;
        let is_sound = match object.kind {
            _ if step.is_gap => return Some(false),
            _ if heap.is_string(object) => self.is_string(object),
            _ if heap.is_receiver(object) => self.is_value(second) && heap.field(at, 16).is_some(),
            kind if kind == types.heap_number => !is_reference(second),
            kind if kind == types.map => self.is_map(at),
            kind if kind == types.code || kind == shape::holder_of_instructions(heap.layout) => {
                self.is_code(object)
            }
            _ => match self.maps.shape(step.map)?.extent {
                // Lengths are Smis.
                Extent::Counted { shift: 32, .. } => Tagged::of(second).smi().is_some(),
                _ => return Some(false),
            },
        };
        is_sound.then_some(true)
    }

    /// Whether a map has descriptors and a prototype.
    fn is_map(&self, map: Addr) -> bool {
        let (types, own) = (&self.heap.layout.types, &self.heap.layout.heap);
        let kinds = [own.descriptor_array, own.strong_descriptor_array];
        let prototype = self.heap.field(map, 24);
        self.heap.field(map, 40).is_some_and(|array| kinds.contains(&array.kind))
            && prototype.is_some_and(|it| it.kind == types.oddball || self.heap.is_receiver(it))
    }

    /// Whether machine code, or what describes it, has instructions where it says: in memory that is held, or in a
    /// file, as those of builtins are. Chunks of V8's snapshot hold nothing else.
    fn is_code(&self, object: Object) -> bool {
        let code = match object.kind == self.heap.layout.types.code {
            true => Some(object),
            false => self.heap.field(object.at, CODE_OF_STREAM),
        };
        let code = code.and_then(|code| Code::of(&self.heap, code));
        code.is_some_and(|code| {
            let first = code.instructions.start;
            !code.instructions.is_empty()
                && first.get().is_multiple_of(INSTRUCTIONS)
                && !matches!(self.heap.space.slice(first), Err(Fault::Unmapped(_)))
        })
    }

    /// Whether a string that consists of others refers to them.
    fn is_string(&self, string: Object) -> bool {
        let part = |offset| {
            self.heap.field(string.at, offset).is_some_and(|part| self.heap.is_string(part))
        };
        match Representation::of(string.kind) {
            Some(Representation::Cons) => part(16) && part(24),
            Some(Representation::Sliced | Representation::Thin) => part(16),
            Some(Representation::Sequential | Representation::External) => true,
            None => false,
        }
    }

    /// Whether a word is a value: a Smi, or refers to an object.
    fn is_value(&self, word: u64) -> bool {
        let value = Tagged::of(word);
        value.smi().is_some() || self.heap.object(value).is_some()
    }
}

/// Whether a word may be the address of anything; as a number it would be all but zero.
const fn is_reference(word: u64) -> bool {
    word != 0 && word >> 52 == 0
}
