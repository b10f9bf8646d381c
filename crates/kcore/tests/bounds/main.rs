//! Cores that are damaged or made to hurt: always an answer or a clear error, within the bounds of
//! `docs/book/src/limits.md`.
//!
//! A test program of its own, because it counts what is allocated.

mod ask;
mod crafted;
mod damage;
mod hurt;
mod inflated;
#[path = "../../../../fuzz/src/input.rs"]
#[allow(dead_code, reason = "the fuzz targets read and write files of sections as well")]
mod input;
mod measure;
mod random;
mod rule;
#[path = "../../../../fuzz/src/sections.rs"]
#[allow(dead_code, reason = "the fuzz targets read and write files of sections as well")]
mod sections;
mod self_types;
#[path = "../../../../fuzz/src/synthetic.rs"]
mod synthetic;
mod word;
