//! What walkers learn of the code of a process, and how one goes on with what another has learnt.

use std::sync::{Arc, Mutex, PoisonError};

use kcore_mem::{Addr, AddrRange, CodeAddr};
use rustc_hash::FxHashMap;

use crate::{
    Reading,
    code_paths::CodePaths,
    fallback::Guess,
    follow::Follower,
    row::{Context, Row},
};

/// Walkers that are done and whose knowledge is kept, at most: more do not work at the same time.
const MAX_KEPT: usize = 64;

/// What is known of the code at one pc.
pub struct Code {
    /// How to find the caller, where unwind information tells.
    pub row: Option<Row>,
    /// Whether the process could execute there.
    pub is_code: bool,
    /// A signal restorer that only its bytes give away.
    pub is_restorer: bool,
    /// The code that its frame description covers.
    pub covered: Option<AddrRange>,
    /// Where the call before a return address leads, if its instruction tells.
    pub called: Option<Addr>,
    /// Whether this is a return address that no call left.
    pub was_put_there: bool,
    /// Where the first function on a stack returns to that somebody made: no call stands before it, and
    /// nobody returns from it.
    pub ends_stack: bool,
    /// Whether its function has no caller on this stack, whatever the row says.
    pub is_first_on_stack: bool,
}

/// What one walker has learnt. It holds for all stacks of its process.
#[derive(Default)]
pub struct Learnt {
    /// Room for gimli to run unwind programs in.
    pub context: Context,
    /// Code by pc.
    pub rows: FxHashMap<CodeAddr, Arc<Code>>,
    /// What the code before a pc does to the stack, where no row tells.
    pub readings: FxHashMap<CodeAddr, Arc<[Reading]>>,
    /// Where the paths through the code around a pc lead, where no row tells.
    pub paths: FxHashMap<CodeAddr, Arc<CodePaths>>,
    /// Whether the code at an address is known not to come to other code.
    pub misses: FxHashMap<(Addr, AddrRange), bool>,
    /// Room to follow code in, once some had to be.
    pub follower: Option<Box<Follower>>,
    /// Room for the candidates of one frame.
    pub candidates: Vec<Guess>,
}

/// What the walkers of one process have learnt that are done. Commands that walk one thread after
/// the other so read the rows of their common code once.
#[derive(Default)]
pub struct Knowledge(Mutex<Vec<Learnt>>);

impl Knowledge {
    pub(crate) fn take(&self) -> Learnt {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn keep(&self, learnt: Learnt) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_KEPT {
            kept.push(learnt);
        }
    }
}
