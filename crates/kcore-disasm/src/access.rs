//! The memory that an instruction touches, and which touch explains a fault.

use kcore_mem::{Access, AccessKind, Addr};

use crate::Disassembler;

impl Disassembler {
    /// The accesses of the instruction at `addr`, its own fetch last. `reg` gives registers by the
    /// names of gdb in 64 bits (`rax`, `fsbase`; `x0`, `sp`) as they were before the instruction;
    /// an access whose address needs one that is unknown is left out.
    pub fn memory_accesses(
        &self,
        addr: Addr,
        bytes: &[u8],
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<Access> {
        let Some(decoded) = self.decode_one(addr, bytes) else { return Vec::new() };
        let mut accesses = self.data_accesses(addr, bytes, reg);
        let size = decoded.len() as u64;
        accesses.push(Access { addr, size, kind: AccessKind::Execute });
        accesses
    }

    /// What the instruction at `addr` was doing when it faulted at `fault`: the access that touches
    /// that address. `None` for `fault` when it is not known, as on x86-64 after an access to a
    /// non-canonical address: then the access to such an address, or the only one to data.
    pub fn explain_fault(
        &self,
        addr: Addr,
        bytes: &[u8],
        reg: &dyn Fn(&str) -> Option<u64>,
        fault: Option<Addr>,
    ) -> Option<AccessKind> {
        let accesses = self.memory_accesses(addr, bytes, reg);
        let found = match fault {
            Some(fault) => accesses.iter().find(|access| access.touches(fault)),
            None => unknown_fault(&accesses),
        };
        found.map(|access| access.kind)
    }
}

fn unknown_fault(accesses: &[Access]) -> Option<&Access> {
    let mut data = accesses.iter().filter(|access| access.kind != AccessKind::Execute);
    let strange = data.clone().find(|access| access.is_non_canonical());
    strange.or_else(|| data.next().filter(|_| data.next().is_none()))
}
