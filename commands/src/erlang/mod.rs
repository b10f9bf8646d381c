//! Processes of Erlang, with their messages and tables.

pub mod erlets;
pub mod erlmessages;
pub mod erlprint;
pub mod erlschedulers;
mod filter;
mod groups;
pub mod list;
mod missing;
mod row;
mod subject;
pub mod walk;

pub use subject::unread;
