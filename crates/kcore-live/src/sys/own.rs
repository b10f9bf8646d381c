//! What the system told the process that runs this.

/// The thread that asks.
pub fn own_thread() -> i32 {
    // SAFETY: it takes no pointer.
    unsafe { libc::gettid() }
}

/// The auxiliary vector (`getauxval(3)`): what has a value other than 0, and its end. Of x86-64 without `AT_HWCAP`, for
/// which glibc has a number of its own (`sysdeps/x86/cpu-features.c`).
pub fn own_auxv() -> Vec<u8> {
    /// More kinds than Linux has (`uapi/linux/auxvec.h` and each architecture's own: up to 51).
    const KINDS: u64 = 64;
    let mut words = Vec::new();
    for kind in 1..KINDS {
        // SAFETY: it takes no pointer; a kind that there is not is 0.
        let value = unsafe { libc::getauxval(kind) };
        let is_another = cfg!(target_arch = "x86_64") && kind == libc::AT_HWCAP;
        if value != 0 && !is_another {
            words.extend([kind, value]);
        }
    }
    words.extend([0, 0]);
    words.into_iter().flat_map(u64::to_ne_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_what_the_system_has_in_its_file() {
        let words = |bytes: &[u8]| -> Vec<[u8; 16]> {
            bytes.chunks_exact(16).map(|it| it.try_into().unwrap()).collect()
        };
        let file = words(&std::fs::read("/proc/self/auxv").unwrap());
        let own = words(&own_auxv());
        assert!(own.len() > 10 && own.iter().all(|entry| file.contains(entry)), "{own:?}");
    }
}
