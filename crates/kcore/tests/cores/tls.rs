//! Thread-local variables, held against the addresses that their programs printed: as `tid name
//! address`, each thread for itself.

use gen_cores::{Arch, Case, Libc, Link};
use kcore::{Addr, Core, LookupError, OpenOptions, Tid, TlsError};

use crate::known::{cases, open, variant};

/// A line of what a program printed.
struct Printed {
    tid: Tid,
    name: String,
    address: Addr,
}

/// Where gdb makes the core, what it says is in the file as well.
fn printed(case: &Case) -> Vec<Printed> {
    let text = std::fs::read_to_string(case.dir.join("output.txt")).expect("what it printed");
    let printed = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let tid = Tid::new(words.next()?.parse().ok()?);
        let name = words.next()?.to_owned();
        let address = Addr::new(u64::from_str_radix(words.next()?, 16).ok()?);
        Some(Printed { tid, name, address })
    });
    printed.collect()
}

fn found(core: &Core, printed: &Printed) -> Result<Addr, LookupError> {
    let tid = printed.tid;
    match printed.name.as_str() {
        "errno" => core.tls().errno(tid),
        "pointer" => core.tls().pointer(tid).ok_or(TlsError::NoThreadPointer(tid).into()),
        name => core.tls().variable(tid, None, name),
    }
}

/// qemu notes no thread pointer, and a static program has no symbols by which glibc's list of
/// threads is read.
fn is_unknown(case: &Case) -> bool {
    let variant = variant(case);
    variant.link == Link::Static && variant.sysroot().is_none() && variant.has("aarch64")
}

fn tls_cases() -> impl Iterator<Item = &'static Case> {
    cases().iter().filter(|case| case.scenario.starts_with("tls"))
}

#[test]
fn variables_lie_where_each_thread_saw_them() {
    for case in tls_cases() {
        let core = open(case);
        let printed = printed(case);
        assert!(printed.len() >= 12, "{}", case.name());
        for printed in printed {
            let found = found(&core, &printed);
            let name = format!("{} {} {}", case.name(), printed.tid, printed.name);
            if is_unknown(case) {
                let expected = TlsError::NoThreadPointer(printed.tid);
                assert_eq!(found, Err(expected.into()), "{name}");
            } else {
                assert_eq!(found, Ok(printed.address), "{name}");
            }
        }
    }
}

/// The thread has a block of the library that is gone, whose place in the thread's vector the late
/// one has taken. musl allocates blocks with the library, for all threads; so does glibc where it
/// has room at the thread pointer and the library asks by descriptors, as on aarch64.
#[test]
fn a_block_of_a_library_that_is_gone_is_not_that_of_the_next() {
    for case in tls_cases().filter(|case| case.scenario == "tls") {
        let core = open(case);
        let truth = case.truth().expect("a truth");
        let other = truth.threads.iter().find(|thread| thread.role == "other").expect("it is told");
        let found = core.tls().variable(Tid::new(other.tid), None, "late_value");
        let variant = variant(case);
        if variant.libc == Libc::Glibc && variant.arch == Arch::X86_64 {
            assert_eq!(found, Err(TlsError::NotAllocated.into()), "{}", case.name());
        } else {
            let value = found.map(|at| core.space().read_uint(at, 4));
            assert_eq!(value, Ok(Ok(42)), "{}", case.name());
        }
    }
}

/// Without them no symbol says where link-map entries have what is looked for.
#[test]
fn variables_are_found_without_the_files_of_the_c_library() {
    let case = tls_cases().find(|case| case.name() == "tls/O2-pie").expect("it is made");
    let mut bytes = std::fs::read(&case.core).expect("the core");
    let (old, new) = (b"/libc.so.6\0", b"/gone.so.6\0");
    for at in 0..bytes.len() - old.len() {
        if bytes[at..].starts_with(old) {
            bytes[at..at + new.len()].copy_from_slice(new);
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("core");
    std::fs::write(&path, bytes).expect("a copy");
    let core = Core::open(&OpenOptions { core: Some(path), ..OpenOptions::default() });
    let core = core.expect("the copy opens");
    for printed in printed(case) {
        let found = found(&core, &printed);
        if printed.name == "errno" {
            assert_eq!(found, Err(LookupError::UnknownSymbol));
        } else {
            assert_eq!(found, Ok(printed.address), "{}", printed.name);
        }
    }
}

#[test]
fn errno_is_what_each_thread_left() {
    for case in tls_cases().filter(|case| !is_unknown(case)) {
        let core = open(case);
        let truth = case.truth().expect("a truth");
        for thread in &truth.threads {
            let expected = match thread.role.as_str() {
                "user" => 13,
                "other" => 2,
                _ => 22,
            };
            let at = core.tls().errno(Tid::new(thread.tid)).expect("errno is found");
            let value = core.space().read_uint(at, 4);
            assert_eq!(value, Ok(expected), "{} {}", case.name(), thread.role);
        }
    }
}

#[test]
fn what_is_not_thread_local_is_said() {
    let case = tls_cases().find(|case| case.name() == "tls/O2-pie").expect("it is made");
    let core = open(case);
    let tid = core.tids()[0];
    let error = |name: &str| core.tls().variable(tid, None, name).unwrap_err().to_string();
    assert_eq!(error("main"), "does not refer to thread local storage");
    assert_eq!(error("nonesuch"), "unknown symbol name");
    let vdso = core.modules().all().iter().find(|module| module.is_vdso()).expect("it has one");
    assert_eq!(core.tls().block(tid, vdso), Err(TlsError::NoStorage));
    assert_eq!(
        core.symbols().lookup(None, "exe_small").unwrap_err().to_string(),
        "thread local storage has not yet been allocated"
    );
    assert_eq!(
        core.symbols().lookup_for(Some(tid), None, "exe_small"),
        core.tls().variable(tid, None, "exe_small")
    );
}
