//! Starting a program that is no child of this process.
//!
//! Programs wait for any of their children, and are told when one ends: of one that they did not start they must know
//! nothing. So a process between starts it and ends at once, and the system gives what it started to init. No page of
//! memory is copied, nor a table of pages, and only the thread that asks waits until the program runs.

use std::{
    ffi::{CString, c_char},
    sync::atomic::{AtomicI32, Ordering},
};

use super::{
    call::call,
    clone::{clone_process, leave_thread},
};

/// Bytes of stack for each of the two processes that start it.
const STACK: usize = 64 << 10;

/// A program that is to be started.
pub struct Program<'a> {
    /// Its file.
    pub path: &'a CString,
    /// Its arguments, the first of which names it.
    pub arguments: &'a [CString],
    /// Its environment.
    pub environment: &'a [CString],
    /// The file that is its standard input and output.
    pub talks_by: i32,
}

/// What the processes between have to know. They read it, and take no memory.
struct Order {
    path: usize,
    arguments: usize,
    environment: usize,
    talks_by: i32,
    /// The upper end of the stack of the second one.
    stack: usize,
    /// The id of the program's process.
    made: AtomicI32,
    /// Why the program was not started: an error number, or 0.
    refused: AtomicI32,
}

/// Starts a program, in a session of its own; the answer is the id of its process. Signals that the thread blocks are
/// blocked in it.
///
/// # Errors
/// The system's error number.
pub fn start(program: &Program<'_>) -> Result<i32, i32> {
    let mut stacks = vec![0_u8; STACK.saturating_mul(2)];
    let end = |stack: &mut [u8]| stack.as_mut_ptr_range().end.expose_provenance() & !63;
    let (first, second) = stacks.split_at_mut(STACK);
    let (arguments, environment) = (pointers(program.arguments), pointers(program.environment));
    let order = Order {
        path: program.path.as_ptr().addr(),
        arguments: arguments.as_ptr().addr(),
        environment: environment.as_ptr().addr(),
        talks_by: program.talks_by,
        stack: end(second),
        made: AtomicI32::new(0),
        refused: AtomicI32::new(0),
    };
    // SAFETY: both stacks are this function's; `between` uses system calls alone.
    let between = unsafe { clone_process(end(first), between, &order) };
    if between < 0 {
        return Err(error_of(between));
    }
    // SAFETY: it takes no pointer but a null one.
    unsafe { call(libc::SYS_wait4, [between as usize, 0, libc::__WCLONE as usize, 0, 0, 0]) };
    match (order.refused.load(Ordering::Acquire), order.made.load(Ordering::Acquire)) {
        (0, made) if made > 0 => Ok(made),
        (0, _) => Err(libc::EIO),
        (refused, _) => Err(refused),
    }
}

/// Where strings are, with a null behind them.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|it| it.as_ptr()).chain([std::ptr::null()]).collect()
}

fn error_of(answer: isize) -> i32 {
    i32::try_from(answer.wrapping_neg()).unwrap_or(libc::EIO)
}

/// The process between: it starts the other one, and ends.
extern "C" fn between(order: &Order) -> ! {
    const BEHIND: usize = 3;
    let duplicate = [order.talks_by as usize, libc::F_DUPFD as usize, BEHIND, 0, 0, 0];
    // SAFETY: none of these calls takes a pointer. The files are this process's own.
    unsafe {
        call(libc::SYS_setsid, [0; 6]);
        // It may be one of the two already, and stays open only as another one.
        let file = call(libc::SYS_fcntl, duplicate) as usize;
        call(libc::SYS_dup3, [file, 0, 0, 0, 0, 0]);
        call(libc::SYS_dup3, [file, 1, 0, 0, 0, 0]);
    }
    // SAFETY: nobody else uses that stack; `execute` uses system calls alone.
    let made = unsafe { clone_process(order.stack, execute, order) };
    match made {
        0.. => order.made.store(made as i32, Ordering::Release),
        _ => order.refused.store(error_of(made), Ordering::Release),
    }
    leave_thread()
}

/// Becomes the program, or says why not.
extern "C" fn execute(order: &Order) -> ! {
    let args = [order.path, order.arguments, order.environment, 0, 0, 0];
    // SAFETY: the strings and the lists of them are there until the process has another memory.
    let refused = unsafe { call(libc::SYS_execve, args) };
    order.refused.store(error_of(refused), Ordering::Release);
    leave_thread()
}
