//! bthreads: the user-mode threads of bRPC.

pub mod bthread;
pub mod list;
mod page;
mod row;
mod subject;
mod wait;
pub mod walk;
