//! Cores that are damaged or made to hurt: always an answer or a clear error, within the bounds of
//! `docs/limits.md`.
//!
//! A test program of its own, because it counts what is allocated.

mod ask;
mod crafted;
mod damage;
mod hurt;
mod measure;
mod random;
mod rule;
#[path = "../../../../fuzz/src/synthetic.rs"]
mod synthetic;
mod word;
