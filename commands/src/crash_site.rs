//! Where a process died in its own code, as `::status` shows it.

use kcore::{CodeAddr, Core, CrashSite, Location};
use kcore_dcmd::{
    Cell, Cx, Fields,
    stack::{FrameLine, Layout},
};

use crate::names::Names;

/// A frame of the program's own code, with its line of source.
pub struct Site {
    line: FrameLine,
    /// The line of source without its indentation, where the file is at hand.
    source: Option<String>,
}

impl Site {
    /// Where the process died in its own code, if that is known.
    pub fn find(cx: &Cx<'_>) -> Option<Self> {
        let CrashSite { tid, frame, .. } = cx.core().crash().site()?;
        let source = source_line(cx.core(), &frame.location);
        let line = Names::new(cx).frame_line(Some(tid), frame, Layout::Plain).with_source(true);
        Some(Self { line, source })
    }

    /// All of it, for machines.
    pub fn cell(&self) -> Cell<'_> {
        let frame = &self.line.frame;
        let location = &*frame.location;
        let number = |number: u32| Cell::Num(number.into());
        Cell::Object(vec![
            ("tid", Cell::or_null(self.line.tid, |tid| number(tid.get()))),
            ("frame", Cell::Num(frame.index as u64)),
            ("pc", Cell::or_null(frame.pc().map(CodeAddr::addr), Cell::Addr)),
            ("kind", Cell::text(location.kind.as_str())),
            ("function", Cell::or_null(self.line.function(), Cell::text)),
            ("module", Cell::or_null(location.module.as_deref(), Cell::text)),
            ("file", Cell::or_null(location.file.as_deref(), Cell::text)),
            ("line", Cell::or_null(location.line, number)),
            ("column", Cell::or_null(location.column, number)),
            ("source", Cell::or_null(self.source.as_deref(), Cell::text)),
        ])
    }

    /// The lines for people.
    pub fn display<'a>(&'a self, out: &mut Fields<'a>) {
        out.display("site_symbol", Cell::Symbol(self.line.symbol()))
            .display("site_place", Cell::or_null(self.line.source(), Cell::text))
            .display("site_frame", Cell::Num(self.line.frame.index as u64))
            .display("site_source", Cell::or_null(self.source.as_deref(), Cell::text));
    }
}

fn source_line(core: &Core, location: &Location) -> Option<String> {
    let line = location.line?.into();
    let text = core.files().source(location.file.as_deref()?, line, line).ok()?;
    let line = text.lines.first()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}
