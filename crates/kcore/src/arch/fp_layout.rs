//! What `NT_FPREGSET` holds, `elf_fpregset_t` of each machine (Linux `arch/*/include/uapi/asm/{ptrace,elf}.h`): runs of
//! registers, which have no other format than their width.

use kcore_mem::{Arch, Cursor, Target};

/// A floating-point register of a machine whose registers are told by a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainFpRegister {
    /// Its name, such as `f0`.
    pub name: String,
    /// Its bytes, lowest first, whatever the byte order of the machine.
    pub bytes: Vec<u8>,
    /// Whether it holds a number, of 64 bits or in the extended format of m68k; else flags.
    pub is_number: bool,
}

/// Registers in a row: how many, their names, bytes in each.
struct Run {
    count: u16,
    name: &'static str,
    size: usize,
    is_number: bool,
}

const fn numbers(count: u16, name: &'static str, size: usize) -> Run {
    Run { count, name, size, is_number: true }
}

const fn flags(name: &'static str, size: usize) -> Run {
    Run { count: 1, name, size, is_number: false }
}

/// Bytes between registers.
const fn padding(size: usize) -> Run {
    Run { count: 1, name: "", size, is_number: false }
}

const fn layout(arch: Arch) -> &'static [Run] {
    match arch {
        // `struct user_vfp` of `NT_ARM_VFP`.
        Arch::Arm => const { &[numbers(32, "d", 8), flags("fpscr", 4)] },
        Arch::PowerPc | Arch::PowerPc64 => const { &[numbers(32, "f", 8), flags("fpscr", 8)] },
        Arch::S390 | Arch::S390x => const { &[flags("fpc", 4), padding(4), numbers(16, "f", 8)] },
        Arch::Mips | Arch::Mips64 => {
            const { &[numbers(32, "f", 8), flags("fcsr", 4), flags("fir", 4)] }
        }
        Arch::Riscv64 | Arch::Riscv32 => const { &[numbers(32, "f", 8), flags("fcsr", 4)] },
        Arch::LoongArch64 => const { &[numbers(32, "f", 8), flags("fcc", 8), flags("fcsr", 4)] },
        Arch::Sparc64 => const { &[numbers(32, "d", 8), flags("fsr", 8), flags("gsr", 8)] },
        Arch::Alpha => const { &[numbers(31, "f", 8), flags("fpcr", 8)] },
        Arch::M68k => {
            const { &[numbers(8, "fp", 12), flags("fpcr", 4), flags("fpsr", 4), flags("fpiar", 4)] }
        }
        Arch::Hppa => const { &[flags("fr0", 8), padding(24), numbers(28, "fr", 8)] },
        _ => &[],
    }
}

/// The number of the first register of a run, for its name.
const fn first(arch: Arch, run: &Run) -> u16 {
    match arch {
        Arch::Hppa if run.count > 1 => 4,
        _ => 0,
    }
}

/// The registers in `bytes`, as far as these reach; `None` where nothing is known of the machine, or none is there
/// whole.
pub fn read(bytes: &[u8], target: Target) -> Option<Vec<PlainFpRegister>> {
    let mut cursor = Cursor::new(bytes, target);
    let mut found = Vec::new();
    for run in layout(target.arch) {
        for index in 0..run.count {
            let Ok(raw) = cursor.bytes(run.size) else {
                return Some(found).filter(|it| !it.is_empty());
            };
            let name = match run.count {
                1 => run.name.to_owned(),
                _ => format!("{}{}", run.name, index.saturating_add(first(target.arch, run))),
            };
            let bytes = match target.endian {
                kcore_mem::Endian::Little => raw.to_vec(),
                kcore_mem::Endian::Big => raw.iter().rev().copied().collect(),
            };
            if !name.is_empty() {
                found.push(PlainFpRegister { name, bytes, is_number: run.is_number });
            }
        }
    }
    Some(found).filter(|it| !it.is_empty())
}

impl PlainFpRegister {
    /// The number that 64 bits hold.
    pub fn number(&self) -> Option<f64> {
        let bytes = <[u8; 8]>::try_from(self.bytes.as_slice()).ok().filter(|_| self.is_number)?;
        Some(f64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Endian;

    use super::*;

    fn target(arch: Arch, word: u8, endian: Endian) -> Target {
        Target { arch, word, endian }
    }

    #[test]
    fn registers_are_read_in_the_order_of_each_machine() {
        let big = target(Arch::S390x, 8, Endian::Big);
        let mut bytes = vec![0, 8, 0, 0, 0, 0, 0, 0];
        bytes.extend((0..16).flat_map(|n: u8| f64::from(n).to_be_bytes()));
        let read = read(&bytes, big).unwrap();
        assert_eq!((read.len(), &*read[0].name, read[0].number()), (17, "fpc", None));
        assert_eq!((&*read[16].name, read[16].number()), ("f15", Some(15.0)));
        assert_eq!(read[0].bytes, [0, 0, 8, 0], "lowest first");
    }

    #[test]
    fn what_is_cut_has_the_registers_before() {
        let ppc = target(Arch::PowerPc64, 8, Endian::Little);
        let bytes: Vec<u8> = (0..33).flat_map(|n: u8| f64::from(n).to_le_bytes()).collect();
        let whole = read(&bytes, ppc).unwrap();
        assert_eq!((whole.len(), &*whole[32].name), (33, "fpscr"));
        assert_eq!(read(&bytes[..20], ppc).unwrap().len(), 2);
        assert_eq!(read(&bytes[..7], ppc), None);
        assert_eq!(read(&bytes, target(Arch::Other(1), 8, Endian::Little)), None);
    }

    #[test]
    fn wide_numbers_have_no_double() {
        let m68k = target(Arch::M68k, 4, Endian::Big);
        let read = read(&[0; 108], m68k).unwrap();
        assert_eq!((read.len(), read[7].name.as_str(), read[7].bytes.len()), (11, "fp7", 12));
        assert_eq!(read[7].number(), None);
        let hppa = super::read(&[0; 256], target(Arch::Hppa, 4, Endian::Big)).unwrap();
        assert_eq!((&*hppa[1].name, &*hppa[28].name), ("fr4", "fr31"));
    }
}
