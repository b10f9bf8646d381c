//! Which threads of Java a dcmd is about.

use std::sync::Arc;

use kcore::{
    Addr, Core,
    java::{Java, JavaThread},
};
use kcore_dcmd::{Cx, DcmdError, Result};

/// The virtual machines of a process.
///
/// # Errors
/// If there is none, or none that can be decoded; the error gives the reason.
pub fn machines(core: &Core) -> Result<Vec<&Java>> {
    let found: Vec<&Java> = core.runtimes().of::<Java>().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let damaged = core.runtimes().damaged().iter().find(|damaged| damaged.name == "java");
    Err(DcmdError::failed(match damaged {
        Some(damaged) => damaged.why.to_string(),
        None => "the process has no virtual machine of Java".to_owned(),
    }))
}

/// The virtual machine in whose heap an object begins at an address.
///
/// # Errors
/// As [`machines`]; if no object begins there.
pub fn machine_of(core: &Core, at: Addr) -> Result<&Java> {
    let has = |java: &&Java| java.is_object(core, at);
    machines(core)?.into_iter().find(has).ok_or_else(|| {
        let why = match core.space().read_word(at) {
            Err(fault) => fault.reason(),
            Ok(_) => "no object of the heap begins there",
        };
        DcmdError::at(at, format!("{at:x} is not a Java object: {why}"))
    })
}

/// The virtual machines of a process whose heap can be walked.
///
/// # Errors
/// As [`machines`]; if the heap of none can be.
pub fn heaps(core: &Core) -> Result<Vec<&Java>> {
    let found = machines(core)?;
    let has_heap = |java: &&Java| kcore::Runtime::objects(*java, core).is_some();
    let with_heap: Vec<&Java> = found.iter().copied().filter(has_heap).collect();
    if !with_heap.is_empty() {
        return Ok(with_heap);
    }
    let why = found.iter().flat_map(|java| &kcore::Runtime::identity(*java).undecoded);
    let why: Vec<&str> = why.map(|it| &*it.why).collect();
    Err(DcmdError::failed(format!("the heap of Java cannot be walked: {}", why.join("; "))))
}

/// Notes which part of a heap that was walked is missing.
///
/// # Errors
/// When nobody reads any more.
pub fn note_missing(cx: &mut Cx<'_>, java: &Java) -> Result<()> {
    match kcore::objects::Objects::missing(java, cx.core().as_ref()) {
        Some(missing) => cx.note(&format!("{missing}: there may be more objects")),
        None => Ok(()),
    }
}

/// All threads of Java.
///
/// # Errors
/// As [`machines`].
pub fn threads(core: &Core) -> Result<Vec<Arc<JavaThread>>> {
    let found = machines(core)?;
    Ok(found.iter().flat_map(|java| java.threads(core).all.to_vec()).collect())
}

/// Prints a note about what cannot be shown, if there is anything.
pub fn note_damage(cx: &mut Cx<'_>) -> Result<()> {
    let core = cx.core();
    let mut missing: Vec<String> = Vec::new();
    for java in machines(core)? {
        missing.extend(java.threads(core.as_ref()).why.as_deref().map(ToOwned::to_owned));
        let undecoded = &kcore::Runtime::identity(java).undecoded;
        missing.extend(undecoded.iter().map(|it| it.why.to_string()));
    }
    missing.iter().try_for_each(|text| cx.note(text))
}
