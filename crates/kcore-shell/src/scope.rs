//! What expressions of a session refer to: dot, variables, registers, symbols, memory.

use kcore::{Addr, Fault, LookupError};
use kcore_dcmd::{DcmdError, Result};

use crate::eval::Scope;
use crate::session::Session;

impl Scope for Session {
    fn dot(&self) -> u64 {
        self.dot.number()
    }

    fn increment(&self) -> u64 {
        self.increment
    }

    fn last_dot(&self) -> u64 {
        self.last_dot.number()
    }

    fn radix(&self) -> u32 {
        self.radix
    }

    fn symbol(&self, object: Option<&str>, name: &str) -> Result<u64, LookupError> {
        self.core.lookup_symbol_in(self.thread, object, name).map(Addr::get)
    }

    /// Variables and registers share one name space.
    fn variable(&self, name: &str) -> Result<u64> {
        match name {
            "." => Ok(self.dot.number()),
            "thread" => self.thread_id(),
            _ => self.variables.get(name).map_or_else(|| self.register(name), Ok),
        }
    }

    fn read(&self, at: Addr, size: Option<u8>) -> Result<u64, Fault> {
        let space = self.core.space();
        match size {
            Some(size) => space.read_uint(at, size.into()),
            None => space.read_word(at),
        }
    }
}

impl Session {
    fn thread_id(&self) -> Result<u64> {
        let tid = self.thread.ok_or_else(|| DcmdError::failed("no process active"))?;
        Ok(tid.get().into())
    }

    /// The value of a register of the current frame of the current thread.
    fn register(&self, name: &str) -> Result<u64> {
        let undefined = || DcmdError::failed(format!("variable '{name}' is not defined"));
        let tid = self.thread.ok_or_else(undefined)?;
        let value = self.core.register(tid, self.frame, name).map_err(|_| undefined())?;
        value.ok_or_else(|| {
            let frame = self.frame;
            DcmdError::failed(format!(
                "register '{name}' was not saved: its value in frame {frame} of thread {tid} is lost"
            ))
        })
    }

    /// Whether `name` is that of a register, which cannot be a variable too.
    pub(crate) fn is_register(&self, name: &str) -> bool {
        self.thread.is_some_and(|tid| self.core.register(tid, self.frame, name).is_ok())
    }
}
