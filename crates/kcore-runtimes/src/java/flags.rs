//! Options of the virtual machine, with the values that it uses (`src/hotspot/share/runtime/flags/jvmFlag.hpp`, JDK 11 to
//! 25).

use kcore_mem::{Addr, AddressSpace};
use rustc_hash::FxHashMap;

use super::{memory::Memory, vm_structs::VmStructs};

/// Options, at most: JDK 25 has 1,300 in builds for debugging.
const MAX_FLAGS: u64 = 4096;
/// Bytes of a name, at most.
const MAX_NAME: usize = 128;

/// Where the value of each option lies.
#[derive(Clone, Debug, Default)]
pub struct Flags(FxHashMap<String, Addr>);

impl Flags {
    /// Those that the tables of a virtual machine lead to.
    pub fn read(tables: &VmStructs, space: &dyn AddressSpace) -> Self {
        Self::all(tables, space).unwrap_or_default()
    }

    fn all(tables: &VmStructs, space: &dyn AddressSpace) -> Option<Self> {
        let memory = Memory(space);
        let first = memory.pointer(tables.variable("JVMFlag.flags")?, 0)?;
        let count = memory.uint(tables.variable("JVMFlag.numFlags")?, 0, 8)?;
        let (name, value) = (tables.offset("JVMFlag._name")?, tables.offset("JVMFlag._addr")?);
        let size = tables.size("JVMFlag")?;
        let mut flags = FxHashMap::default();
        for index in 0..count.min(MAX_FLAGS) {
            let flag = first.checked_add(index.checked_mul(size)?)?;
            // The last one has no name.
            let Some(name) = memory.pointer(flag, name) else { continue };
            let name = space.read_cstr(name, MAX_NAME).ok();
            let name = name.and_then(|name| String::from_utf8(name).ok());
            flags.extend(name.zip(memory.pointer(flag, value)));
        }
        Some(Self(flags))
    }

    /// Whether an option is on; `None` of one that this version has not.
    pub fn is_on(&self, space: &dyn AddressSpace, name: &str) -> Option<bool> {
        Memory(space).uint(*self.0.get(name)?, 0, 1).map(|value| value != 0)
    }

    /// The value of an option that is a number of 64 bits.
    pub fn number(&self, space: &dyn AddressSpace, name: &str) -> Option<u64> {
        Memory(space).uint(*self.0.get(name)?, 0, 8)
    }
}
