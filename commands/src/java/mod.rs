//! Java.

mod java_thread_record;
pub mod locks;
mod subject;
pub mod threads;
pub mod walk;
