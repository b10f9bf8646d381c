//! Dcmds and walkers of JavaScript.

pub mod heap;
