//! The registers of `NT_PRSTATUS`, as the kernel lays them out.

use kcore_mem::{Cursor, Endian, Target};

use crate::UserRegister;

/// What `pr_reg` holds: runs of registers of one width each. A register without a name is not shown.
#[derive(Clone, Copy, Debug)]
pub struct Layout(pub &'static [(usize, &'static [&'static str])]);

impl Layout {
    /// The registers in their order, as far as `bytes` reach.
    pub fn read(&self, bytes: &[u8], target: Target) -> Vec<UserRegister> {
        let mut cursor = Cursor::new(bytes, target);
        let mut read = Vec::new();
        for (width, name) in self.slots() {
            let Ok(value) = cursor.uint(width) else { break };
            if !name.is_empty() {
                read.push(UserRegister { name, value });
            }
        }
        read
    }

    /// The bytes of the registers: what is not known is 0.
    pub fn write(&self, value: &dyn Fn(&str) -> Option<u64>, target: Target) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (width, name) in self.slots() {
            let value = value(name).unwrap_or(0).to_le_bytes();
            let value = value.get(..width).unwrap_or_default();
            match target.endian {
                Endian::Little => bytes.extend_from_slice(value),
                Endian::Big => bytes.extend(value.iter().rev()),
            }
        }
        bytes
    }

    fn slots(&self) -> impl Iterator<Item = (usize, &'static str)> {
        self.0.iter().flat_map(|(width, names)| names.iter().map(|name| (*width, *name)))
    }
}
