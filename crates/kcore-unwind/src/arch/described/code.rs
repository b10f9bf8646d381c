//! Calls, of functions and of the kernel, by their instructions.

use kcore_mem::{Addr, AddressSpace};

use crate::Regs;

/// How code calls functions.
#[derive(Clone, Copy)]
pub struct Calls {
    /// Whether the instruction before an address is a call that returns there.
    pub follows: fn(Addr, &dyn AddressSpace) -> bool,
    /// The function that the call before a return address calls, where the instruction says it itself.
    pub target: fn(Addr, &dyn AddressSpace) -> Option<Addr>,
    /// Whether the call that the link register tells of is proven to lead to the pc, by registers that no code has
    /// changed since. `None` where functions return by the link register: it then equals the pc after a return, so
    /// that another value is a call's.
    pub has_called: Option<fn(&Regs, &dyn AddressSpace) -> bool>,
}

/// How code calls the kernel.
#[derive(Clone, Copy, Debug)]
pub struct SystemCalls {
    /// The instructions, as their bytes lie in memory of the target; `None` is any byte.
    pub instructions: &'static [&'static [Option<u8>]],
    /// The registers that hold the number: the first that has one counts.
    pub number: &'static [&'static str],
    /// Whether the last byte of the instruction is the number, unless it is 0.
    pub number_in_code: bool,
    /// The lowest number of a call. Below it, the register holds something else, such as what a call returned.
    pub lowest: u64,
}

/// A system call's instruction in the code.
#[derive(Clone, Copy, Debug)]
pub struct SystemCall {
    /// Its last byte.
    pub last: u8,
    /// Where it returns to.
    pub end: Addr,
}

impl SystemCalls {
    /// The instruction right before `pc`, or at `pc`, where a kernel sets it back to call again.
    pub fn at(&self, pc: Addr, space: &dyn AddressSpace) -> Option<SystemCall> {
        let before = self.instructions.iter().find_map(|code| {
            let start = pc.wrapping_offset((code.len() as i64).wrapping_neg());
            matches(code, start, space)
        });
        before.or_else(|| self.starting_at(pc, space))
    }

    /// The instruction at `pc`.
    pub fn starting_at(&self, pc: Addr, space: &dyn AddressSpace) -> Option<SystemCall> {
        self.instructions.iter().find_map(|code| matches(code, pc, space))
    }

    /// The number of a call, by the values of registers.
    pub fn number(
        &self,
        call: SystemCall,
        value: &dyn Fn(&str) -> Option<u64>,
        _space: &dyn AddressSpace,
    ) -> Option<u64> {
        if self.number_in_code && call.last != 0 {
            return Some(u64::from(call.last));
        }
        self.number.iter().find_map(|name| value(name)).filter(|number| *number >= self.lowest)
    }
}

fn matches(code: &[Option<u8>], at: Addr, space: &dyn AddressSpace) -> Option<SystemCall> {
    let mut bytes = [0; 8];
    let bytes = bytes.get_mut(..code.len())?;
    space.read(at, bytes).ok()?;
    let is_it = code.iter().zip(&*bytes).all(|(wanted, byte)| wanted.is_none_or(|it| it == *byte));
    let end = at.checked_add(code.len() as u64)?;
    is_it.then_some(SystemCall { last: *bytes.last()?, end })
}

/// The instruction of four bytes at a distance from `at`, in the byte order of the target.
pub fn word_at(at: Addr, by: i64, space: &dyn AddressSpace) -> Option<u32> {
    u32::try_from(space.read_uint(at.wrapping_offset(by), 4).ok()?).ok()
}
