//! Which threads of Java a dcmd is about.

use std::sync::Arc;

use kcore::{
    Core,
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
