//! Source text round the line of a frame.

use kcore::{Location, SourceText};
use kcore_dcmd::{Cell, Cx, DcmdError, Fields, Record, Result, View};

/// Lines that are shown before and after a line, at most.
pub const MAX_AROUND: u64 = 100_000;

/// Emits the lines round that of `location`, at most `around` before and after it.
///
/// # Errors
/// If the line is not known, or the file is not at hand; the error says where kcore looked.
pub fn emit(cx: &mut Cx<'_>, location: &Location, around: u64) -> Result<()> {
    let known = location.file.as_deref().zip(location.line);
    let (file, line) =
        known.ok_or_else(|| DcmdError::failed("no source line is known for this frame"))?;
    let line = u64::from(line);
    let first = line.saturating_sub(around).max(1);
    let text = cx.core().files().source(file, first, line.saturating_add(around));
    let text = text.map_err(|error| {
        let tried = error.lines().collect::<Vec<_>>().join(", ");
        DcmdError::failed(format!("failed to find source file {file}: {tried}"))
    })?;
    let end = first.saturating_add(text.lines.len() as u64);
    if line >= end {
        let path = text.path.display();
        return Err(DcmdError::failed(format!(
            "{path} has no line {line}: it is a different version"
        )));
    }
    let numbers = first..end;
    numbers.zip(&text.lines).try_for_each(|(number, content)| {
        cx.emit(&SourceLine { file, text: &text, number, content, current: number == line })
    })
}

/// A line of a source file.
struct SourceLine<'s> {
    file: &'s str,
    text: &'s SourceText,
    number: u64,
    content: &'s str,
    current: bool,
}

impl SourceLine<'_> {
    /// Tabs stand at every eighth column of the text, wherever that begins.
    fn expanded(&self) -> String {
        const TAB: usize = 8;
        let mut expanded = String::new();
        let mut column: usize = 0;
        for letter in self.content.chars() {
            let width = match letter {
                '\t' => TAB.saturating_sub(column.checked_rem(TAB).unwrap_or(0)),
                _ => 1,
            };
            match letter {
                '\t' => expanded.extend(std::iter::repeat_n(' ', width)),
                other => expanded.push(other),
            }
            column = column.saturating_add(width);
        }
        expanded
    }
}

impl Record for SourceLine<'_> {
    fn kind(&self) -> &'static str {
        "source_line"
    }

    fn view(&self) -> View {
        View::Line("{mark} {line:>6}  {expanded}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("file", self.file)
            .text("path", self.text.path.to_string_lossy())
            .num("line", self.number)
            .text("text", self.content)
            .flag("current", self.current)
            .display("mark", Cell::text(if self.current { ">" } else { " " }))
            .display("expanded", Cell::text(self.expanded()));
    }
}
