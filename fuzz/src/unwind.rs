//! The unwinder on memory and registers that may be anything.

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, Target};
use kcore_unwind::{Cfi, Flow, Modules, RegisterId, Regs, Walker, machine};

use crate::{input::Input, memory::Memory};

/// Where the code begins.
pub const TEXT: u64 = 0x40_0000;
/// Registers that a walk starts from: the general ones of aarch64, which has more than x86-64.
const REGISTERS: u16 = 32;
/// Frames of one walk.
const FRAMES: usize = 4096;
/// Bytes between the functions that have a symbol.
const FUNCTION: u64 = 0x40;

/// Unwind information, then memory, then registers.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let cfi = crate::cfi::read(&mut input);
    let flags = input.byte();
    let arch = if flags & 2 == 0 { Arch::X86_64 } else { Arch::Aarch64 };
    let with_cfi = flags & 1 == 1;
    let process = Process::new(Memory::read(&mut input), with_cfi.then_some(cfi));
    let regs = registers(&mut input);
    process.walk(arch, &regs, FRAMES);
}

/// The program counter, then the general registers; 0 is an unknown one.
pub fn registers(input: &mut Input<'_>) -> Regs {
    let mut regs = Regs::new(Addr::new(input.word()));
    for register in 0..REGISTERS {
        regs.set(RegisterId(register), Some(input.word()).filter(|value| *value != 0));
    }
    regs
}

/// Memory, of which the part at [`TEXT`] is code.
pub struct Process {
    memory: Memory,
    cfi: Option<Cfi>,
}

impl Process {
    /// A process of this memory and unwind information.
    pub const fn new(memory: Memory, cfi: Option<Cfi>) -> Self {
        Self { memory, cfi }
    }

    /// Walks the stack, and holds the walk to its bounds.
    pub fn walk(&self, arch: Arch, regs: &Regs, limit: usize) {
        let target = Target { arch, ..Target::X86_64 };
        let Some(machine) = machine(target, None) else { return };
        let mut frames = 0;
        let mut walker = Walker::new(&self.memory, self, &*machine);
        walker.walk(regs, limit, &mut |_, _| {
            frames += 1;
            Flow::Continue
        });
        assert!(frames <= limit, "{frames} frames");
        // Code is followed for what a call leaves as well: that ends.
        let caller = self.function_before(regs.pc());
        let _switch = machine.switch_before(regs.pc(), caller, &self.memory);
    }
}

impl Modules for Process {
    fn cfi_at(&self, at: Addr) -> Option<&Cfi> {
        self.is_code(at).then_some(self.cfi.as_ref()).flatten()
    }

    fn is_code(&self, at: Addr) -> bool {
        at.get() >> 20 == TEXT >> 20 && self.memory.slice(at).is_ok()
    }

    fn is_in_module(&self, at: Addr) -> bool {
        self.is_code(at)
    }

    fn function_before(&self, at: Addr) -> Option<AddrRange> {
        let start = Addr::new(at.get() & !(FUNCTION - 1));
        self.is_code(start).then(|| AddrRange::with_len(start, FUNCTION))
    }

    fn is_entry(&self, at: Addr) -> bool {
        AddrRange::with_len(Addr::new(TEXT), FUNCTION).contains(at)
    }

    fn is_first_on_stack(&self, at: Addr) -> bool {
        AddrRange::with_len(Addr::new(TEXT.saturating_add(FUNCTION)), FUNCTION).contains(at)
    }
}
