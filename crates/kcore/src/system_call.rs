//! Names of system calls.

use kcore_mem::Arch;

use crate::arch::of_arch;

/// The name of a system call of a machine.
pub fn name(arch: Arch, number: u64) -> Option<&'static str> {
    of_arch(arch).system_call(number)
}

/// The number that a machine has for a system call.
pub fn number(arch: Arch, name: &str) -> Option<u64> {
    /// Above all numbers that there are (Linux 6.17 has 470).
    const END: u64 = 1024;
    (0..END).find(|number| self::name(arch, *number) == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_number_of_its_own_on_each_machine() {
        assert_eq!(
            (number(Arch::X86_64, "close"), number(Arch::Aarch64, "close")),
            (Some(3), Some(57))
        );
        assert_eq!(number(Arch::Aarch64, "open"), None);
        assert_eq!(name(Arch::X86_64, 231), Some("exit_group"));
    }
}
