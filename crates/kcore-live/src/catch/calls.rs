//! System calls that fail, as the kernel's own filter knows them.

use std::{fs, path::Path};

use super::{Caught, Event, Happening};
use crate::{
    freeze::{GENERAL_SIZE, machine},
    sys::{
        ptrace,
        trap::{Spot, Trap},
    },
};

/// Where the kernel tells of its tracepoints.
const TRACING: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// The largest error number that a process can see: those from 512 on the kernel keeps to itself, above all for calls
/// that it begins anew after a signal (Linux `include/linux/errno.h`).
pub const MAX_ERRNO: i64 = 511;

/// The number of the tracepoint at the end of system calls, where it may be read.
pub fn tracepoint() -> Option<u64> {
    let id = |folder| fs::read_to_string(Path::new(folder).join("events/raw_syscalls/sys_exit/id"));
    TRACING.into_iter().find_map(|folder| id(folder).ok()?.trim().parse().ok())
}

/// The event of a failed system call; `None` where the tracepoint is not known, and of other events.
pub fn spot(event: &Event) -> Option<Spot> {
    let Event::Call { number, error } = event else { return None };
    let filter = match error {
        Some(error) => format!("id == {number} && ret == -{error}"),
        None => format!("id == {number} && ret < 0 && ret >= -{MAX_ERRNO}"),
    };
    Some(Spot::Tracepoint { id: tracepoint()?, filter })
}

/// Whether the kernel can filter failed system calls for kcore. Where it cannot, each system call of a process stops
/// its thread twice while a failed one is waited for.
pub fn can_filter_calls() -> bool {
    let event = Event::Call { number: 0, error: Some(1) };
    let opened = spot(&event).map(|spot| Trap::open(0, &spot, 0));
    opened.is_some_and(|trap| trap.is_ok())
}

/// The failed call at whose end a thread stands, if it is one of those that are waited for.
pub fn failed(tid: i32, events: &[Event]) -> Option<Caught> {
    let mut general = [0; GENERAL_SIZE];
    let len = ptrace::registers(tid, ptrace::GENERAL, &mut general).ok()?;
    let general = general.get(..len)?;
    let number = machine::call_number(general)?;
    let answer = machine::call_answer(general)?;
    let error = i32::try_from(answer.checked_neg()?).ok()?;
    let is_error = (1..=MAX_ERRNO).contains(&i64::from(error));
    let wanted = |event: &&Event| {
        matches!(event, Event::Call { number: wanted, error: of }
            if *wanted == number && of.is_none_or(|of| of == error))
    };
    events.iter().find(wanted).filter(|_| is_error)?;
    let arguments = machine::call_arguments(general);
    let what = Happening::Call { number, error: Some(error), arguments };
    Some(Caught { tid, what, late: false })
}
