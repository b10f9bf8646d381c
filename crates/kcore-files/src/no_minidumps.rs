//! Minidumps in a build without the feature `minidump`: they are known for what they are, and refused.

/// A minidump as a core.
pub struct Converted {
    /// The bytes of the core.
    pub bytes: Vec<u8>,
    /// What it lacks for its kind.
    pub lacks: &'static str,
}

/// Whether bytes that begin a file begin a minidump.
pub fn is_minidump(bytes: &[u8]) -> bool {
    bytes.starts_with(b"MDMP") || bytes.starts_with(b"PMDM")
}

/// Refuses it.
///
/// # Errors
/// Always: in words.
pub fn to_core(_bytes: &[u8]) -> Result<Converted, String> {
    Err("a minidump, which this build of kcore cannot read".to_owned())
}
