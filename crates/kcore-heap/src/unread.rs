//! Allocators that are there and that kcore does not read: it says so, rather than to tell of other heaps alone.

use crate::{Allocator, Detected, HeapHost, Refused};

/// All of them.
pub(crate) const ALLOCATOR: Allocator = Allocator { name: "unread", detect };

/// An allocator, and functions that every build of it exports.
struct Sign {
    allocator: &'static str,
    functions: &'static [&'static str],
}

/// Signs of them: of GCC 12 and LLVM 19 (sanitizers, Scudo), and the collector of Boehm, 8.2.
const SIGNS: &[Sign] = &[
    Sign { allocator: "HWAddressSanitizer", functions: &["__hwasan_init"] },
    Sign { allocator: "MemorySanitizer", functions: &["__msan_init"] },
    Sign { allocator: "ThreadSanitizer", functions: &["__tsan_init"] },
    Sign { allocator: "LeakSanitizer", functions: &["__lsan_init"] },
    Sign { allocator: "Scudo", functions: &["__scudo_print_stats"] },
    Sign { allocator: "Boehm GC", functions: &["GC_malloc", "GC_gcollect"] },
];

fn detect(host: &dyn HeapHost) -> Vec<Detected> {
    let modules = host.modules();
    let of_sign = |sign: &Sign| {
        let exports = |name: &&str| modules.iter().find(|it| it.exported(name).is_some());
        let mut holders = sign.functions.iter().map(exports);
        let module = holders.next().flatten()?;
        holders.all(|holder| holder.is_some()).then(|| {
            Err(Refused {
                allocator: sign.allocator,
                version: None,
                instance: module.name().into(),
                why: "kcore does not read its blocks".into(),
                ranges: Vec::new(),
            })
        })
    };
    SIGNS.iter().filter_map(of_sign).collect()
}

#[cfg(test)]
mod tests {
    use kcore_mem::{Addr, AddrRange};

    use super::*;
    use crate::{HeapMapping, HeapModule, testing::Made};

    struct Exporting(Made, Module);

    struct Module(&'static [&'static str]);

    impl HeapModule for Module {
        fn name(&self) -> &str {
            "lib.so"
        }

        fn span(&self) -> AddrRange {
            AddrRange::with_len(Addr::new(0x1000), 0x1000)
        }

        fn data(&self) -> Vec<AddrRange> {
            Vec::new()
        }

        fn constants(&self) -> Vec<AddrRange> {
            Vec::new()
        }

        fn exported(&self, name: &str) -> Option<(Addr, u64)> {
            self.0.contains(&name).then_some((Addr::new(0x1000), 8))
        }

        fn symbol(&self, name: &str) -> Option<(Addr, u64)> {
            self.exported(name)
        }
    }

    impl HeapHost for Exporting {
        fn space(&self) -> &dyn kcore_mem::AddressSpace {
            self.0.space()
        }

        fn modules(&self) -> Vec<&dyn HeapModule> {
            vec![&self.1]
        }

        fn mappings(&self) -> &[HeapMapping] {
            self.0.mappings()
        }

        fn threads(&self) -> Vec<kcore_unwind::Tid> {
            Vec::new()
        }
    }

    fn refused(functions: &'static [&'static str]) -> Vec<&'static str> {
        let made = Made::new(vec![(0x1000, vec![0; 16]), (0x2000, vec![0; 16])], 0);
        let found = detect(&Exporting(made, Module(functions)));
        found.into_iter().filter_map(|it| it.err().map(|it| it.allocator)).collect()
    }

    #[test]
    fn an_allocator_is_named_if_all_its_signs_are_there() {
        assert_eq!(refused(&["__hwasan_init"]), ["HWAddressSanitizer"]);
        assert_eq!(refused(&["GC_malloc"]), [""; 0]);
        assert_eq!(refused(&["GC_malloc", "GC_gcollect"]), ["Boehm GC"]);
        assert_eq!(refused(&["malloc"]), [""; 0]);
    }
}
