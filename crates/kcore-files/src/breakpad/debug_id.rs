//! By what Breakpad tells builds apart.

use std::fmt;

use kcore_elf::BuildId;

/// Bytes of a build-id that count.
const LEN: usize = 16;
/// In which order the bytes of a build-id stand in its text: a GUID of a little-endian machine.
const ORDER: [usize; LEN] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

/// The 16 bytes of a debug id in the order of its text. The digits behind them, an age, are always 0 on Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DebugId([u8; LEN]);

impl DebugId {
    /// Reads its text, with or without the age.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let digits = std::str::from_utf8(text.get(..LEN.checked_mul(2)?)?).ok()?;
        let id = BuildId::parse(digits)?;
        Some(Self(id.as_bytes().try_into().ok()?))
    }
}

/// The debug id of a build: the first 16 bytes of its build-id, zeros behind a shorter one (`ConvertIdentifierToUUIDString` in
/// `src/common/linux/file_id.cc`).
pub fn debug_id(id: &BuildId) -> DebugId {
    let byte = |at: usize| id.as_bytes().get(at).copied().unwrap_or(0);
    DebugId(ORDER.map(byte))
}

impl fmt::Display for DebugId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
        f.write_str("0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_of_a_build_id_are_those_of_a_little_endian_guid() {
        let id = BuildId::parse("0123456789abcdeffedcba987654321000112233").unwrap();
        let text = "67452301AB89EFCDFEDCBA98765432100";
        assert_eq!(debug_id(&id).to_string(), text);
        assert_eq!(DebugId::parse(text.as_bytes()), Some(debug_id(&id)));
        let short = BuildId::parse("10faa6bbaab83db3").unwrap();
        assert_eq!(debug_id(&short).to_string(), "BBA6FA10B8AAB33D00000000000000000");
        assert_eq!(DebugId::parse(b"BBA6FA10"), None);
    }
}
