//! The value that a JavaScript dcmd is about, and the V8 that knows it.

use kcore::v8::V8;
use kcore::v8::value::{Limits, Value, ValueKind};
use kcore::{Addr, Core, Runtime};
use kcore_dcmd::{Cx, DcmdError, Result};

use crate::advice;

/// A value, and the V8 whose it is.
#[derive(Clone, Copy)]
pub struct Subject<'c> {
    /// The process.
    pub core: &'c Core,
    /// Its V8.
    pub v8: &'c V8,
    /// The word that was given: a tagged value, or the address of an object without its tag.
    pub word: u64,
}

impl<'c> Subject<'c> {
    /// The value at the address before a dcmd.
    ///
    /// # Errors
    /// If the process has no V8, or the word is not a value; the error gives the reason.
    pub fn of(cx: &Cx<'c>) -> Result<Self> {
        let dot = cx.addr().ok_or_else(|| DcmdError::usage("an address is needed"))?;
        Self::at(cx.core(), dot.number())
    }

    /// The value that a word is.
    ///
    /// # Errors
    /// As [`Subject::of`].
    pub fn at(core: &'c Core, word: u64) -> Result<Self> {
        let mut why = None;
        for v8 in instances(core)? {
            match v8.type_of(core, word) {
                Ok(_) => return Ok(Self { core, v8, word }),
                Err(reason) => why = why.or(Some(reason)),
            }
        }
        let why = why.unwrap_or("nothing is known about it");
        Err(not_a_value(word, why))
    }

    /// The value, as deep and as much as is wanted.
    pub fn value(&self, limits: Limits) -> Value {
        let unknown = || Value {
            word: Some(self.word),
            kind: ValueKind::Unreadable("the layouts of its version are not known"),
        };
        self.v8.value(self.core, self.word, limits).unwrap_or_else(unknown)
    }

    /// The error that the value is of another kind than the wanted one.
    pub fn not_an(&self, wanted: &str) -> DcmdError {
        let word = self.word;
        let kind = super::type_line::of(self.core, self.v8, word);
        let article = if wanted.starts_with(['a', 'o']) { "an" } else { "a" };
        DcmdError::at(Addr::new(word), format!("{word:x} is not {article} {wanted}: {kind}"))
    }
}

fn not_a_value(word: u64, why: &str) -> DcmdError {
    DcmdError::at(Addr::new(word), format!("{word:x} is not a JavaScript value: {why}"))
}

/// Every V8 of the process that can be decoded.
///
/// # Errors
/// If there is none, or none can be decoded; the error gives the reason.
pub fn instances(core: &Core) -> Result<Vec<&V8>> {
    let runtimes = core.runtimes();
    let (found, unknown): (Vec<&V8>, Vec<&V8>) =
        runtimes.of::<V8>().partition(|v8| v8.is_decodable(core));
    if !found.is_empty() {
        return Ok(found);
    }
    let reasons = unknown.iter().flat_map(|v8| &v8.identity().undecoded);
    if let Some(why) = reasons.into_iter().next() {
        return Err(DcmdError::failed(advice::about_undecoded(why)));
    }
    let damaged = runtimes.damaged().iter().find(|damage| damage.name == "v8");
    Err(DcmdError::failed(match damaged {
        Some(damage) => {
            let version = damage.version.as_deref().unwrap_or("of an unknown version");
            format!("V8 {version} cannot be decoded: {}", damage.why)
        }
        None => "no V8 in this process".to_owned(),
    }))
}
