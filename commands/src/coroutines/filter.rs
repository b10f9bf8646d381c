//! Which coroutines are shown.

use kcore::coroutine::{Coroutine, CoroutineState};
use kcore_dcmd::{Arg, Args, DcmdError, Result};

/// The filters of one call; a coroutine must pass all of them.
pub struct CoroutineFilter {
    state: Option<CoroutineState>,
    function: Option<String>,
    leaves: bool,
}

impl CoroutineFilter {
    /// Reads the filters of a call.
    ///
    /// # Errors
    /// If there is no such state.
    pub fn new(args: &Args) -> Result<Self> {
        let state = args.value('s').map(|arg| state(&arg.to_text())).transpose()?;
        let function = args.value('c').map(Arg::to_text);
        Ok(Self { state, function, leaves: args.has('l') })
    }

    /// Whether a coroutine is shown.
    pub fn admits(&self, one: &Coroutine) -> bool {
        let has = |text: &String| one.function.contains(text.as_str());
        self.state.is_none_or(|state| state == one.state)
            && self.function.as_ref().is_none_or(has)
            && (!self.leaves || (one.is_leaf && one.state != CoroutineState::Done))
    }
}

fn state(word: &str) -> Result<CoroutineState> {
    let found = CoroutineState::ALL.into_iter().find(|state| state.as_str() == word);
    found.ok_or_else(|| {
        let all = CoroutineState::ALL.map(CoroutineState::as_str).join(", ");
        DcmdError::usage(format!("no state `{word}`: {all}"))
    })
}
