//! The table on the screen, and what keys do to it.

use std::io::{self, Write};

use kcore_render::{Size, sanitize};

use super::args::Order;
use super::table::{Row, Table};

/// Another screen, without a cursor, and back (xterm's control sequences).
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
const HOME: &str = "\x1b[H";
const END_OF_LINE: &str = "\x1b[K\r\n";
const REST_OF_SCREEN: &str = "\x1b[J";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Lines above the functions, and below them.
const AROUND: usize = 4;
/// Bytes of a filter, at most.
const MAX_FILTER: usize = 200;
const ESCAPE: u8 = 27;

/// What is shown.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) order: Order,
    pub(super) filter: String,
    /// Whether the filter is typed.
    is_typing: bool,
    /// All since the beginning, and not the last part alone.
    pub(super) is_whole: bool,
    pub(super) is_paused: bool,
    /// Functions above the first one on the screen.
    first: usize,
}

/// What a key asks of whoever shows the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyAnswer {
    /// Nothing, or what the view itself did.
    Redraw,
    /// All that was seen is to be forgotten.
    Clear,
    /// It is over.
    Quit,
}

impl View {
    pub(super) fn new(order: Order, filter: &str) -> Self {
        Self {
            order,
            filter: filter.to_owned(),
            is_typing: false,
            is_whole: false,
            is_paused: false,
            first: 0,
        }
    }

    /// What some bytes that were typed together do: those of one key, or of several.
    pub(super) fn typed(&mut self, bytes: &[u8], page: usize) -> KeyAnswer {
        match bytes {
            _ if self.is_typing => self.filtered(bytes),
            [ESCAPE, b'[', rest @ ..] => self.moved(rest, page),
            [ESCAPE, ..] => {
                self.filter.clear();
                self.first = 0;
                KeyAnswer::Redraw
            }
            keys => self.keys(keys),
        }
    }

    /// Handles keys that arrived in one read. Those that follow a slash are the text of a filter.
    fn keys(&mut self, keys: &[u8]) -> KeyAnswer {
        for (at, key) in keys.iter().enumerate() {
            if self.is_typing {
                return self.filtered(keys.get(at..).unwrap_or_default());
            }
            match self.key(*key) {
                KeyAnswer::Redraw => {}
                other => return other,
            }
        }
        KeyAnswer::Redraw
    }

    fn key(&mut self, key: u8) -> KeyAnswer {
        match key {
            b'q' | b'Q' => return KeyAnswer::Quit,
            b'c' => return KeyAnswer::Clear,
            b's' => self.order = Order::Own,
            b't' => self.order = Order::Total,
            b'a' => self.is_whole = !self.is_whole,
            b' ' | b'p' => self.is_paused = !self.is_paused,
            b'j' => self.first = self.first.saturating_add(1),
            b'k' => self.first = self.first.saturating_sub(1),
            b'/' => {
                self.is_typing = true;
                self.filter.clear();
            }
            _ => {}
        }
        KeyAnswer::Redraw
    }

    /// Arrows and pages: what stands behind `ESC [`.
    fn moved(&mut self, key: &[u8], page: usize) -> KeyAnswer {
        self.first = match key {
            b"A" => self.first.saturating_sub(1),
            b"B" => self.first.saturating_add(1),
            b"5~" => self.first.saturating_sub(page),
            b"6~" => self.first.saturating_add(page),
            b"H" | b"1~" => 0,
            _ => self.first,
        };
        KeyAnswer::Redraw
    }

    fn filtered(&mut self, bytes: &[u8]) -> KeyAnswer {
        for sign in String::from_utf8_lossy(bytes).chars() {
            match sign {
                '\r' | '\n' => self.is_typing = false,
                '\x1b' => {
                    self.is_typing = false;
                    self.filter.clear();
                    break;
                }
                '\x7f' | '\x08' => drop(self.filter.pop()),
                sign if sign.is_control() || self.filter.len() > MAX_FILTER => {}
                sign => self.filter.push(sign),
            }
        }
        self.first = 0;
        KeyAnswer::Redraw
    }

    /// The lines of the screen. `words` are about the process.
    fn lines(&mut self, table: &Table, words: &str, size: Size) -> Vec<String> {
        let rows = table.rows(self.order, &self.filter);
        let room = page(size);
        self.first = self.first.min(rows.len().saturating_sub(1));
        let shown = rows.iter().skip(self.first).take(room);
        let mut lines = vec![cut(words, size.columns), self.state(rows.len())];
        let width = name_width(size.columns);
        lines.push(format!("{BOLD} SELF%  TOTAL%  {:width$}  PLACE{PLAIN}", "FUNCTION"));
        lines.extend(shown.map(|row| line(table, row, size.columns)));
        lines
    }

    /// What is shown of how many functions, in which order.
    fn state(&self, count: usize) -> String {
        let order = match self.order {
            Order::Own => "by SELF",
            Order::Total => "by TOTAL",
        };
        let of = if self.is_whole { "since the beginning" } else { "the last part" };
        let paused = if self.is_paused { ", standing still" } else { "" };
        let filter = match (self.is_typing, self.filter.as_str()) {
            (true, text) => format!("  /{text}_"),
            (false, "") => String::new(),
            (false, text) => format!("  /{text}"),
        };
        let functions = if count == 1 { "function" } else { "functions" };
        format!("{count} {functions} {order}, {of}{paused}{filter}")
    }
}

/// Functions that the screen has room for.
pub(super) fn page(size: Size) -> usize {
    size.rows.saturating_sub(AROUND).max(1)
}

fn line(table: &Table, row: &Row, columns: usize) -> String {
    let width = name_width(columns);
    let name = sanitize::line(&row.function.name);
    let place = sanitize::line(row.place().unwrap_or_default()).into_owned();
    let (own, total) = (table.percent(row.own), table.percent(row.total));
    let name = cut(&name, width);
    cut(&format!("{own:6.1} {total:7.1}  {name:width$}  {place}"), columns)
}

/// Columns of a name: what the numbers leave, and a third of it for the place.
const fn name_width(columns: usize) -> usize {
    let left = columns.saturating_sub(18);
    left.saturating_sub(left / 3)
}

/// So many characters of a text; what is cut ends with dots.
fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(3)).collect();
    format!("{kept}...")
}

/// The screen, which is as it was before when this is dropped.
pub(super) struct Screen;

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        write_whole(ENTER).map(|()| Self)
    }

    /// Shows the table.
    pub(super) fn draw(
        &self,
        view: &mut View,
        table: &Table,
        words: &str,
        size: Size,
    ) -> io::Result<()> {
        let mut text = HOME.to_owned();
        for line in view.lines(table, words, size).iter().take(size.rows.saturating_sub(1)) {
            text.push_str(line);
            text.push_str(END_OF_LINE);
        }
        text.push_str(REST_OF_SCREEN);
        write_whole(&text)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone has no screen.
        let _ = write_whole(LEAVE);
    }
}

fn write_whole(text: &str) -> io::Result<()> {
    let mut to = io::stdout().lock();
    to.write_all(text.as_bytes())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::window;
    use super::*;

    const SIZE: Size = Size { columns: 70, rows: 10 };

    fn lines(view: &mut View) -> Vec<String> {
        let mut table = Table::default();
        table.add(window());
        view.lines(&table, "app", SIZE)
    }

    #[test]
    fn a_line_has_the_shares_the_name_and_the_place() {
        let lines = lines(&mut View::new(Order::Own, ""));
        assert_eq!(lines[1], "3 functions by SELF, the last part");
        assert_eq!(lines[3].trim_end(), format!("  50.0    50.0  {:35}  app", "f"));
        assert_eq!(lines[4].trim_end(), format!("  20.0    20.0  {:35}  /srv/App.py", "g"));
    }

    #[test]
    fn keys_change_the_order_and_the_filter() {
        let mut view = View::new(Order::Own, "");
        assert_eq!(view.typed(b"t", 6), KeyAnswer::Redraw);
        assert!(lines(&mut view)[3].contains("main"));
        view.typed(b"/g", 6);
        assert_eq!(lines(&mut view)[1], "1 function by TOTAL, the last part  /g_");
    }

    #[test]
    fn a_filter_is_typed_until_enter_and_escape_takes_it_away() {
        let mut view = View::new(Order::Own, "");
        view.typed(b"/", 6);
        view.typed(b"q\x7fma", 6);
        assert_eq!((view.filter.as_str(), view.is_typing), ("ma", true));
        view.typed(b"\r", 6);
        assert_eq!(lines(&mut view).len(), 4);
        view.typed(&[ESCAPE], 6);
        assert_eq!(lines(&mut view).len(), 6);
        assert_eq!(view.typed(b"q", 6), KeyAnswer::Quit);
    }

    #[test]
    fn the_list_moves_no_further_than_its_end() {
        let mut view = View::new(Order::Own, "");
        view.typed(b"\x1b[6~", 6);
        assert_eq!(lines(&mut view).len(), 4, "the last one stays");
        view.typed(b"\x1b[A", 6);
        assert_eq!(lines(&mut view).len(), 5);
    }

    #[test]
    fn names_of_the_target_do_not_reach_the_terminal_as_they_are() {
        let mut table = Table::default();
        let mut seen = window();
        seen.functions[2].function.name = "a\x1b[31mb".into();
        table.add(seen);
        let lines = View::new(Order::Own, "").lines(&table, "app", SIZE);
        assert!(!lines[3].contains('\x1b'), "{:?}", lines[3]);
    }
}
