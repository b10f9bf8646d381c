//! A buffered writer that knows the difference between a closed pipe and a failure.

use std::io::{self, BufWriter, ErrorKind, Write};

use kcore_dcmd::{DcmdError, Result, io_reason};

const BUFFER: usize = 64 * 1024;

/// Where a sink writes: buffered, and closed for good once nobody reads.
pub(crate) struct Out<W: Write> {
    writer: BufWriter<W>,
    closed: bool,
}

impl<W: Write> Out<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self { writer: BufWriter::with_capacity(BUFFER, writer), closed: false }
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.attempt(|writer| writer.write_all(text.as_bytes()))
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.attempt(Write::flush)
    }

    fn attempt(&mut self, write: impl FnOnce(&mut BufWriter<W>) -> io::Result<()>) -> Result<()> {
        if self.closed {
            return Err(DcmdError::Closed);
        }
        write(&mut self.writer).map_err(|error| self.failure(&error))
    }

    fn failure(&mut self, error: &io::Error) -> DcmdError {
        // After any failure the buffer's content is unknown: writing on would tear a line.
        self.closed = true;
        match error.kind() {
            ErrorKind::BrokenPipe => DcmdError::Closed,
            _ => DcmdError::failed(format!("cannot write output: {}", io_reason(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_stays_closed() {
        let mut out = Out::new(Broken(ErrorKind::BrokenPipe));
        out.text("x").unwrap();
        assert_eq!(out.flush(), Err(DcmdError::Closed));
        assert_eq!(out.text("y"), Err(DcmdError::Closed));
    }

    #[test]
    fn reasons_are_words_without_numbers() {
        assert_eq!(io_reason(&io::Error::from_raw_os_error(2)), "no such file or directory");
    }

    #[test]
    fn a_full_disk_is_a_failure_with_its_reason() {
        let mut out = Out::new(Broken(ErrorKind::StorageFull));
        out.text("x").unwrap();
        let message = out.flush().unwrap_err().to_string();
        assert!(message.starts_with("cannot write output: "), "{message}");
    }
}
