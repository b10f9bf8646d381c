//! `/proc/PID/smaps`: what the system says of each mapping beyond its line in `maps`.

use kcore_elf::core_file::{MapLine, parse_maps};

/// A mapping, and what decides whether it belongs into a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapDetails {
    /// Its line in `maps`.
    pub line: MapLine,
    /// Whether any of its pages is the process' own: written to, and perhaps swapped out since. It is taken for so
    /// where nobody has asked.
    pub touched: bool,
    /// Whether the system was asked for more than its line.
    pub is_told: bool,
    /// Its flags (`VmFlags`): two letters each, with blanks between them.
    flags: String,
}

impl MapDetails {
    /// Reads all mappings, lowest first.
    pub fn parse(text: &[u8]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            match (key_and_value(line), all.last_mut()) {
                (Some((key, value)), Some(last)) => last.take(key, value),
                _ => all.extend(Self::of_line(line)),
            }
        }
        all.sort_by_key(|map| map.line.range.start);
        all
    }

    fn of_line(line: &[u8]) -> Option<Self> {
        let line = parse_maps(line).pop()?;
        Some(Self { line, touched: false, is_told: true, flags: String::new() })
    }

    /// A mapping of which nothing but its line is known.
    pub const fn untold(line: MapLine) -> Self {
        Self { line, touched: true, is_told: false, flags: String::new() }
    }

    /// What is known of it, of the mapping that it has become.
    pub fn with_line(&self, line: MapLine) -> Self {
        Self { line, ..self.clone() }
    }

    fn take(&mut self, key: &str, value: &str) {
        let is_some = || value.split_whitespace().next().is_some_and(|size| size != "0");
        match key {
            "Anonymous" | "Swap" => self.touched |= is_some(),
            "VmFlags" => value.trim().clone_into(&mut self.flags),
            _ => {}
        }
    }

    /// Whether it has a flag (proc(5), `smaps`).
    pub fn has(&self, flag: &str) -> bool {
        self.flags.split(' ').any(|found| found == flag)
    }
}

/// `Key:  value`; the line of a mapping begins with its addresses, and has no colon before its first
/// blank.
fn key_and_value(line: &[u8]) -> Option<(&str, &str)> {
    let (key, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
    (!key.contains(' ')).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_flags_and_pages_of_its_own() {
        let all = MapDetails::parse(
            b"1000-2000 rw-p 00000000 00:00 0  [heap]\nRss:   4 kB\nAnonymous:      4 kB\n\
              Swap:  0 kB\nVmFlags: rd wr mr dd \n\
              3000-4000 r--p 00000000 fe:01 7  /a: b.so\nAnonymous:  0 kB\nVmFlags: rd mr\n",
        );
        let seen: Vec<_> = all.iter().map(|map| (map.touched, map.has("dd"))).collect();
        assert_eq!(seen, [(true, true), (false, false)]);
        assert_eq!(all[1].line.name, b"/a: b.so");
    }
}
