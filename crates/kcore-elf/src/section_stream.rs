//! A section that is inflated only as far as it is read.
//!
//! Distributions compress the sections of debug files, and an answer takes kilobytes out of their
//! megabytes. A compressed stream must be read from its beginning, but not to its end, and nothing
//! of it twice.

use std::{
    hint::black_box,
    io::{Cursor, Read},
    ops::Range,
    sync::{Mutex, OnceLock, PoisonError},
};

use flate2::bufread::ZlibDecoder;
use kcore_mem::{Budget, Cut, Resource, Target};

use crate::Section;

/// Bytes that are inflated at a time, at least.
const STEP: usize = 64 << 10;
/// How many times larger than its compressed form a section may claim to be for its room to be set
/// aside at once. Debug information is 2 to 10 times larger.
const USUAL_RATIO: u64 = 16;

/// A section whose bytes can be asked for piece by piece.
pub struct SectionStream {
    size: usize,
    /// All bytes, once all are there.
    whole: OnceLock<Section>,
    partial: Mutex<Option<Inflater>>,
}

impl SectionStream {
    /// A section that is not compressed.
    pub(crate) fn plain(section: Section) -> Self {
        Self { size: section.len(), whole: OnceLock::from(section), partial: Mutex::default() }
    }

    /// A section that begins with an `Elf64_Chdr` or `Elf32_Chdr` (gABI, «Compressed sections»),
    /// zlib or zstd. It never yields more than the header claims, nor more than `budget` allows for all
    /// sections together. `name` names the section in the note that it was cut, or is compressed in a way that
    /// this build cannot read.
    pub(crate) fn compressed(
        raw: &Section,
        target: Target,
        budget: &Budget,
        name: impl Fn() -> String,
    ) -> Option<Self> {
        let mut header = kcore_mem::Cursor::new(raw, target);
        let algorithm = header.u32().ok()?;
        if target.word == 8 {
            header.skip(4).ok()?;
        }
        let size = usize::try_from(header.word().ok()?).ok()?;
        header.word().ok()?;
        let data = raw.slice(header.position()..raw.len())?;
        let packed = data.len() as u64;
        let Some(source) = decompressed(algorithm, data)? else {
            budget.cut(Cut::Compression { name: name(), algorithm });
            return None;
        };
        Some(Self::inflated(source, size, packed, budget, name()))
    }

    /// A section in the old style of GNU tools: `ZLIB`, the inflated size as 8 bytes in big-endian order, a stream of
    /// zlib (binutils 2.26, `bfd/compress.c`). Old tools left a section as it was where that is shorter, and kept the
    /// name.
    pub(crate) fn gnu_compressed(
        raw: Section,
        budget: &Budget,
        name: impl Fn() -> String,
    ) -> Option<Self> {
        let Some(size) = raw.strip_prefix(b"ZLIB").and_then(|rest| rest.first_chunk::<8>()) else {
            return Some(Self::plain(raw));
        };
        let size = usize::try_from(u64::from_be_bytes(*size)).ok()?;
        let data = raw.slice(12..raw.len())?;
        let packed = data.len() as u64;
        Some(Self::inflated(decompressed(ZLIB, data)??, size, packed, budget, name()))
    }

    /// A section of `size` bytes that are inflated from `packed` ones.
    fn inflated(
        source: Box<dyn Read + Send>,
        size: usize,
        packed: u64,
        budget: &Budget,
        name: String,
    ) -> Self {
        budget.add_packed(packed);
        let cut = Cut::Section { name, size: size as u64, packed };
        let inflater = Inflater::new(source, packed, size, Charge { budget: budget.clone(), cut });
        Self { size, whole: OnceLock::new(), partial: Mutex::new(Some(inflater)) }
    }

    /// Bytes of the inflated section, as far as its header tells the truth.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The bytes in `range`; `None` when the section does not have all of them or is damaged
    /// before their end.
    pub fn get(&self, range: Range<usize>) -> Option<Section> {
        if range.start > range.end || range.end > self.size {
            return None;
        }
        if let Some(whole) = self.whole.get() {
            return whole.slice(range);
        }
        let mut partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(inflater) = partial.as_mut() else {
            // Another thread has just inflated the last of it.
            return self.whole.get()?.slice(range);
        };
        if !inflater.advance(range.end) {
            return None;
        }
        if inflater.done < self.size {
            return inflater.bytes.get(range).and_then(copied);
        }
        let whole = Section::from(partial.take()?.bytes);
        self.whole.get_or_init(|| whole).slice(range)
    }

    /// All bytes; `None` when the section is damaged anywhere.
    pub fn whole(&self) -> Option<Section> {
        self.get(0..self.size)
    }
}

impl std::fmt::Debug for SectionStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SectionStream({} bytes)", self.size)
    }
}

/// A copy of the bytes; `None` when there is no memory for it.
fn copied(bytes: &[u8]) -> Option<Section> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).ok()?;
    copy.extend_from_slice(bytes);
    Some(Section::from(copy))
}

/// The budget that inflated bytes are charged to, and the note for the user when it is exhausted.
struct Charge {
    budget: Budget,
    cut: Cut,
}

impl Charge {
    fn pay(&self, bytes: usize) -> bool {
        let is_paid = self.budget.spend(Resource::Inflated, bytes as u64);
        if !is_paid {
            self.budget.cut(self.cut.clone());
        }
        is_paid
    }
}

/// `ELFCOMPRESS_ZLIB`.
const ZLIB: u32 = 1;

/// The inflated bytes of `data`, by its `ch_type` (gABI, «Compressed sections»): `ELFCOMPRESS_ZLIB` and
/// `ELFCOMPRESS_ZSTD`, which is 2. `Some(None)` when this build does not know the algorithm, `None` when the data are damaged.
fn decompressed(algorithm: u32, data: Section) -> Option<Option<Box<dyn Read + Send>>> {
    let data = Cursor::new(data);
    Some(match algorithm {
        ZLIB => {
            // Where it is refused memory the decoder panics; a vector ends the program as all of Rust does then.
            drop(black_box(Vec::<u8>::with_capacity(ZLIB_STATE)));
            Some(Box::new(ZlibDecoder::new(data)))
        }
        #[cfg(feature = "zstd")]
        2 => Some(Box::new(ruzstd::decoding::StreamingDecoder::new(data).ok()?)),
        _ => None,
    })
}

/// More bytes than zlib-rs 0.6 asks for: a window of 32 KiB, its tables, and what is around them.
const ZLIB_STATE: usize = 128 << 10;

/// A compressed stream and what came out of it so far.
struct Inflater {
    source: Box<dyn Read + Send>,
    /// Inflated bytes, followed by room for the next step.
    bytes: Vec<u8>,
    done: usize,
    size: usize,
    charge: Charge,
}

impl Inflater {
    /// `packed` is how many bytes the source has before they are inflated.
    fn new(source: Box<dyn Read + Send>, packed: u64, size: usize, charge: Charge) -> Self {
        let mut bytes = Vec::new();
        if size as u64 <= packed.saturating_mul(USUAL_RATIO) {
            // Reserved memory costs nothing until it is written. If this fails, the vector grows step by step.
            let _ = bytes.try_reserve_exact(size);
        }
        Self { source, bytes, done: 0, size, charge }
    }

    /// Inflates up to `target` bytes and a little more; whether that many are there.
    fn advance(&mut self, target: usize) -> bool {
        while self.done < target {
            if self.done == self.bytes.len() && !self.make_room(target) {
                return false;
            }
            let free = self.bytes.get_mut(self.done..).unwrap_or_default();
            match self.source.read(free) {
                Ok(0) | Err(_) => return false,
                Ok(read) => self.done = self.done.saturating_add(read),
            }
        }
        true
    }

    /// Makes room for the next step: at most doubles what was really inflated, since a header can claim any
    /// size. Fails when there is no memory, or the budget is exhausted.
    fn make_room(&mut self, target: usize) -> bool {
        let wanted = target.saturating_sub(self.done).min(self.done).max(STEP);
        let len = self.done.saturating_add(wanted).min(self.size);
        let more = len.saturating_sub(self.done);
        if self.bytes.try_reserve(more).is_err() || !self.charge.pay(more) {
            return false;
        }
        self.bytes.resize(len, 0);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use kcore_mem::Allowance;

    use super::*;

    fn compressed(content: &[u8], claimed: u64) -> Option<SectionStream> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&claimed.to_le_bytes());
        bytes.extend_from_slice(&1_u64.to_le_bytes());
        bytes.extend_from_slice(&encoder.finish().unwrap());
        stream_of(bytes, &Budget::default())
    }

    fn stream_of(bytes: Vec<u8>, budget: &Budget) -> Option<SectionStream> {
        let name = || ".debug_info of x".to_owned();
        SectionStream::compressed(&Section::from(bytes), Target::X86_64, budget, name)
    }

    /// So many zeros as a section of their own.
    fn zeros(count: usize) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; count]).unwrap();
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&(count as u64).to_le_bytes());
        bytes.extend_from_slice(&1_u64.to_le_bytes());
        bytes.extend_from_slice(&encoder.finish().unwrap());
        bytes
    }

    #[test]
    fn few_bytes_do_not_become_many_and_the_budget_says_what_was_cut() {
        let budget = Budget::new(Allowance::of_memory(64 << 20));
        let section = stream_of(zeros(16 << 20), &budget).unwrap();
        assert_eq!(section.get(100..200).unwrap()[..], [0; 100]);
        assert!(section.whole().is_none());
        let inflated = section.partial.lock().unwrap().as_ref().unwrap().bytes.capacity();
        assert!(inflated < 4 << 20, "{inflated}");
        // What is there stays there.
        assert!(section.get(1000..2000).is_some());
        let cuts = budget.take_cuts();
        assert!(
            matches!(&cuts[..], [Cut::Section { name, size: 0x100_0000, .. }] if name.contains(".debug_info")),
            "{cuts:?}"
        );
    }

    #[test]
    fn a_section_compressed_in_an_unknown_way_is_told_of() {
        let budget = Budget::default();
        let header = |algorithm: u8| [&[algorithm][..], &[0; 30]].concat();
        assert!(stream_of(header(7), &budget).is_none());
        let cuts = budget.standing_cuts();
        assert!(matches!(&cuts[..], [Cut::Compression { algorithm: 7, .. }]), "{cuts:?}");
        assert!(stream_of(header(2), &budget).is_none(), "it is no zstd stream, or none is read");
        let is_told = budget.standing_cuts().len() == 2;
        assert_eq!(is_told, cfg!(not(feature = "zstd")), "{:?}", budget.standing_cuts());
    }

    #[test]
    fn several_sections_share_one_budget() {
        let budget = Budget::new(Allowance::of_memory(64 << 20));
        let whole = |len| stream_of(zeros(len), &budget).unwrap().whole().is_some();
        assert_eq!([0; 4].map(|_| whole(500 << 10)), [true, true, false, false]);
    }

    fn varied(len: u32) -> Vec<u8> {
        (0..len).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
    }

    #[test]
    fn a_section_has_the_size_that_its_header_claims_or_is_none() {
        let honest = compressed(b"some debug information", 22).unwrap();
        assert_eq!(&honest.whole().unwrap()[..], b"some debug information");
        assert!(compressed(b"some debug information", 23).unwrap().whole().is_none());
        let boast = compressed(b"some debug information", u64::MAX).unwrap();
        assert!(boast.whole().is_none());
        assert_eq!(&boast.get(5..10).unwrap()[..], b"debug");
        assert!(stream_of(vec![1, 0, 0], &Budget::default()).is_none());
    }

    #[test]
    fn pieces_are_what_the_whole_has_there() {
        let content = varied(100_000);
        let stream = compressed(&content, content.len() as u64).unwrap();
        for range in [10..20, 0..1, 90_000..90_010, 300_000..400_000, 5..399_999] {
            assert_eq!(&stream.get(range.clone()).unwrap()[..], &content[range]);
        }
        assert!(stream.get(399_999..400_001).is_none());
        assert_eq!(&stream.whole().unwrap()[..], content);
    }

    #[test]
    fn no_more_is_inflated_than_was_asked() {
        let content = varied(1 << 20);
        let stream = compressed(&content, content.len() as u64).unwrap();
        stream.get(100..200).unwrap();
        let done = stream.partial.lock().unwrap().as_ref().unwrap().done;
        assert!(done < 1 << 20, "{done} of {}", content.len());
    }

    #[test]
    fn a_damaged_stream_is_good_up_to_its_damage() {
        let content = varied(1 << 16);
        let whole = compressed(&content, content.len() as u64).unwrap();
        assert!(whole.whole().is_some());
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&1_u64.to_le_bytes());
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&content).unwrap();
        let packed = encoder.finish().unwrap();
        bytes.extend_from_slice(&packed[..packed.len() / 2]);
        let cut = stream_of(bytes, &Budget::default()).unwrap();
        assert_eq!(&cut.get(0..1000).unwrap()[..], &content[..1000]);
        assert!(cut.whole().is_none());
        assert_eq!(&cut.get(500..1500).unwrap()[..], &content[500..1500]);
    }
}
