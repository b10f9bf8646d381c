//! What of a runtime cannot be decoded.

use std::sync::Arc;

/// What of a runtime cannot be decoded, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecoded {
    /// What and why, for people, in one line.
    pub why: Arc<str>,
    /// The runtime whose layouts are used instead where the host allows it
    /// ([`Host::allows_nearest`](crate::Host::allows_nearest)): `V8 11.3`. `None` where no others would do.
    pub nearest: Option<Arc<str>>,
}

impl From<&str> for Undecoded {
    /// What the layouts of no other version decode.
    fn from(why: &str) -> Self {
        Self { why: why.into(), nearest: None }
    }
}
