//! Debug information that lies: always an answer or a clear error, soon, and within a bound of memory.
//!
//! Each test writes a unit as no compiler would, assembles it into a program, lets that die, and asks
//! kcore about the core.

mod assembly;
mod containers;
mod locations;
mod run;
mod structure;
mod types;
