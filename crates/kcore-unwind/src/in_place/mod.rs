//! Walks in a signal handler, of the thread that runs it: they take no memory and no lock, and loop over
//! nothing that is not bounded.
//!
//! [`Tables`] are made beforehand from copies of unwind information, and only read while handlers run. A
//! [`Room`] is what one walk at a time works in and leaves its frames in. Memory is read through an
//! [`AddressSpace`](kcore_mem::AddressSpace) that promises the same, and answers a bad address with a fault.
//!
//! What [`Walker`](crate::Walker) finds by following code or by scanning a stack takes memory, and is not
//! looked for here: code without unwind information is stepped out of by its frame pointer, or ends the walk.

mod room;
mod tables;
mod walk;

pub use room::Room;
pub use tables::{Tables, TablesBuilder};
