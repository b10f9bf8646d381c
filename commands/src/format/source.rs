//! Where format letters take their bytes from: memory, or the value itself.

use kcore::{Addr, AddressSpace, Endian, Fault, Origin, Region, Target};
use kcore_dcmd::{DcmdError, Result};

use super::number;

/// Longest string that is read.
const MAX_STRING: usize = 1 << 20;

/// Where bytes come from.
pub enum Source<'a> {
    /// An address space, at dot.
    Memory(&'a dyn AddressSpace),
    /// Dot itself.
    Value(Target),
}

impl Source<'_> {
    /// Whether dot is itself what is shown; then it does not move.
    pub const fn is_value(&self) -> bool {
        matches!(self, Self::Value(_))
    }

    /// An unsigned integer of `size` bytes.
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn integer(&self, dot: u64, size: usize) -> Result<u64> {
        match self {
            Self::Memory(space) => space.read_uint(Addr::new(dot), size).map_err(failure),
            Self::Value(_) => Ok(number::truncated(dot, size)),
        }
    }

    /// The bytes up to a NUL.
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn string(&self, dot: u64) -> Result<Vec<u8>> {
        self.with_space(dot, |space, at| space.read_cstr(at, MAX_STRING).map_err(failure))
    }

    /// Calls `read` with the space that holds the bytes, and where they begin.
    pub fn with_space<T>(&self, dot: u64, read: impl FnOnce(&dyn AddressSpace, Addr) -> T) -> T {
        match self {
            Self::Memory(space) => read(*space, Addr::new(dot)),
            Self::Value(target) => read(&ValueSpace::new(dot, *target), Addr::new(0)),
        }
    }
}

/// The error of a failed read.
pub fn failure(fault: Fault) -> DcmdError {
    DcmdError::at(fault.addr(), format!("failed to read data from target: {fault}"))
}

/// The bytes of a value at address 0, and zeros behind them.
struct ValueSpace {
    target: Target,
    bytes: [u8; 32],
}

impl ValueSpace {
    fn new(value: u64, target: Target) -> Self {
        let value = match target.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        };
        let mut bytes = [0; 32];
        for (to, from) in bytes.iter_mut().zip(value) {
            *to = from;
        }
        Self { target, bytes }
    }
}

impl AddressSpace for ValueSpace {
    fn target(&self) -> Target {
        self.target
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let bytes = usize::try_from(at.get()).ok().and_then(|at| self.bytes.get(at..));
        bytes.filter(|bytes| !bytes.is_empty()).ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        Err(Fault::Unmapped(at))
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}
