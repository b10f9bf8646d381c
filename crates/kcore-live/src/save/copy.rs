//! Copying memory of a process that stands still, segment by segment.

use std::{mem, ops::Range, sync::atomic::Ordering};

use kcore_mem::AddrRange;

use super::{
    SaveProgress,
    contents::{Content, Run},
    layout::Planned,
    queue::{PART, Pushed, Taker},
};
use crate::{LiveError, LiveMemory, freeze::Deadline, resident::Backing};

/// Zeros up to which they are written among bytes.
const FEW_ZEROS: u64 = 64 << 10;

/// What is missing of a core, by places that are counted from the first byte behind its head.
#[derive(Debug, Default)]
pub struct Missing {
    /// What could not be copied in time.
    pub late: Vec<Range<u64>>,
    /// What could be read a moment before, and then not any more.
    pub lost: Vec<Range<u64>>,
}

/// Why a segment ends early.
enum Cut {
    Late,
    Lost,
}

/// Copies to a queue.
pub struct Copier<'a> {
    memory: &'a LiveMemory,
    to: Taker,
    progress: &'a SaveProgress,
    until: Deadline<'a>,
    buffer: Vec<u8>,
    /// Bytes that were given so far, those in the buffer too.
    at: u64,
    missing: Missing,
}

impl<'a> Copier<'a> {
    /// One that has copied nothing yet.
    pub fn new(
        memory: &'a LiveMemory,
        to: Taker,
        progress: &'a SaveProgress,
        until: Deadline<'a>,
    ) -> Self {
        let buffer = to.buffer();
        Self { memory, to, progress, until, buffer, at: 0, missing: Missing::default() }
    }

    /// Copies segments, behind a head of so many bytes. The answer is what is missing.
    ///
    /// # Errors
    /// When nobody writes any more, or somebody wants it to end.
    pub fn copy<'b>(
        mut self,
        head: u64,
        segments: impl Iterator<Item = &'b Planned>,
    ) -> Result<Missing, LiveError> {
        self.pushed(self.to.begin(head))?;
        for planned in segments {
            self.segment(planned)?;
        }
        self.flush()?;
        Ok(self.missing)
    }

    fn segment(&mut self, planned: &Planned) -> Result<(), LiveError> {
        let end = self.at.saturating_add(planned.segment.file_size);
        for run in &planned.runs {
            if let Some(cut) = self.run(run)? {
                return self.cut(cut, end);
            }
        }
        Ok(())
    }

    /// What is left of a segment is zeros that do not count.
    fn cut(&mut self, cut: Cut, end: u64) -> Result<(), LiveError> {
        let rest = self.at..end;
        match cut {
            Cut::Late => self.missing.late.push(rest),
            Cut::Lost => self.missing.lost.push(rest),
        }
        self.zeros(end.saturating_sub(self.at))
    }

    fn run(&mut self, run: &Run) -> Result<Option<Cut>, LiveError> {
        let len = run.range.len();
        match &run.content {
            Content::Memory => return self.bytes(run.range, None),
            Content::Shared(file, offset) => return self.bytes(run.range, Some((file, *offset))),
            Content::File(file, offset) => {
                self.flush()?;
                self.pushed(self.to.file(file.clone(), *offset, len))?;
                self.count(len);
            }
            Content::Zeros | Content::Nothing | Content::Unseen | Content::Late => {
                self.zeros(len)?
            }
        }
        Ok(None)
    }

    /// Copies bytes of the process, or of a file that it shares with others.
    fn bytes(
        &mut self,
        range: AddrRange,
        file: Option<(&Backing, u64)>,
    ) -> Result<Option<Cut>, LiveError> {
        let mut done: u64 = 0;
        while done < range.len() {
            if self.until.is_over() {
                return if self.is_stopped() {
                    Err(LiveError::Stopped)
                } else {
                    Ok(Some(Cut::Late))
                };
            }
            if self.buffer.len() >= PART {
                self.flush()?;
            }
            let room = PART.saturating_sub(self.buffer.len()) as u64;
            let len = range.len().saturating_sub(done).min(room);
            let got = match file {
                Some((file, offset)) => {
                    let len = usize::try_from(len).unwrap_or_default();
                    file.append(offset.saturating_add(done), len, &mut self.buffer) as u64
                }
                None => {
                    let part = AddrRange::with_len(range.start.saturating_add(done), len);
                    self.memory.append_present(part, &mut self.buffer)
                }
            };
            if got == 0 {
                return Ok(Some(Cut::Lost));
            }
            done = done.saturating_add(got);
            self.count(got);
        }
        Ok(None)
    }

    fn zeros(&mut self, count: u64) -> Result<(), LiveError> {
        let len = usize::try_from(count).unwrap_or(usize::MAX);
        let fits = self.buffer.len().saturating_add(len) <= PART;
        if count <= FEW_ZEROS && fits {
            self.buffer.resize(self.buffer.len().saturating_add(len), 0);
        } else {
            self.flush()?;
            self.pushed(self.to.zeros(count))?;
        }
        self.count(count);
        Ok(())
    }

    /// Gives what is in the buffer. Where there is no room for it before the time is over, it is missing.
    fn flush(&mut self) -> Result<(), LiveError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let empty = self.to.buffer();
        let full = mem::replace(&mut self.buffer, empty);
        let len = full.len() as u64;
        match self.to.bytes(full, &self.until) {
            Pushed::Late if self.is_stopped() => Err(LiveError::Stopped),
            Pushed::Late => {
                self.missing.late.push(self.at.saturating_sub(len)..self.at);
                self.pushed(self.to.zeros(len))
            }
            pushed => self.pushed(pushed),
        }
    }

    fn is_stopped(&self) -> bool {
        self.progress.stop.load(Ordering::Relaxed)
    }

    fn pushed(&self, pushed: Pushed) -> Result<(), LiveError> {
        if pushed == Pushed::Taken { Ok(()) } else { Err(LiveError::Stopped) }
    }

    fn count(&mut self, bytes: u64) {
        self.at = self.at.saturating_add(bytes);
        self.progress.copied.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kcore_mem::Addr;

    use super::*;
    use crate::{
        proc::MapDetails,
        save::{layout::Layout, queue},
    };

    const PAGE: u64 = 4096;

    /// A layout of one mapping for each of these runs of two pages.
    fn layout(runs: &[Vec<(u64, Content)>]) -> Layout {
        let mut layout = Layout::default();
        for runs in runs {
            let runs: Vec<Run> = runs
                .iter()
                .map(|(at, content)| Run {
                    range: AddrRange::with_len(Addr::new(*at), PAGE),
                    content: content.clone(),
                })
                .collect();
            let all = AddrRange::new(runs[0].range.start, runs[runs.len() - 1].range.end);
            let line = format!("{:x}-{:x} rw-p 0 0:0 0\n", all.start.get(), all.end.get());
            layout.add(&MapDetails::parse(line.as_bytes())[0], all, runs);
        }
        layout
    }

    fn missing(layout: &Layout, time: Duration) -> Missing {
        let (taker, _giver) = queue::of_room(1 << 30);
        let (memory, progress) = (LiveMemory::of_self(false), SaveProgress::default());
        let until = Deadline::after(time, None);
        let copier = Copier::new(&memory, taker, &progress, until);
        copier.copy(0, layout.segments.iter()).unwrap()
    }

    #[test]
    fn a_segment_ends_where_bytes_are_missing_and_the_next_one_lies_where_it_was_to_lie() {
        let bytes = vec![7_u8; 4 * 4096];
        let there = (bytes.as_ptr() as u64).next_multiple_of(PAGE);
        let layout = layout(&[
            vec![(there, Content::Memory), (there + PAGE, Content::Zeros)],
            // Nothing is ever mapped there.
            vec![(0, Content::Zeros), (PAGE, Content::Memory), (2 * PAGE, Content::Zeros)],
            vec![(there + PAGE, Content::Memory)],
        ]);
        let all = missing(&layout, Duration::MAX);
        assert_eq!((all.lost.len(), all.late.len()), (1, 0));
        assert_eq!(all.lost[0], 3 * PAGE..5 * PAGE);
        let none = missing(&layout, Duration::ZERO);
        assert_eq!(none.late, [0..2 * PAGE, 3 * PAGE..5 * PAGE, 5 * PAGE..6 * PAGE]);
        assert!(none.lost.is_empty());
    }

    #[test]
    fn pages_and_zeros_that_take_turns_fill_many_parts() {
        const PAGES: u64 = 3 * PART as u64 / PAGE;
        let bytes = vec![7_u8; PART * 4];
        let there = (bytes.as_ptr() as u64).next_multiple_of(PAGE);
        let content = |page| if page % 2 == 0 { Content::Memory } else { Content::Zeros };
        let runs = (0..PAGES).map(|page| (there + page * PAGE, content(page)));
        let all = missing(&layout(&[runs.collect()]), Duration::MAX);
        assert_eq!((all.lost, all.late), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_is_missing_of_a_segment_is_what_lies_behind_the_first_gap() {
        let gaps = [30..40, 5..10];
        let held = |at, len| crate::save::held_of(at, len, &gaps);
        assert_eq!(
            [held(0, 5), held(0, 20), held(6, 4), held(10, 20), held(10, 25)],
            [5, 5, 0, 20, 20]
        );
    }
}
