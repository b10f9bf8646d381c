//! Where the bytes of a core go, from its first to its last.

use std::io;

/// Takes a core byte by byte, and zeros by their number.
pub trait CoreSink: Send {
    /// Takes bytes.
    ///
    /// # Errors
    /// When they cannot be written.
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Takes so many zeros.
    ///
    /// # Errors
    /// When they cannot be written.
    fn zeros(&mut self, count: u64) -> io::Result<()>;
}
