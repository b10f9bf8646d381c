//! Whether code leads to other code: by jumps, without a return.

use kcore_mem::{Addr, AddrRange, AddressSpace};
use rustc_hash::FxHashSet;

use crate::{
    Machine,
    follow::{Flow, Instruction, Op, Source, Window},
};

/// Instructions that are looked at, at most.
const MAX_INSTRUCTIONS: usize = 1 << 12;
/// How far a call leads, in bytes, that is no call: code finds its own address by one, or returns to where a register
/// says.
const NEAR: u64 = 64;

/// Whether code that begins at `start` is known not to come to `goal` before it returns: every path was followed, and
/// none leads there. A path that goes where the code alone does not tell may lead anywhere.
pub fn never_reaches(
    start: Addr,
    goal: AddrRange,
    machine: &dyn Machine,
    space: &dyn AddressSpace,
) -> bool {
    let mut search = Search { goal, machine, space, visited: FxHashSet::default() };
    let (mut pending, mut window) = (vec![start], Window::new());
    while let Some(from) = pending.pop() {
        match search.follow(from, &mut window, &mut pending) {
            Path::Ends => {}
            Path::MayArrive => return false,
        }
    }
    true
}

/// What came of one path.
enum Path {
    /// It returns, or goes on where another path was.
    Ends,
    /// It comes to the goal, or nobody knows where.
    MayArrive,
}

struct Search<'a> {
    goal: AddrRange,
    machine: &'a dyn Machine,
    space: &'a dyn AddressSpace,
    visited: FxHashSet<Addr>,
}

impl Search<'_> {
    /// Follows a path; where it forks, the other way is `pending`.
    fn follow(&mut self, from: Addr, window: &mut Window, pending: &mut Vec<Addr>) -> Path {
        let (mut at, mut has_pushed) = (from, false);
        loop {
            if self.goal.contains(at) || self.visited.len() >= MAX_INSTRUCTIONS {
                return Path::MayArrive;
            }
            if !self.visited.insert(at) {
                return Path::Ends;
            }
            let bytes = window.at(at, self.space);
            let Some(instruction) = self.machine.instruction(bytes, at) else {
                return Path::MayArrive;
            };
            let Some(next) = at.checked_add(u64::from(instruction.len)) else {
                return Path::MayArrive;
            };
            at = match instruction.flow {
                Flow::Next => next,
                Flow::Call(target) if target.is_none_or(|target| !is_near(target, next)) => next,
                Flow::Branch(target) => {
                    pending.push(target);
                    next
                }
                Flow::Jump(target) => target,
                Flow::Return if !has_pushed => return Path::Ends,
                _ => return Path::MayArrive,
            };
            has_pushed = self.pushes(&instruction);
        }
    }

    /// Whether an instruction puts a word on top of the stack, which a return behind it would take for its address.
    fn pushes(&self, instruction: &Instruction) -> bool {
        let sp = self.machine.stack_pointer().0;
        instruction.ops.iter().any(|op| match op {
            Op::Store(register, ..) => *register == sp,
            Op::Set(register, Source::Register(from, by)) => {
                [*register, *from] == [sp; 2] && *by < 0
            }
            _ => false,
        })
    }
}

fn is_near(target: Addr, next: Addr) -> bool {
    target.get().abs_diff(next.get()) < NEAR
}

#[cfg(test)]
mod tests {
    use kcore_mem::{Arch, Target};

    use super::*;
    use crate::{
        code_memory::{CODE, CodeMemory},
        machine,
    };

    /// Where the code looked for lies, behind the start of what is followed.
    const GOAL: u64 = 0x80;

    fn misses(arch: Arch, code: &[u8]) -> bool {
        let machine = machine(Target { arch, ..Target::X86_64 }, None).unwrap();
        let mut bytes = code.to_vec();
        bytes.resize(0x100, 0);
        let goal = AddrRange::with_len(Addr::new(CODE + GOAL), 0x20);
        never_reaches(Addr::new(CODE), goal, &*machine, &CodeMemory::new(arch, bytes))
    }

    #[test]
    fn code_that_only_returns_leads_nowhere_else() {
        // test %edi,%edi; je .+2; push %rax; call far; pop %rax; ret
        let code = [0x85, 0xff, 0x74, 0x01, 0x50, 0xe8, 0, 0, 1, 0, 0x58, 0xc3];
        assert!(misses(Arch::X86_64, &code));
        let ret = 0xd65f_03c0_u32.to_le_bytes();
        assert!(misses(Arch::Aarch64, &ret));
    }

    #[test]
    fn jumps_are_followed() {
        // jmp .+0x7e, and the same behind a branch: je .+0x7c; ret
        assert!(!misses(Arch::X86_64, &[0xeb, 0x7e]));
        assert!(!misses(Arch::X86_64, &[0x85, 0xff, 0x74, 0x7c, 0xc3]));
        // b .+0x80
        assert!(!misses(Arch::Aarch64, &0x1400_0020_u32.to_le_bytes()));
        assert!(misses(Arch::X86_64, &[0xeb, 0x02, 0, 0, 0xc3]));
    }

    #[test]
    fn what_the_code_does_not_tell_may_lead_anywhere() {
        // jmp *%rax; jmp *0(%rip); push %rax and ret; a call of the next instruction; a trap; no code
        assert!(!misses(Arch::X86_64, &[0xff, 0xe0]));
        assert!(!misses(Arch::X86_64, &[0xff, 0x25, 0, 0, 0, 0]));
        assert!(!misses(Arch::X86_64, &[0x50, 0xc3]));
        assert!(!misses(Arch::X86_64, &[0xe8, 0, 0, 0, 0, 0xc3]));
        assert!(!misses(Arch::X86_64, &[0xcc]));
        assert!(!misses(Arch::X86_64, &[0x06]));
        // A loop that is left by no way ends here.
        assert!(misses(Arch::X86_64, &[0xeb, 0xfe]));
    }
}
