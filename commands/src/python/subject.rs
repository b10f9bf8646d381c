//! The object that a Python dcmd is about, and the CPython that knows it.

use kcore::python::{
    self, Python,
    value::{Limits, Value},
};
use kcore::{Addr, Core};
use kcore_dcmd::{Args, Cx, DcmdError, Dialect, Result, ScriptStyle};

use crate::script_values;

/// A value in the notation of Python.
pub const STYLE: ScriptStyle =
    ScriptStyle { dialect: Dialect::Python, addresses: false, indent: 0 };

/// An object, and the CPython to which it belongs.
#[derive(Clone, Copy)]
pub struct Subject<'c> {
    /// The process.
    pub core: &'c Core,
    /// Its CPython.
    pub python: &'c Python,
    /// Where the object lies.
    pub at: Addr,
}

impl<'c> Subject<'c> {
    /// The object at the address before a dcmd.
    ///
    /// # Errors
    /// If the process has no CPython, or no object lies there.
    pub fn of(cx: &Cx<'c>) -> Result<Self> {
        let at = cx.addr().ok_or_else(|| DcmdError::usage("an address is needed"))?.addr();
        let core: &Core = cx.core();
        let nothing = Limits { depth: 0, entries: 0, characters: 0 };
        let has = |python: &&Python| python.value(core, at, nothing).is_some();
        match instances(core)?.into_iter().find(has) {
            Some(python) => Ok(Self { core, python, at }),
            None => {
                let why = match core.space().read_word(at) {
                    Err(fault) => fault.reason(),
                    Ok(_) => "it has no type",
                };
                Err(DcmdError::at(at, format!("{at:x} is not a Python object: {why}")))
            }
        }
    }

    /// Its value.
    pub fn value(&self, limits: Limits) -> Value {
        let unreadable = || Value::unreadable("it cannot be read");
        self.python.value(self.core, self.at, limits).unwrap_or_else(unreadable)
    }
}

/// Every CPython of the process that can be decoded.
///
/// # Errors
/// If there is none, or none can be decoded; the error gives the reason.
pub fn instances(core: &Core) -> Result<Vec<&Python>> {
    let runtimes = core.runtimes();
    let found: Vec<&Python> = runtimes.of::<Python>().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let damaged = runtimes.damaged().iter().find(|damage| damage.name == python::NAME);
    Err(DcmdError::failed(match damaged {
        Some(damage) => {
            let version = damage.version.as_deref().unwrap_or("of an unknown version");
            format!("CPython {version} cannot be decoded: {}", damage.why)
        }
        None => "no CPython in this process".to_owned(),
    }))
}

/// How much is shown, by the options `-d`, `-l` and `-N`, in decimal. The default depth is `depth`.
///
/// # Errors
/// If the option is not a number.
pub fn limits(args: &Args, depth: u64) -> Result<Limits> {
    Ok(Limits {
        depth: script_values::depth(args, depth)?,
        entries: script_values::number(args, 'l', 100)?,
        characters: script_values::number(args, 'N', 1024)?,
    })
}
