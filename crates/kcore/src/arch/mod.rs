//! What depends on the architecture, beside unwinding and disassembly. Every such fact stands in
//! its folder.

mod aarch64;
mod x86_64;

use kcore_mem::Arch;

/// What is known of an architecture.
pub struct ArchFacts {
    /// Names of system calls by number, in ascending order.
    system_calls: &'static [(u64, &'static str)],
    /// What it means when SIGSEGV comes from the kernel without an address.
    pub segv_without_address: &'static str,
    /// The register that points to thread-local storage, where a note of its own holds it.
    pub thread_pointer: Option<&'static str>,
}

impl ArchFacts {
    const UNKNOWN: Self =
        Self { system_calls: &[], segv_without_address: "", thread_pointer: None };

    /// The name of system call `number`.
    pub fn system_call(&self, number: u64) -> Option<&'static str> {
        let index = self.system_calls.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.system_calls.get(index).map(|(_, name)| *name)
    }
}

/// What is known of `arch`: nothing, for one that is not supported.
pub const fn facts(arch: Arch) -> &'static ArchFacts {
    match arch {
        Arch::X86_64 => &x86_64::FACTS,
        Arch::Aarch64 => &aarch64::FACTS,
        _ => &ArchFacts::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_which_threads_wait_have_their_names() {
        let x86_64 = |number| facts(Arch::X86_64).system_call(number);
        assert_eq!((x86_64(202), x86_64(232)), (Some("futex"), Some("epoll_wait")));
        assert_eq!((x86_64(0), x86_64(100_000)), (Some("read"), None));
        let aarch64 = |number| facts(Arch::Aarch64).system_call(number);
        assert_eq!((aarch64(98), aarch64(22)), (Some("futex"), Some("epoll_pwait")));
        assert_eq!((aarch64(115), aarch64(0)), (Some("clock_nanosleep"), Some("io_setup")));
        assert_eq!(facts(Arch::Other(8)).system_call(0), None);
    }

    #[test]
    fn tables_are_sorted_for_the_search() {
        for arch in [Arch::X86_64, Arch::Aarch64] {
            assert!(facts(arch).system_calls.is_sorted_by(|(a, _), (b, _)| a < b));
        }
    }
}
