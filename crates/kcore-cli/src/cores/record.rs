//! A stored core, as it is shown.

use std::path::Path;

use kcore::signal;
use kcore_dcmd::{Cell, Column, Fields, Record, View};

use super::{stored::StoredCore, time::utc};
use crate::target::shown;

const COLUMNS: &[Column] = &[
    Column::left("died", "DIED (UTC)", 19),
    Column::left("shown_signal", "SIGNAL", 9),
    Column::right("pid", "PID", 8),
    Column::left("program", "PROGRAM", 15),
    Column::right("shown_size", "BYTES", 12),
    Column::left("shown_file", "FILE", 24),
];

/// A stored core with what its file tells.
pub(super) struct CoreRecord<'a> {
    core: &'a StoredCore,
    died: String,
    signal: Option<String>,
    exe: Option<String>,
    size: Option<u64>,
    readable: bool,
}

impl<'a> CoreRecord<'a> {
    pub(super) fn new(core: &'a StoredCore) -> Self {
        Self {
            died: utc(core.died),
            signal: core.signal().map(signal::name),
            exe: core.exe(),
            size: core.size(),
            readable: core.is_readable(),
            core,
        }
    }

    /// The file, and whether it is closed to who asks.
    fn shown_file(&self) -> String {
        let mark = if self.readable { "" } else { " (may not be read)" };
        format!("{}{mark}", shown(Path::new(&self.core.path)))
    }
}

impl Record for CoreRecord<'_> {
    fn kind(&self) -> &'static str {
        "stored_core"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let dash = |text: Option<String>| Cell::text(text.unwrap_or_else(|| "-".to_owned()));
        out.text("died", self.died.as_str())
            .opt_text("signal", self.signal.as_deref())
            .num("pid", u64::from(self.core.pid))
            .num("uid", self.core.uid.map(u64::from))
            .text("program", self.core.program.as_str())
            .opt_text("exe", self.exe.as_deref())
            .num("size", self.size)
            .text("file", shown(&self.core.path))
            .flag("readable", self.readable)
            .display("shown_signal", dash(self.signal.clone()))
            .display("shown_size", dash(self.size.map(|size| size.to_string())))
            .display("shown_file", Cell::text(self.shown_file()));
    }
}
