//! Minidumps in a build without the feature `minidump`: they are known for what they are, and refused.

/// What a core of a minidump lacks for its kind.
pub const LACKS: &str = "";

/// Whether bytes that begin a file begin a minidump.
pub fn is_minidump(bytes: &[u8]) -> bool {
    bytes.starts_with(b"MDMP")
}

/// Refuses it.
///
/// # Errors
/// Always: in words.
pub fn to_core(_bytes: &[u8]) -> Result<Vec<u8>, String> {
    Err("a minidump, which this build of kcore cannot read".to_owned())
}
