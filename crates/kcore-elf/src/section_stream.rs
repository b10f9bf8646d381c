//! A section that is inflated only as far as it is read.
//!
//! Distributions compress the sections of debug files, and an answer takes kilobytes out of their
//! megabytes. A compressed stream must be read from its beginning, but not to its end, and nothing
//! of it twice.

use std::{
    io::{Cursor, Read},
    ops::Range,
    sync::{Mutex, OnceLock, PoisonError},
};

use flate2::bufread::ZlibDecoder;
use kcore_mem::Target;
use ruzstd::decoding::StreamingDecoder;

use crate::Section;

/// Bytes that are inflated at a time, at least.
const STEP: usize = 64 << 10;
/// How many times larger than its compressed form a section may claim to be for its memory to be
/// set aside at once. Debug information is 2 to 10 times larger.
const USUAL_RATIO: usize = 64;

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
    /// zlib or zstd. It never yields more than the header claims.
    pub(crate) fn compressed(raw: &Section, target: Target) -> Option<Self> {
        let mut header = kcore_mem::Cursor::new(raw, target);
        let algorithm = header.u32().ok()?;
        if target.word == 8 {
            header.skip(4).ok()?;
        }
        let size = usize::try_from(header.word().ok()?).ok()?;
        header.word().ok()?;
        let data = raw.slice(header.position()..raw.len())?;
        let inflater = Inflater::new(algorithm, data, size)?;
        Some(Self { size, whole: OnceLock::new(), partial: Mutex::new(Some(inflater)) })
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
            return inflater.bytes.get(range).map(|bytes| Section::from(bytes.to_vec()));
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

/// A compressed stream and what came out of it so far.
struct Inflater {
    source: Box<dyn Read + Send>,
    /// Longer than what is inflated: memory that is not written yet costs nothing.
    bytes: Vec<u8>,
    done: usize,
    size: usize,
}

impl Inflater {
    fn new(algorithm: u32, data: Section, size: usize) -> Option<Self> {
        let usual = data.len().saturating_mul(USUAL_RATIO);
        let source: Box<dyn Read + Send> = match algorithm {
            1 => Box::new(ZlibDecoder::new(Cursor::new(data))),
            2 => Box::new(StreamingDecoder::new(Cursor::new(data)).ok()?),
            _ => return None,
        };
        let bytes = if size <= usual { vec![0; size] } else { Vec::new() };
        Some(Self { source, bytes, done: 0, size })
    }

    /// Inflates up to `target` bytes and a little more; whether that many are there.
    fn advance(&mut self, target: usize) -> bool {
        let goal = target.saturating_add(STEP).min(self.size);
        while self.done < target {
            self.make_room(goal);
            let end = goal.min(self.bytes.len());
            let free = self.bytes.get_mut(self.done..end).unwrap_or_default();
            match self.source.read(free) {
                Ok(0) | Err(_) => return false,
                Ok(read) => self.done = self.done.saturating_add(read),
            }
        }
        true
    }

    /// Room for more: twice of what was really inflated at most, since a header can claim anything.
    fn make_room(&mut self, goal: usize) {
        if self.done == self.bytes.len() {
            let len = self.done.saturating_mul(2).max(STEP).min(goal.max(STEP)).min(self.size);
            self.bytes.resize(len, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn compressed(content: &[u8], claimed: u64) -> Option<SectionStream> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&claimed.to_le_bytes());
        bytes.extend_from_slice(&1_u64.to_le_bytes());
        bytes.extend_from_slice(&encoder.finish().unwrap());
        SectionStream::compressed(&Section::from(bytes), Target::X86_64)
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
        assert!(SectionStream::compressed(&Section::from(vec![1, 0, 0]), Target::X86_64).is_none());
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
        let cut = SectionStream::compressed(&Section::from(bytes), Target::X86_64).unwrap();
        assert_eq!(&cut.get(0..1000).unwrap()[..], &content[..1000]);
        assert!(cut.whole().is_none());
        assert_eq!(&cut.get(500..1500).unwrap()[..], &content[500..1500]);
    }
}
