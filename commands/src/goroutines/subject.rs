//! Which goroutines a dcmd is about.

use std::sync::Arc;

use kcore::{
    Core, TaskId,
    go::{Go, Goroutine, GoroutineView, Semaphore},
};
use kcore_dcmd::{Cx, DcmdError, Dot, Result};

/// The runtimes of Go in a process that have goroutines.
///
/// # Errors
/// If there is none, or none that can be decoded; the error gives the reason.
pub fn schedulers(core: &Core) -> Result<Vec<&Go>> {
    let runtimes = core.runtimes();
    let found: Vec<&Go> = runtimes.of::<Go>().filter(|go| go.has_goroutines()).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let damaged = runtimes.damaged().iter().find(|damaged| damaged.name == "go");
    Err(DcmdError::failed(match (damaged, runtimes.of::<Go>().next()) {
        (Some(damaged), _) => damaged.why.to_string(),
        (None, Some(_)) => "the list of goroutines, runtime.allgs, is not found".to_owned(),
        (None, None) => "no module was made by Go".to_owned(),
    }))
}

/// All goroutines of a process that have not ended, each read when its turn comes.
///
/// # Errors
/// As [`schedulers`].
pub fn all(core: &Core) -> Result<impl Iterator<Item = Arc<Goroutine>>> {
    Ok(schedulers(core)?.into_iter().flat_map(|go| go.goroutines(core).iter()))
}

/// Says which goroutines cannot be shown, if there are any.
pub fn note_damage(cx: &mut Cx<'_>) -> Result<()> {
    let core = cx.core();
    let missing: Vec<String> =
        schedulers(core)?.iter().filter_map(|go| missing(go.goroutines(core.as_ref()))).collect();
    missing.iter().try_for_each(|text| cx.note(text))
}

fn missing(goroutines: GoroutineView<'_>) -> Option<String> {
    let why = goroutines.why();
    match (goroutines.damaged(), why) {
        (0, why) => why.map(ToOwned::to_owned),
        (count, None) => Some(format!("{count} goroutines cannot be read")),
        (count, Some(why)) => Some(format!("{count} goroutines cannot be read: {why}")),
    }
}

/// The goroutine that the address before a dcmd means: an id, or the address of its `runtime.g`.
///
/// # Errors
/// When there is none.
pub fn of_dot(cx: &Cx<'_>) -> Result<Arc<Goroutine>> {
    let Some(dot) = cx.addr() else {
        return Err(DcmdError::usage("::goroutine needs the id of a goroutine before it"));
    };
    let core = cx.core();
    let of_thread = match dot {
        Dot::Thread(tid) => core.tasks().of_thread(tid).map(|task| task.id),
        _ => None,
    };
    let wanted = of_thread.unwrap_or_else(|| dot.number());
    let found =
        schedulers(core)?.iter().find_map(|go| go.goroutines(core.as_ref()).numbered(wanted));
    found.ok_or_else(|| {
        DcmdError::failed(format!("no goroutine {wanted}, in hexadecimal {wanted:x}"))
    })
}

/// The runtime that a goroutine is of.
pub fn owner<'c>(core: &'c Core, goroutine: &Goroutine) -> Option<&'c Go> {
    let found = schedulers(core).ok()?;
    found.into_iter().find(|go| go.goroutines(core).contains(goroutine.at))
}

/// The mutex or semaphore that a goroutine waits for.
pub fn semaphore(core: &Core, goroutine: &Goroutine) -> Option<Semaphore> {
    goroutine.reason?;
    owner(core, goroutine)?.semaphore(core, goroutine)
}

/// For how many seconds a goroutine has waited at least: exactly so many where the process told what its clock stood at.
pub fn waits_for(core: &Core, goroutine: &Goroutine) -> Option<u64> {
    let since = goroutine.since?;
    let latest = clock(core).or_else(|| owner(core, goroutine)?.goroutines(core).latest())?;
    Some(latest.checked_sub(since)? / NANOSECONDS)
}

/// What the clock of [`Goroutine::since`] stood at in a live process.
pub fn clock(core: &Core) -> Option<u64> {
    let clock = core.snapshot().facts().and_then(|facts| facts.clock);
    clock.and_then(|clock| u64::try_from(clock.as_nanos()).ok())
}

const NANOSECONDS: u64 = 1_000_000_000;

/// What names it in a pipe.
pub const fn id(goroutine: &Goroutine) -> TaskId {
    TaskId { runtime: "go", number: goroutine.task }
}
