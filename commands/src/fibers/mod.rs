//! Fibers of Boost.Fiber.

pub mod list;
mod row;
mod subject;
mod wait;
pub mod walk;
