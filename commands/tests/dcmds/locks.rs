//! Locks of C++ that threads hold and wait for.

use crate::harness::{Opened, hex, open};

/// A member of a lock as it is printed.
fn member(core: &Opened, lock: &str, name: &str) -> Option<u64> {
    let printed = core.one(&format!("::print {lock}"));
    let members = printed["value"]["children"].as_array().expect("a lock has members");
    let found = members.iter().find(|member| member["name"] == name);
    found.map(|member| member["value"].as_u64().expect("a number"))
}

/// In a lock of glibc that a writer holds the readers that wait are counted among the readers.
#[test]
fn those_that_wait_for_a_writer_read_nothing() {
    for variant in ["O0-pie", "O2-clang-pie"] {
        let core = open("shared-mutex", variant);
        let of = |lock, name| member(&core, lock, name);
        let writer = hex(&core.one("g_writer/K")["value"]);
        for (lock, readers, owner, waiting) in [
            ("g_free", 0, 0, None),
            ("g_read", 2, 0, None),
            ("g_wanted", 1, 0, None),
            ("g_written", 0, writer, Some(3)),
            ("g_released", 0, 0, None),
        ] {
            assert_eq!(of(lock, "readers"), Some(readers), "{variant} {lock}");
            assert_eq!(of(lock, "owner"), Some(owner), "{variant} {lock}");
            assert_eq!(of(lock, "waiting_readers"), waiting, "{variant} {lock}");
        }
    }
}
