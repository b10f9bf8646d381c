//! The segments of a core: every mapping is in one or more of them, whatever the core has of it.

use kcore_mem::{Addr, AddrRange};

use super::contents::{Content, Run};
use crate::{image::Segment, proc::MapDetails};

/// The segments of a core, and what is to be written of them.
#[derive(Debug, Default)]
pub struct Layout {
    /// The segments, in the order of addresses.
    pub segments: Vec<Segment>,
    /// What they hold, in the order of the file: bytes and zeros.
    pub runs: Vec<Run>,
    /// Bytes that cannot be read.
    pub refused: u64,
    /// Bytes that are not wanted.
    pub left_out: u64,
}

impl Layout {
    /// Bytes of memory in the core.
    pub fn memory(&self) -> u64 {
        self.runs.iter().map(|run| run.range.len()).fold(0, u64::saturating_add)
    }

    /// Takes a mapping, whose wanted part has these runs. The part begins with the mapping.
    pub fn add(&mut self, map: &MapDetails, runs: &[Run]) {
        let mut at = map.line.range.start;
        for part in runs.chunk_by(|a, b| is_held(a) == is_held(b)) {
            let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
            let range = AddrRange::new(first.range.start, last.range.end);
            at = range.end;
            if is_held(first) {
                self.segment(map, range, range.len());
                self.runs.extend_from_slice(part);
            } else {
                self.segment(map, range, 0);
                self.refused = self.refused.saturating_add(range.len());
            }
        }
        self.rest(map, at);
    }

    fn rest(&mut self, map: &MapDetails, at: Addr) {
        let rest = AddrRange::new(at, map.line.range.end);
        if !rest.is_empty() {
            self.segment(map, rest, 0);
            self.left_out = self.left_out.saturating_add(rest.len());
        }
    }

    fn segment(&mut self, map: &MapDetails, range: AddrRange, file_size: u64) {
        self.segments.push(Segment { range, flags: map.line.flags, file_size });
    }
}

fn is_held(run: &Run) -> bool {
    run.content != Content::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_a_segment_without_bytes() {
        let map = MapDetails::parse(b"10000-20000 rw-p 0 0:0 0\n").remove(0);
        let run = |start: u64, end: u64, content| Run {
            range: AddrRange::new(Addr::new(start), Addr::new(end)),
            content,
        };
        let mut layout = Layout::default();
        layout.add(
            &map,
            &[
                run(0x10000, 0x12000, Content::Bytes),
                run(0x12000, 0x13000, Content::Zeros),
                run(0x13000, 0x14000, Content::Nothing),
                run(0x14000, 0x15000, Content::Bytes),
            ],
        );
        let seen: Vec<_> = layout
            .segments
            .iter()
            .map(|it| (it.range.start.get(), it.range.len(), it.file_size))
            .collect();
        assert_eq!(
            seen,
            [
                (0x10000, 0x3000, 0x3000),
                (0x13000, 0x1000, 0),
                (0x14000, 0x1000, 0x1000),
                (0x15000, 0xb000, 0)
            ]
        );
        assert_eq!((layout.memory(), layout.refused, layout.left_out), (0x4000, 0x1000, 0xb000));
    }
}
