//! Cores of JavaScript that are hurt at random where their stacks, values and heap are read: always an
//! answer, within bounds.
//!
//! A test program of its own, because it counts what is allocated, and others beside it would count too.

#[path = "../bounds/alone.rs"]
mod alone;
mod chunks;
mod hurt_host;
#[path = "../bounds/measure.rs"]
mod measure;
#[path = "../bounds/random.rs"]
mod random;
mod roots;
mod rounds;
#[path = "../bounds/word.rs"]
mod word;
