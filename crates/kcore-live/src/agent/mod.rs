//! kcore's agent in a process, which shows the stacks of its own process: finding it, and asking it.
//!
//! Nothing here traces a process. It is sent the agent's signal, which would end one that does not handle it: so it is
//! looked first whether it does.

mod ask;
mod error;
mod presence;

pub use ask::{Answer, Form, ask};
pub use error::AskError;
pub use presence::{Agent, DEFAULT_SIGNAL};
