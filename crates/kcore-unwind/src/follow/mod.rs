//! Reading code: from a place to the return by every path, and from a function's start to a place.
//!
//! A machine says what one instruction does ([`Instruction`]); what follows from many of them is found here,
//! for all machines. Nothing is allocated after [`Follower::new`], and each question is bounded, so a signal
//! handler may ask.

mod follower;
mod instruction;
mod outcome;
mod paths;
mod state;
#[cfg(test)]
mod tests;
mod value;
mod visited;
mod window;

pub use follower::{Follower, Question};
pub use instruction::{Flow, Instruction, Op, Source};
pub use outcome::Outcome;
pub use paths::Paths;
pub use window::Window;
