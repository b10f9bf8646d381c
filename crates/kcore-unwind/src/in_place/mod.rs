//! Walks in a signal handler, of the thread that runs it: they take no memory and no lock, and loop over
//! nothing that is not bounded.
//!
//! [`Tables`] are made beforehand from copies of unwind information, and only read while handlers run. A
//! [`Room`] is what one walk at a time works in and leaves its frames in. Memory is read through an
//! [`AddressSpace`](kcore_mem::AddressSpace) that promises the same, and answers a bad address with a fault.
//!
//! Code without unwind information is read to the return, as [`Walker`](crate::Walker) reads it, in room that was
//! set aside. Where that does not tell, the frame pointer is a guess, and is marked as one. A scan of the stack would
//! take memory to compare what it finds, and is not made here.

mod room;
mod tables;
mod walk;

pub use room::Room;
pub use tables::{Tables, TablesBuilder};
