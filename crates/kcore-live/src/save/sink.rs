//! Where the bytes of a core go.

use std::io;

/// Takes a core: memory byte by byte, and zeros by their number. What comes before all memory is given last,
/// since it says how much of it there is.
pub trait CoreSink: Send {
    /// Leaves room for so many bytes before all others.
    ///
    /// # Errors
    /// When there is no room.
    fn begin(&mut self, head: u64) -> io::Result<()>;

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

    /// Takes the bytes for which room was left, once all others are there.
    ///
    /// # Errors
    /// When they cannot be written.
    fn head(&mut self, bytes: &[u8]) -> io::Result<()>;
}
