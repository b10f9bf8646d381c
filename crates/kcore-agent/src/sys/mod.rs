//! The system, asked without the C library: none of these functions takes memory or a lock, sets `errno`, or
//! is resolved by the dynamic linker when it is first called.

#![allow(unsafe_code)]

mod call;
mod clone;
mod futex;
mod sanitizer;
mod signal;
mod stack;
mod task;
mod timer;

pub use clone::{Dormant, leave_thread};
pub use futex::{wait, wake};
pub use signal::{
    Action, HeldBack, Info, Queued, ask_thread, handler_of, install_handler, is_default,
};
pub use stack::Stack;
pub use task::{
    close, has_thread, leave_processor, monotonic_ns, process_id, read_file_at, read_memory,
    thread_id, thread_pointer, write_all,
};
pub use timer::ThreadTimer;
