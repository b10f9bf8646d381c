//! Which mappings belong into a core: `/proc/PID/coredump_filter` (core(5)), and what the process
//! itself wants left out.
//!
//! The rules are those of Linux `fs/coredump.c`, `vma_dump_size`.

use kcore_mem::AddrRange;

use crate::proc::MapDetails;

/// Bytes that are kept of a file of which nothing else is wanted: where its ELF header lies.
const HEADER: u64 = 4096;
const PF_R: u32 = 4;

const ANONYMOUS_PRIVATE: u32 = 0;
const ANONYMOUS_SHARED: u32 = 1;
const FILE_PRIVATE: u32 = 2;
const FILE_SHARED: u32 = 3;
const ELF_HEADERS: u32 = 4;
const HUGE_PRIVATE: u32 = 5;
const HUGE_SHARED: u32 = 6;

/// Which mappings belong into a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreFilter {
    /// Those of the classes whose bits are set, without what the process wants left out
    /// (`MADV_DONTDUMP`).
    Classes(u64),
    /// All that can be read.
    Everything,
}

impl CoreFilter {
    /// What the system has when nobody changed it.
    const DEFAULT: Self = Self::Classes(0x33);

    /// Reads `/proc/PID/coredump_filter`.
    pub fn parse(text: &[u8]) -> Self {
        let digits = std::str::from_utf8(text).ok().map(str::trim);
        let bits = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        bits.map_or(Self::DEFAULT, Self::Classes)
    }

    /// The part of a mapping that is wanted; empty when it is left out.
    pub(super) fn wanted(self, map: &MapDetails) -> AddrRange {
        let all = map.line.range;
        let nothing = AddrRange::with_len(all.start, 0);
        // Memory of devices is not memory, and reading it may do something; the page of old system calls
        // is the kernel's own.
        if map.has("io") || map.has("pf") || map.line.name == b"[vsyscall]" {
            return nothing;
        }
        let bits = match self {
            Self::Everything => return all,
            Self::Classes(bits) => bits,
        };
        let has = |class: u32| bits & 1_u64.wrapping_shl(class) != 0;
        match class_of(map) {
            _ if map.line.name == b"[vdso]" => all,
            _ if map.has("dd") => nothing,
            Some(class) if has(class) => all,
            Some(FILE_PRIVATE) if map.touched && has(ANONYMOUS_PRIVATE) => all,
            Some(FILE_PRIVATE) if has(ELF_HEADERS) && may_begin_a_file(map) => {
                AddrRange::with_len(all.start, all.len().min(HEADER))
            }
            _ => nothing,
        }
    }
}

/// The bit of a mapping's class; `None` for memory that nobody can read and nobody ever wrote to, as
/// which programs set addresses aside.
fn class_of(map: &MapDetails) -> Option<u32> {
    let line = &map.line;
    let is_nameless = line.inode == 0 || line.name.ends_with(b" (deleted)");
    match (map.has("ht"), line.shared) {
        (true, true) => Some(HUGE_SHARED),
        (true, false) => Some(HUGE_PRIVATE),
        (false, true) if is_nameless => Some(ANONYMOUS_SHARED),
        (false, true) => Some(FILE_SHARED),
        (false, false) if line.inode != 0 => Some(FILE_PRIVATE),
        (false, false) => (map.touched || line.flags & PF_R != 0).then_some(ANONYMOUS_PRIVATE),
    }
}

fn may_begin_a_file(map: &MapDetails) -> bool {
    map.line.offset.get() == 0 && map.line.flags & PF_R != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(filter: CoreFilter, line: &str, more: &str) -> u64 {
        let maps = MapDetails::parse(format!("{line}\n{more}\n").as_bytes());
        filter.wanted(&maps[0]).len()
    }

    #[test]
    fn the_default_keeps_own_memory_and_the_beginnings_of_files() {
        let filter = CoreFilter::parse(b"00000033\n");
        let kept = |line, more| kept(filter, line, more);
        assert_eq!(kept("10000-20000 rw-p 0 0:0 0 [heap]", "Anonymous: 4 kB"), 0x10000);
        assert_eq!(kept("10000-20000 rw-s 0 0:1 9 /dev/zero (deleted)", ""), 0x10000);
        assert_eq!(kept("10000-20000 r--p 0 fe:1 9 /lib/a.so", ""), 0x1000);
        assert_eq!(kept("10000-20000 r-xp 1000 fe:1 9 /lib/a.so", ""), 0);
        assert_eq!(kept("10000-20000 rw-p 1000 fe:1 9 /lib/a.so", "Anonymous: 8 kB"), 0x10000);
        assert_eq!(kept("10000-20000 rw-s 0 fe:1 9 /data", ""), 0);
        assert_eq!(kept("10000-20000 ---p 0 0:0 0", "Anonymous: 0 kB"), 0);
    }

    #[test]
    fn what_the_process_wants_left_out_is() {
        let secret = ("10000-20000 rw-p 0 0:0 0", "Anonymous: 4 kB\nVmFlags: rd wr dd");
        let device = ("10000-20000 rw-s 0 0:5 7 /dev/x", "VmFlags: rd io");
        assert_eq!(kept(CoreFilter::DEFAULT, secret.0, secret.1), 0);
        assert_eq!(kept(CoreFilter::Everything, secret.0, secret.1), 0x10000);
        assert_eq!(kept(CoreFilter::Everything, device.0, device.1), 0);
    }
}
