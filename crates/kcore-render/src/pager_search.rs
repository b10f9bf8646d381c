//! What a user searches for at the pager's question: `/`, a text, Enter.

use kcore_dcmd::Result;

use crate::screen::Screen;

const INTERRUPT: u8 = 3;
const BACKSPACE: [u8; 2] = [8, 0x7f];
const ESCAPE: u8 = 0x1b;

/// The text that is searched for.
#[derive(Default)]
pub(crate) struct Search {
    /// The text of the latest search, which an empty one repeats.
    last: String,
    is_on: bool,
}

impl Search {
    /// Takes a text that the user types, and shows it meanwhile. Says whether there is something to search for: not
    /// after Escape, ctrl-C, or a text that was taken back.
    ///
    /// # Errors
    /// What `show` answers.
    pub(crate) fn read(
        &mut self,
        screen: &dyn Screen,
        show: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<bool> {
        show("/")?;
        let typed = typed(screen, show)?;
        let width = typed.as_ref().map_or(0, |typed| typed.chars().count());
        show(&format!("\r{}\r", " ".repeat(width.saturating_add(1))))?;
        let Some(typed) = typed else { return Ok(false) };
        if !typed.is_empty() {
            self.last = typed;
        }
        self.is_on = !self.last.is_empty();
        Ok(self.is_on)
    }

    /// Whether a line is left out, for it comes before the first one with the text.
    pub(crate) fn skips(&mut self, line: &str) -> bool {
        if self.is_on && without_styles(line).contains(&self.last) {
            self.is_on = false;
        }
        self.is_on
    }

    /// Ends the search; the text if no line had it.
    pub(crate) fn end(&mut self) -> Option<&str> {
        std::mem::take(&mut self.is_on).then_some(self.last.as_str())
    }
}

/// The text up to Enter; `None` if the user gave it up.
fn typed(screen: &dyn Screen, show: &mut dyn FnMut(&str) -> Result<()>) -> Result<Option<String>> {
    let mut bytes = Vec::new();
    loop {
        match screen.key() {
            Some(b'\r' | b'\n') => return Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Some(ESCAPE | INTERRUPT) | None => return Ok(None),
            Some(key) if BACKSPACE.contains(&key) => match bytes.pop() {
                Some(_) => show("\u{8} \u{8}")?,
                None => return Ok(None),
            },
            Some(key) if key.is_ascii_graphic() || key == b' ' => {
                bytes.push(key);
                show(char::from(key).encode_utf8(&mut [0; 4]))?;
            }
            // What kcore shows is ASCII, but for names of the target.
            Some(_) => {}
        }
    }
}

/// A line as it is read on the screen: without what switches attributes on and off.
fn without_styles(line: &str) -> String {
    let mut parts = line.split(char::from(ESCAPE));
    let mut text = parts.next().unwrap_or_default().to_owned();
    // `ESC [ … m`
    text.extend(parts.map(|part| part.split_once('m').map_or(part, |(_, text)| text)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_do_not_hide_a_text() {
        assert_eq!(without_styles("a\u{1b}[36mb\u{1b}[0mc"), "abc");
        assert_eq!(without_styles("mm"), "mm");
    }
}
