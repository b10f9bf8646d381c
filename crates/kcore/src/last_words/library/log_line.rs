//! The last line of a log of glog's or Abseil's, whose `CHECK` and `LOG(FATAL)` end the process.
//!
//! The text of glog's `LogMessage` lies behind an `int` in what its second word points to (glog 0.6 `src/logging.cc`,
//! `LogMessageData`), and the object in a frame of the program. A line begins with the letter of its severity, the day, the
//! time and the id of the thread: `F20261130 12:30:59.123456  4711 table.cc:12] Check failed: …`; before 0.5 the day has no
//! year. The id is that of the thread that died, which tells the line from those that were logged before.

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::{DyingFrame, outermost, text, words};
use crate::Core;

/// Frames of the program behind those of the library that are looked through: the object is a temporary of the caller.
const CALLERS: usize = 1;
/// From the start of glog's data to the text.
const TEXT: u64 = 4;
/// Digits of a day, with the year and without.
const DAYS: [usize; 2] = [8, 4];
const CLOCK: &[u8] = b"dd:dd:dd.dddddd";

/// The name of the library, and its words.
pub fn find(core: &Core, tid: Tid, frames: &[DyingFrame]) -> Option<(&'static str, String)> {
    let library = outermost(frames, |function| function.starts_with("google::LogMessage"))?;
    let last = library.saturating_add(CALLERS).min(frames.len().saturating_sub(1));
    let mut lines = words(core, frames, last)?.filter_map(|(_, word)| {
        let line = text(core, Addr::new(word).checked_add(TEXT)?)?;
        is_line_of(&line, tid.get()).then_some(line)
    });
    let line = lines.next()?;
    lines.all(|other| other == line).then_some(("glog", line))
}

/// Whether a text is a fatal line of a thread.
fn is_line_of(text: &str, tid: u32) -> bool {
    let Some(line) = text.strip_prefix('F') else { return false };
    let mut words = line.split_ascii_whitespace();
    let (Some(day), Some(clock), Some(id)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let is_day = DAYS.contains(&day.len()) && day.bytes().all(|byte| byte.is_ascii_digit());
    is_day && is_clock(clock) && id.parse() == Ok(tid) && line.contains("] ")
}

fn is_clock(text: &str) -> bool {
    let is_like = |(byte, like): (u8, &u8)| match like {
        b'd' => byte.is_ascii_digit(),
        other => byte == *other,
    };
    text.len() == CLOCK.len() && text.bytes().zip(CLOCK).all(is_like)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_of_its_thread() {
        let line = "F20261130 00:44:55.123456 26131 gl.cc:3] Check failed: used <= size (9 vs. 3) ";
        assert!(is_line_of(line, 26131));
        assert!(!is_line_of(line, 2613), "of another thread");
        assert!(is_line_of("F1130 00:44:55.123456  7 gl.cc:3] x", 7), "without a year");
        assert!(!is_line_of("E20261130 00:44:55.123456 7 gl.cc:3] x", 7), "no fatal one");
        assert!(!is_line_of("F20261130 00:44 7 gl.cc:3] x", 7));
        assert!(!is_line_of("F20261130 00:44:55.123456 7 gl.cc:3", 7), "cut");
        assert!(!is_line_of("Füür", 7));
    }
}
