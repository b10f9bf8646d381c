//! Tasks of tokio.

pub mod list;
mod row;
mod subject;
pub mod walk;
