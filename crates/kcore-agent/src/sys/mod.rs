//! The system, asked without the C library: none of these functions takes memory or a lock, sets `errno`, or
//! is resolved by the dynamic linker when it is first called. What makes the agent's thread when it is installed
//! (`dormant`, `c_library`, `mark`) does all that.

#![allow(unsafe_code)]

mod c_library;
mod call;
mod caller;
mod clone;
mod dormant;
mod futex;
mod image;
mod mark;
mod sanitizer;
mod signal;
mod stack;
mod start;
mod task;
mod timer;
mod traced;

pub use caller::{Caller, effective_user};
pub use clone::leave_thread;
pub use dormant::Dormant;
pub use futex::{wait, wake};
pub use mark::mark;
pub use signal::{
    Action, HeldBack, Queued, SigInfo, ask_thread, handler_of, install_handler, is_default,
    remove_handler,
};
pub use stack::Stack;
pub use start::{Program, start};
pub use task::{
    clock_ns, close, has_memory, has_thread, leave_processor, look_at_machine, monotonic_ns,
    process_id, read_file_at, read_memory, thread_id, thread_pointer, write_all,
};
pub use timer::{MAX_TIMERS, ThreadTimer, end_timers, thread_ns};
pub use traced::Permission;
