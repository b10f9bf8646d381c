//! kcore against real cores: what their programs know, and what other debuggers say.
//!
//! One test program, so that the cores are made and checked for once. Exceptions stand in tables
//! beside the tests, each with its reason; one that is not needed any more fails.

mod damage;
mod facts;
#[path = "../support/framehop.rs"]
mod framehop_of_core;
mod known;
mod pattern;
mod peers;
mod rewritten;
mod sites;
mod tls;
mod truth;
