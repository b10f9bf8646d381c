//! One line of `::dump`.

use kcore::Addr;
use kcore_dcmd::{Cell, Dot, Fields, Record, View};

use super::layout::Layout;

/// One line.
pub struct LineRecord<'l> {
    pub layout: &'l Layout,
    pub at: Addr,
    pub bytes: &'l [u8],
    /// Whether the header stands before it.
    pub header: bool,
    /// Whether it equals the line before it and `-s` was given.
    pub repeats: bool,
    /// Whether it is the first such line.
    pub star: bool,
}

impl Record for LineRecord<'_> {
    fn kind(&self) -> &'static str {
        "memory"
    }

    fn view(&self) -> View {
        match (self.star, self.repeats) {
            (true, _) => View::Line("*"),
            (false, true) => View::Hidden,
            (false, false) => View::Line("{header?{header}\n}{line}"),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let bytes: String = self.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let header = self.header.then(|| self.layout.header()).flatten();
        out.addr("address", self.at)
            .num("size", self.bytes.len() as u64)
            .text("bytes", bytes)
            .display("header", Cell::or_null(header, Cell::text))
            .display("line", Cell::text(self.layout.line(self.at, self.bytes)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.at))
    }
}
