//! Java.

pub mod find;
pub mod heap;
mod java_thread_record;
pub mod locks;
pub mod print;
mod subject;
pub mod threads;
pub mod walk;
