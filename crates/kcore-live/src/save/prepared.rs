//! What is known of a process before it is stopped, and brought up to date then.

use std::time::{Duration, Instant};

use kcore_elf::core_file::MapLine;

use crate::{LiveError, Process, image::Facts, proc::MapDetails};

/// A process as it was while it ran.
pub struct Prepared {
    /// The text of its mappings; empty until they are refreshed.
    pub text: Vec<u8>,
    /// Its mappings, lowest first.
    pub details: Vec<MapDetails>,
    /// All else that notes tell.
    pub facts: Facts,
    /// How long the system took to tell more of mappings than their lines.
    took: Duration,
}

impl Prepared {
    /// Asks the system.
    ///
    /// # Errors
    /// When a right is missing, or the process has ended.
    pub fn of(process: &Process) -> Result<Self, LiveError> {
        let start = Instant::now();
        let details = details_of(process)?;
        let took = start.elapsed();
        Ok(Self { text: Vec::new(), details, facts: Facts::read(process)?, took })
    }

    /// The mappings as they are now. All that the system knows of them is asked only where they have changed, and
    /// only if that took no longer than `time` before: for it the system goes through all pages. Else new mappings
    /// are [`MapDetails::untold`].
    ///
    /// # Errors
    /// When the process runs another program by now.
    pub fn refreshed(mut self, process: &Process, time: Duration) -> Result<Self, LiveError> {
        if Facts::read(process)? != self.facts {
            return Err(LiveError::Gone(process.pid()));
        }
        let (text, lines) = process.maps()?;
        if !self.details.iter().map(|map| &map.line).eq(&lines) {
            let asks = self.took <= time;
            self.details = if asks { details_of(process)? } else { carried(&self.details, lines) };
        }
        self.text = text;
        Ok(self)
    }
}

fn details_of(process: &Process) -> Result<Vec<MapDetails>, LiveError> {
    Ok(MapDetails::parse(&process.read("smaps", "its mappings")?))
}

/// Mappings with what was known of those that are as they were, or have grown: the system joins mappings
/// of the same flags alone.
fn carried(known: &[MapDetails], lines: Vec<MapLine>) -> Vec<MapDetails> {
    let carry = |line: MapLine| {
        let first = known.partition_point(|map| map.line.range.start < line.range.start);
        let within = known.get(first).filter(|map| map.line.range.start < line.range.end);
        match within.filter(|map| holds(&line, &map.line)) {
            Some(map) => map.with_line(line),
            None => MapDetails::untold(line),
        }
    };
    lines.into_iter().map(carry).collect()
}

/// Whether a mapping is one that was there before, and may have grown at either end.
fn holds(line: &MapLine, before: &MapLine) -> bool {
    let grown = line.range.start <= before.range.start && line.range.end >= before.range.end;
    let is_same = MapLine { range: line.range, offset: line.offset, ..before.clone() } == *line;
    let by = before.range.start.offset_from(line.range.start).unwrap_or_default();
    let is_of_same_bytes =
        line.inode == 0 || line.offset.get().saturating_add(by) == before.offset.get();
    grown && is_same && is_of_same_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> MapDetails {
        MapDetails::parse(format!("{line}\nVmFlags: rd dd\n").as_bytes()).remove(0)
    }

    #[test]
    fn a_mapping_is_known_that_is_as_it_was_or_has_grown() {
        let known = [
            told("1000-3000 rw-p 0 00:00 0 [heap]"),
            told("5000-6000 rw-p 0 00:00 0 [stack]"),
            told("8000-a000 r--p 2000 08:01 7 /a"),
        ];
        for (line, is_told) in [
            ("1000-3000 rw-p 0 00:00 0 [heap]", true),
            ("1000-4000 rw-p 0 00:00 0 [heap]", true),
            ("4000-6000 rw-p 0 00:00 0 [stack]", true),
            ("7000-a000 r--p 1000 08:01 7 /a", true),
            // A part of it may have become another mapping since.
            ("1000-2000 rw-p 0 00:00 0 [heap]", false),
            ("1000-3000 r--p 0 00:00 0 [heap]", false),
            ("8000-a000 r--p 0 08:01 7 /a", false),
            ("8000-a000 r--p 2000 08:01 8 /a", false),
            ("b000-c000 rw-p 0 00:00 0", false),
        ] {
            let lines = kcore_elf::core_file::parse_maps(line.as_bytes());
            let map = carried(&known, lines).remove(0);
            assert_eq!((map.is_told, map.has("dd")), (is_told, is_told), "{line}");
        }
    }
}
