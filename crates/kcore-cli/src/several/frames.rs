//! A stack that several cores have, frame by frame.

use kcore_dcmd::stack::original_cell;
use kcore_dcmd::{Cell, DcmdError, Fields, Record, Sink, SymbolCell, View};

use super::alike::{Comparable, FrameKey};

/// A frame of such a stack.
struct ComparedFrame<'a> {
    index: usize,
    frame: &'a FrameKey,
    shows_source: bool,
}

impl ComparedFrame<'_> {
    fn symbol(&self) -> SymbolCell<'_> {
        SymbolCell {
            addr: kcore::Addr::new(0),
            module: self.frame.module().map(Into::into),
            name: Some(self.frame.name().to_string().into()),
            offset: 0,
            nearest: self.frame.location.nearest,
        }
    }

    fn place(&self) -> Option<String> {
        let location = &*self.frame.location;
        let is_shown = self.shows_source || !location.kind.is_machine_code();
        let file = location.file.as_deref().filter(|_| is_shown)?;
        Some(location.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
    }
}

impl Record for ComparedFrame<'_> {
    fn kind(&self) -> &'static str {
        "compared_frame"
    }

    fn view(&self) -> View {
        View::Line(
            "                 {symbol}{place? at {place}}{inline? [inlined]}{guess? [guessed]}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let location = &*self.frame.location;
        let in_script = location.place_in_script();
        out.num("index", self.index as u64)
            .text("kind", location.kind.as_str())
            .opt_text("function", in_script.function)
            .opt_text("module", location.module.as_deref())
            .opt_text("file", in_script.file)
            .num("line", in_script.line.map(u64::from))
            .put("original", original_cell(location.original_place()))
            .flag("inline", location.inline)
            .flag("guess", self.frame.is_guess)
            .display("symbol", Cell::Symbol(self.symbol()))
            .display("place", Cell::or_null(self.place(), Cell::text));
    }
}

/// What such a stack ends with.
struct ComparedEnd<'a>(&'a Option<String>);

impl Record for ComparedEnd<'_> {
    fn kind(&self) -> &'static str {
        "compared_end"
    }

    fn view(&self) -> View {
        if self.0.is_some() { View::Line("                 -- {end}") } else { View::Hidden }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.opt_text("end", self.0.as_deref());
    }
}

/// Shows what tells of a stack, with its frames below.
pub(super) fn show_stack(
    head: &dyn Record,
    like: &Comparable,
    shows_source: bool,
    sink: &mut dyn Sink,
) -> Result<(), DcmdError> {
    sink.begin(head, "frames")?;
    for (index, frame) in like.frames.iter().enumerate() {
        sink.put(&ComparedFrame { index, frame, shows_source })?;
    }
    sink.end(&ComparedEnd(&like.end))
}
