//! Dcmds of JavaScript's heap: what objects there are, what refers to them, what they hold.

mod counted;
mod edge;
pub mod findjsobjects;
mod found;
mod group;
pub mod jsfindrefs;
pub mod jsfunctions;
pub mod jsheap;
pub mod jspath;
mod referrer;
mod size;
pub mod v8whatis;
