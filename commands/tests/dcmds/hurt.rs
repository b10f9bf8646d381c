//! Copies of a core that were cut, or whose memory was overwritten: what a line shows of them.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use gen_cores::Case;
use kcore::{Core, OpenOptions};
use serde_json::Value;

use crate::harness;

/// Bytes of a core that is not small.
const SMALL: usize = 16 << 20;

/// A core that is copied, a line, and the type of the records that it shows of every copy.
pub struct Hurt {
    pub case: Case,
    pub line: &'static str,
    pub shown: &'static str,
}

impl Hurt {
    /// The records of the line where the core has these bytes.
    pub fn records(&self, bytes: &[u8]) -> Vec<Value> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hurt-{}-{count}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, bytes).expect("a copy");
        let (core, exe) = (Some(path.clone()), Some(self.case.exe.clone()));
        let options = OpenOptions { core, exe, ..OpenOptions::default() };
        let core = Arc::new(Core::open(&options).expect("it opens"));
        let records = harness::json_on(&core, self.line);
        fs::remove_file(path).expect("the copy goes");
        records
    }

    /// The whole core.
    pub fn whole(&self) -> Vec<u8> {
        fs::read(&self.case.core).expect("the core")
    }

    /// Of a core that is cut anywhere what is left is shown.
    pub fn assert_cut_shows_what_is_left(&self) {
        let whole = self.whole();
        for part in [1, 5, 9, 13] {
            let records = self.records(&whole[..whole.len() / 16 * part]);
            self.assert_shown(&records, &format!("{part}/16"));
        }
    }

    /// Memory that lies hides nothing that does not depend on it.
    pub fn assert_lies_are_no_harm(&self) {
        let whole = self.whole();
        // In a small core few words matter.
        let words = if whole.len() < SMALL { 61 } else { 1021 };
        // Every so many words something else: what looks like a value, an address, a big number.
        for (turn, value) in [(0, 8_u64), (1, u64::MAX), (2, 0x7fff_ffff_fff8)] {
            let mut bytes = whole.clone();
            let first = bytes.len() / 4;
            for at in (first..bytes.len() - 8).step_by(8 * words) {
                let at = (at + 8 * turn) & !7;
                bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            self.assert_shown(&self.records(&bytes), &format!("turn {turn}"));
        }
    }

    fn assert_shown(&self, records: &[Value], what: &str) {
        let is_shown = |record: &Value| record["type"] == self.shown;
        assert!(records.iter().any(is_shown), "{} {what}: {records:?}", self.case.name());
    }
}
