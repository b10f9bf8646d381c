//! Numbers of signals. Most architectures share them; MIPS, SPARC, Alpha and PA-RISC have their own for some (Linux
//! `arch/*/include/uapi/asm/signal.h`), which are told by the shared ones here, so that one number means one signal.

use kcore_mem::Arch;

/// SIGEMT, which no architecture of the shared numbers has. No signal has this number.
pub const SIGEMT: u16 = 135;

/// Shared numbers by those of MIPS, from 0 on.
const MIPS: [u16; 32] = [
    0, 1, 2, 3, 4, 5, 6, SIGEMT, 8, 9, 7, 11, 31, 13, 14, 15, 10, 12, 17, 30, 28, 23, 29, 19, 20,
    18, 21, 22, 26, 27, 24, 25,
];

/// Shared numbers by those of SPARC and Alpha, from 0 on.
const SPARC: [u16; 32] = [
    0, 1, 2, 3, 4, 5, 6, SIGEMT, 8, 9, 7, 11, 31, 13, 14, 15, 23, 19, 20, 18, 17, 21, 22, 29, 24,
    25, 26, 27, 28, 30, 10, 12,
];

/// Shared numbers by those of PA-RISC, from 0 on.
const HPPA: [u16; 32] = [
    0, 1, 2, 3, 4, 5, 6, 16, 8, 9, 7, 11, 24, 13, 14, 15, 10, 12, 17, 30, 26, 27, 29, 28, 19, 20,
    18, 21, 22, 23, 25, 31,
];

/// The shared number of a signal that an architecture numbers so.
pub fn shared_number(arch: Arch, number: u16) -> u16 {
    let table = match arch {
        Arch::Mips | Arch::Mips64 => &MIPS,
        Arch::Sparc64 | Arch::Alpha => &SPARC,
        Arch::Hppa => &HPPA,
        _ => return number,
    };
    table.get(usize::from(number)).copied().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_means_one_signal() {
        for table in [MIPS, SPARC, HPPA] {
            let mut sorted = table.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 32, "{table:?}");
        }
    }

    #[test]
    fn bus_errors_and_users_signals_have_their_shared_numbers() {
        for arch in [Arch::Mips, Arch::Sparc64, Arch::Hppa] {
            assert_eq!(shared_number(arch, 10), 7, "SIGBUS of {arch}");
        }
        assert_eq!((shared_number(Arch::Mips, 16), shared_number(Arch::Sparc64, 30)), (10, 10));
        assert_eq!((shared_number(Arch::Hppa, 16), shared_number(Arch::Arm, 10)), (10, 10));
        assert_eq!(shared_number(Arch::Mips, 34), 34, "real-time signals are the same");
    }
}
