//! Which processes of Erlang are wanted.

use kcore::{
    Core, MAX_FRAMES,
    erlang::{Erlang, ErlangProcess, ErlangState},
};
use kcore_dcmd::{Args, DcmdError, Result};

use super::subject;

/// What the options of a dcmd ask for.
#[derive(Default)]
pub struct Filter {
    state: Option<ErlangState>,
    name: Option<String>,
    function: Option<String>,
    messages: Option<u64>,
}

impl Filter {
    /// That of the options `-s`, `-n`, `-f` and `-m`.
    ///
    /// # Errors
    /// When a state or a number is none.
    pub fn of(args: &Args) -> Result<Self> {
        let text = |flag| args.value(flag).map(|value| value.to_text());
        let messages = args.value('m').map(crate::operand::decimal).transpose()?;
        Ok(Self {
            state: text('s').map(|word| state(&word)).transpose()?,
            name: text('n'),
            function: text('f'),
            messages: messages.map(|count| count as u64),
        })
    }

    /// Whether a process is wanted. Its stack is read only where the rest fits.
    pub fn admits(&self, core: &Core, erlang: &Erlang, process: &ErlangProcess) -> bool {
        self.state.is_none_or(|state| state == process.state)
            && self.messages.is_none_or(|least| process.messages >= least)
            && self.name.as_deref().is_none_or(|name| is_called(core, erlang, process, name))
            && self.function.as_deref().is_none_or(|name| runs(core, erlang, process, name))
    }
}

fn state(word: &str) -> Result<ErlangState> {
    let found = ErlangState::ALL.into_iter().find(|state| state.as_str() == word);
    found.ok_or_else(|| {
        let all = ErlangState::ALL.map(ErlangState::as_str).join(", ");
        DcmdError::usage(format!("no state `{word}`: {all}"))
    })
}

fn is_called(core: &Core, erlang: &Erlang, process: &ErlangProcess, name: &str) -> bool {
    let registered = process.registered.and_then(|atom| erlang.atom(core, atom).ok());
    registered.is_some_and(|registered| &*registered == name)
}

/// Whether a function of this name, or of this module, is on the stack of a process, or is that which it began with.
fn runs(core: &Core, erlang: &Erlang, process: &ErlangProcess, name: &str) -> bool {
    let initial = process.initial.and_then(|mfa| erlang.function_name(core, mfa).ok());
    if initial.is_some_and(|initial| is_of(&initial, name)) {
        return true;
    }
    let Some(task) = core.tasks().by_id(subject::id(process.pid)) else { return false };
    let stack = core.stacks().of_task(task, MAX_FRAMES);
    core.stacks().named_frames(&stack).any(|frame| {
        frame.location.function.as_deref().is_some_and(|function| is_of(function, name))
    })
}

/// Whether a function is the one that is asked for, or stands in it: `lists` has `lists:map/2`, and so has `lists:map`.
fn is_of(function: &str, name: &str) -> bool {
    let rest = function.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_what_is_in_it() {
        assert!(is_of("lists:map/2", "lists"));
        assert!(is_of("lists:map/2", "lists:map"));
        assert!(is_of("lists:map/2", "lists:map/2"));
        assert!(!is_of("lists:mapfoldl/3", "lists:map"));
    }
}
