//! Names of system calls, by architecture.

mod x86_64;

use kcore_mem::Arch;

/// The name of system call `number`.
pub fn name(arch: Arch, number: u64) -> Option<&'static str> {
    let names = match arch {
        Arch::X86_64 => x86_64::NAMES,
        _ => return None,
    };
    let index = names.binary_search_by_key(&number, |(number, _)| *number).ok()?;
    names.get(index).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_which_threads_wait_have_their_names() {
        assert_eq!(name(Arch::X86_64, 202), Some("futex"));
        assert_eq!(name(Arch::X86_64, 232), Some("epoll_wait"));
        assert_eq!(name(Arch::X86_64, 0), Some("read"));
        assert_eq!(name(Arch::X86_64, 100_000), None);
    }

    #[test]
    fn tables_are_sorted_for_the_search() {
        assert!(x86_64::NAMES.is_sorted_by(|(a, _), (b, _)| a < b));
    }
}
