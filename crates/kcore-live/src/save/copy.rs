//! Copying memory of a process that stands still, part by part.

use std::sync::atomic::Ordering;

use kcore_mem::{Addr, AddrRange};

use super::{
    SaveProgress,
    contents::{Content, Run},
    queue::{PART, Taker},
};
use crate::{LiveError, LiveMemory, Process};

/// Copies to a queue.
pub struct Copier<'a> {
    pub memory: &'a LiveMemory,
    pub to: Taker,
    pub progress: &'a SaveProgress,
}

impl Copier<'_> {
    /// Gives what comes before all memory.
    ///
    /// # Errors
    /// When nobody writes it any more.
    pub fn head(&self, bytes: &[u8]) -> Result<(), LiveError> {
        for part in bytes.chunks(PART) {
            let mut buffer = self.to.buffer();
            buffer.extend_from_slice(part);
            self.to.bytes(buffer).ok_or(LiveError::Stopped)?;
        }
        Ok(())
    }

    /// Copies the runs.
    ///
    /// # Errors
    /// When memory cannot be read that could be read a moment ago; when nobody writes it any more.
    pub fn memory(&self, process: &Process, runs: &[Run]) -> Result<(), LiveError> {
        for run in runs {
            if run.content == Content::Zeros {
                self.to.zeros(run.range.len()).ok_or(LiveError::Stopped)?;
                self.count(run.range.len());
            } else {
                self.run(process, run.range)?;
            }
        }
        Ok(())
    }

    fn run(&self, process: &Process, run: AddrRange) -> Result<(), LiveError> {
        let mut at = run.start;
        while at < run.end {
            let len = run.end.offset_from(at).unwrap_or(0).min(PART as u64);
            let part = AddrRange::with_len(at, len);
            let mut buffer = self.to.buffer();
            fill(self.memory, part, &mut buffer)
                .map_err(|at| LiveError::Lost { pid: process.pid(), at })?;
            self.to.bytes(buffer).ok_or(LiveError::Stopped)?;
            self.count(len);
            if self.progress.stop.load(Ordering::Relaxed) {
                return Err(LiveError::Stopped);
            }
            at = part.end;
        }
        Ok(())
    }

    fn count(&self, bytes: u64) {
        self.progress.copied.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Fills a buffer with the bytes of a part. An error is the first address that cannot be read.
fn fill(memory: &LiveMemory, part: AddrRange, buffer: &mut Vec<u8>) -> Result<(), Addr> {
    loop {
        let at = part.start.saturating_add(buffer.len() as u64);
        let rest = AddrRange::new(at, part.end);
        if rest.is_empty() {
            return Ok(());
        }
        if memory.append_present(rest, buffer) == 0 {
            return Err(at);
        }
    }
}
