//! What of the memory of a process is there, found out without making any of it.
//!
//! Whoever reads a page that nobody has touched has the kernel make it: of shared memory for good, and
//! charged to the process that is read. So pages are looked at in `/proc/PID/pagemap` before they are read,
//! and what a page map cannot tell, since other processes may hold it, the file behind the mapping does.

mod backing;
mod files;
mod guard;
mod page_map;

pub use backing::{Backing, Extent};
pub use files::Files;
pub use guard::{Closed, Guard};
pub use page_map::{Page, PageMap};
