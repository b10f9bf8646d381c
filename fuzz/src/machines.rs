//! The unwinder on memory and registers of machines that are told by descriptions, with an exception table as 32-bit
//! Arm has one.

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, Endian, Fault, Origin, Region, Target};
use kcore_unwind::{Cfi, Flow, Modules, Walker, machine};

use crate::{
    input::Input,
    memory::Memory,
    unwind::{TEXT, registers},
};

/// Where the exception table begins, and its bytes.
pub const TABLE: u64 = TEXT + 0x8000;
const TABLE_SIZE: u64 = 64;
/// Frames of one walk.
const FRAMES: usize = 4096;
/// Bytes between the functions that have a symbol.
const FUNCTION: u64 = 0x40;

/// The machines by the number that the first byte of an input has.
pub const MACHINES: [(Arch, u8, Endian); 14] = [
    (Arch::Arm, 4, Endian::Little),
    (Arch::I386, 4, Endian::Little),
    (Arch::Riscv64, 8, Endian::Little),
    (Arch::Riscv32, 4, Endian::Little),
    (Arch::PowerPc64, 8, Endian::Little),
    (Arch::PowerPc64, 8, Endian::Big),
    (Arch::PowerPc, 4, Endian::Big),
    (Arch::S390x, 8, Endian::Big),
    (Arch::Mips, 4, Endian::Big),
    (Arch::Mips64, 8, Endian::Little),
    (Arch::LoongArch64, 8, Endian::Little),
    (Arch::Sparc64, 8, Endian::Big),
    (Arch::M68k, 4, Endian::Big),
    (Arch::Alpha, 8, Endian::Little),
];

/// A machine, memory, then registers.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (arch, word, endian) = MACHINES[usize::from(input.byte()) % MACHINES.len()];
    let target = Target { arch, word, endian };
    let process = Process { memory: Memory::read(&mut input), target };
    let regs = registers(&mut input);
    let Some(machine) = machine(target, None) else { return };
    let mut frames = 0;
    Walker::new(&process, &process, &*machine).walk(&regs, FRAMES, &mut |_, _| {
        frames += 1;
        Flow::Continue
    });
    assert!(frames <= FRAMES, "{frames} frames");
    let bytes = machine.pr_reg(&regs, None, None);
    let _context = machine.saved_context(regs.pc(), &process);
    assert!(machine.regs(&bytes, target).is_some());
}

/// Memory of a machine, of which the part at [`TEXT`] is code.
struct Process {
    memory: Memory,
    target: Target,
}

impl AddressSpace for Process {
    fn target(&self) -> Target {
        self.target
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        self.memory.slice(at)
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.memory.origin(at)
    }

    fn regions(&self) -> Vec<Region> {
        self.memory.regions()
    }
}

impl Modules for Process {
    fn cfi_at(&self, _at: Addr) -> Option<&Cfi> {
        None
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

    fn exception_table(&self, _at: Addr) -> Option<AddrRange> {
        Some(AddrRange::with_len(Addr::new(TABLE), TABLE_SIZE))
    }

    fn is_entry(&self, at: Addr) -> bool {
        AddrRange::with_len(Addr::new(TEXT), FUNCTION).contains(at)
    }

    fn is_first_on_stack(&self, _at: Addr) -> bool {
        false
    }
}
