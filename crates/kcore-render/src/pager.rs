//! The pager: shows one screen, and asks before it shows the next.

use std::sync::Arc;

use kcore_dcmd::{DcmdError, Result};

use crate::pager_search::Search;
use crate::screen::{Screen, Size};

const PROMPT: &str = ">> More [<space>, <cr>, /, q, n, c, a] ? ";
const INTERRUPT: u8 = 3;
const QUIT: u8 = 0x1c;

/// Counts rows, and asks when a screen is full.
///
/// It pauses only where more is to come. A screen whose size is not known is never full.
pub struct Pager {
    screen: Arc<dyn Screen>,
    /// Whether it pauses at all, in this line.
    on: bool,
    /// Rows that are shown before it asks.
    left: usize,
    /// What the user chose in place of the rest.
    ended: Option<DcmdError>,
    search: Search,
}

/// What a user wants to see next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Screen,
    Line,
    All,
    Search,
    EndCommand,
    EndLine,
}

impl Pager {
    /// A pager, which is off until a line begins.
    pub fn new(screen: Arc<dyn Screen>) -> Self {
        Self { screen, on: false, left: 0, ended: None, search: Search::default() }
    }

    /// A line begins that the user typed; `on` says whether its output is paged.
    pub(crate) fn begin_line(&mut self, on: bool) {
        self.on = on;
        self.ended = None;
        self.search.end();
        self.fill();
    }

    /// Ends the output of one command of the line, so that the next one is shown even if the user had seen enough.
    /// Returns the text that the user searched for and that no line had.
    pub(crate) fn end_command(&mut self) -> Option<&str> {
        if self.ended.take().is_some() {
            self.fill();
        }
        self.search.end()
    }

    /// Whether `line` is not shown, for the user searches for one that comes later.
    pub(crate) fn skips(&mut self, line: &str) -> bool {
        self.search.skips(line)
    }

    /// Counts `line`, which was shown.
    pub(crate) fn count(&mut self, line: &str) {
        if let Some(size) = self.screen.size() {
            self.left = self.left.saturating_sub(size.rows_of(line));
        }
    }

    /// Whether the user must be asked before `line` is shown.
    pub(crate) fn is_full(&self, line: &str) -> bool {
        let fits = |size: Size| size.rows_of(line).min(screenful(size)) <= self.left;
        self.on && !self.screen.size().is_none_or(fits)
    }

    /// Asks whether `line` is to be shown; `show` shows what is to be seen at once.
    ///
    /// # Errors
    /// [`DcmdError::Enough`] and [`DcmdError::Abandoned`], as the user chose, and again until the
    /// command ends; what `show` answers.
    pub(crate) fn ask(
        &mut self,
        line: &str,
        show: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        if let Some(ended) = &self.ended {
            return Err(ended.clone());
        }
        show(PROMPT)?;
        let answer = self.answer();
        show(&format!("\r{}\r", " ".repeat(PROMPT.len())))?;
        match answer {
            Answer::Screen => self.fill(),
            Answer::Line => self.left = self.screen.size().map_or(1, |size| size.rows_of(line)),
            Answer::All => self.on = false,
            // What is found stands at the top of a new screen.
            Answer::Search if self.search.read(&*self.screen, show)? => self.fill(),
            Answer::Search => {}
            Answer::EndCommand => return self.end(DcmdError::Enough),
            Answer::EndLine => return self.end(DcmdError::Abandoned),
        }
        Ok(())
    }

    fn end(&mut self, choice: DcmdError) -> Result<()> {
        self.ended = Some(choice.clone());
        Err(choice)
    }

    /// Waits for a key that means something.
    fn answer(&self) -> Answer {
        loop {
            return match self.screen.key() {
                Some(b' ') => Answer::Screen,
                Some(b'\r' | b'\n' | b'n') => Answer::Line,
                Some(b'c') => Answer::All,
                Some(b'/') => Answer::Search,
                Some(b'q' | INTERRUPT | QUIT) | None => Answer::EndCommand,
                Some(b'a') => Answer::EndLine,
                Some(_) => continue,
            };
        }
    }

    /// The next screen.
    fn fill(&mut self) {
        self.left = self.screen.size().map_or(usize::MAX, screenful);
    }
}

/// Rows of results on a screen; the last row is for the question.
fn screenful(size: Size) -> usize {
    size.rows.saturating_sub(1).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use super::*;

    /// A screen of 10 columns and as many rows as it is told, and the keys that its user presses.
    struct Fake {
        rows: Mutex<usize>,
        keys: Mutex<VecDeque<u8>>,
    }

    impl Screen for Fake {
        fn size(&self) -> Option<Size> {
            Some(Size { columns: 10, rows: *self.rows.lock().unwrap() })
        }

        fn key(&self) -> Option<u8> {
            self.keys.lock().unwrap().pop_front()
        }

        fn has_key(&self) -> bool {
            false
        }
    }

    fn screen(rows: usize, keys: &str) -> Arc<Fake> {
        Arc::new(Fake { rows: Mutex::new(rows), keys: Mutex::new(keys.bytes().collect()) })
    }

    /// Shows numbered lines from `first` on through a pager; `?` stands for each question.
    fn show(pager: &mut Pager, lines: std::ops::Range<usize>) -> (String, Result<()>) {
        let mut shown = String::new();
        for line in lines {
            let line = format!("{line}\n");
            while !pager.skips(&line) && pager.is_full(&line) {
                let asked = pager.ask(&line, &mut |text| {
                    shown.push_str(if text == PROMPT { "?" } else { "" });
                    Ok(())
                });
                if asked.is_err() {
                    return (shown, asked);
                }
            }
            if !pager.skips(&line) {
                shown.push_str(line.trim_end());
                pager.count(&line);
            }
        }
        (shown, Ok(()))
    }

    fn paged(rows: usize, keys: &str, lines: usize) -> (String, Result<()>) {
        let mut pager = Pager::new(screen(rows, keys));
        pager.begin_line(true);
        show(&mut pager, 0..lines)
    }

    #[test]
    fn each_key_does_what_the_question_says() {
        assert_eq!(paged(4, "   ", 9), ("012?345?678".to_owned(), Ok(())), "space: a screen");
        assert_eq!(paged(4, "\rn ", 8), ("012?3?4?567".to_owned(), Ok(())), "enter and n: a line");
        assert_eq!(paged(4, "c", 9), ("012?345678".to_owned(), Ok(())), "c: all");
        assert_eq!(paged(4, "xyq", 9), ("012?".to_owned(), Err(DcmdError::Enough)), "q: no more");
        assert_eq!(paged(4, "\x03", 9), ("012?".to_owned(), Err(DcmdError::Enough)), "ctrl-C");
        assert_eq!(paged(4, "a", 9), ("012?".to_owned(), Err(DcmdError::Abandoned)), "a: the line");
        assert_eq!(paged(4, "", 3), ("012".to_owned(), Ok(())), "nothing more, no question");
    }

    #[test]
    fn what_is_searched_for_begins_a_new_screen() {
        assert_eq!(paged(4, "/7\r", 10), ("012?789".to_owned(), Ok(())));
        assert_eq!(paged(4, "/x\x7f6\r", 9).0, "012?678");
        assert_eq!(paged(4, "/6\x1b ", 6).0, "012??345", "given up: the question comes again");
        assert_eq!(paged(3, "/4\r/\r", 24).0, "01?45?1415?", "an empty one repeats the last");
    }

    #[test]
    fn what_is_not_found_is_said_at_the_end() {
        let mut pager = Pager::new(screen(4, "/x\r"));
        pager.begin_line(true);
        assert_eq!(show(&mut pager, 0..9).0, "012?");
        assert_eq!(pager.end_command(), Some("x"));
        assert_eq!(pager.end_command(), None);
    }

    #[test]
    fn it_is_off_until_it_is_told() {
        let mut pager = Pager::new(screen(4, ""));
        assert_eq!(show(&mut pager, 0..6).0, "012345");
        pager.begin_line(false);
        assert_eq!(show(&mut pager, 0..6).0, "012345");
    }

    #[test]
    fn who_has_seen_enough_of_a_command_sees_the_next() {
        let mut pager = Pager::new(screen(4, "qq"));
        pager.begin_line(true);
        assert_eq!(show(&mut pager, 0..9), ("012?".to_owned(), Err(DcmdError::Enough)));
        assert_eq!(show(&mut pager, 3..5), (String::new(), Err(DcmdError::Enough)), "asked once");
        pager.end_command();
        assert_eq!(show(&mut pager, 5..9).0, "567?");
    }

    #[test]
    fn the_height_is_that_of_the_window_now() {
        let fake = screen(4, "  ");
        let mut pager = Pager::new(fake.clone());
        pager.begin_line(true);
        assert_eq!(show(&mut pager, 0..4).0, "012?3");
        *fake.rows.lock().unwrap() = 3;
        assert_eq!(show(&mut pager, 4..8).0, "45?67");
    }

    #[test]
    fn long_lines_take_several_rows_and_a_screen_takes_at_least_one_line() {
        let mut pager = Pager::new(screen(3, " "));
        pager.begin_line(true);
        let long = "x".repeat(35);
        assert!(!pager.is_full(&long), "what is longer than a screen is shown on an empty one");
        pager.count(&long);
        assert!(pager.is_full("y"));
        let mut pager = Pager::new(screen(3, "n"));
        pager.begin_line(true);
        pager.count("y");
        pager.count("y");
        pager.ask(&long, &mut |_| Ok(())).unwrap();
        assert!(!pager.is_full(&long), "who wants a line gets it, however long");
    }
}
