//! Dcmds of JavaScript's heap: what objects there are, what refers to them, what they hold.

mod counted;
mod edge;
pub mod findjsobjects;
mod found;
mod group;
mod referrer;
