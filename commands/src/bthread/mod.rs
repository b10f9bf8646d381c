//! bthreads: the user-mode threads of bRPC.

pub mod bthread;
pub mod bthreads;
mod page;
mod row;
mod subject;
mod wait;
pub mod walk;
