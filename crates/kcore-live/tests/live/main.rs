//! Live processes that are looked at while they do what makes it hard: they pass a token, make threads,
//! fork, start other programs, take signals, end; and kcore is killed meanwhile.

#![allow(clippy::unwrap_used, clippy::expect_used, unsafe_code)]

mod budget;
mod consistency;
mod killed;
mod memory;
mod refused;
mod restless;
mod suspended;
mod target;
