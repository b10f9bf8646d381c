//! Which goroutines are wanted.

use kcore::{
    Addr, Core, MAX_FRAMES,
    go::{Goroutine, State},
};
use kcore_dcmd::{Args, DcmdError, Result};

use super::subject::{self, id};

/// What the options of a dcmd ask for.
#[derive(Default)]
pub struct Filter {
    state: Option<String>,
    reason: Option<String>,
    function: Option<String>,
    minutes: Option<u64>,
    awaited: Option<Addr>,
}

impl Filter {
    /// Whether it leaves any out.
    pub const fn is_any(&self) -> bool {
        self.state.is_some()
            || self.reason.is_some()
            || self.function.is_some()
            || self.minutes.is_some()
            || self.awaited.is_some()
    }

    /// That of the options `-s`, `-r`, `-f`, `-m` and `-w`.
    ///
    /// # Errors
    /// When a number is none, or no state has that name.
    pub fn of(args: &Args) -> Result<Self> {
        let text = |flag| args.value(flag).map(|value| value.to_text());
        let number = |flag, radix| text(flag).map(|text| number(&text, radix)).transpose();
        if let Some(state) = text('s').filter(|state| !State::WORDS.contains(&state.as_str())) {
            let all = State::WORDS.join(", ");
            return Err(DcmdError::usage(format!("no state `{state}`: {all}")));
        }
        let (minutes, awaited) = (number('m', 10)?, number('w', 16)?.map(Addr::new));
        let reason = text('r').map(|reason| reason.to_lowercase());
        Ok(Self { state: text('s'), reason, function: text('f'), minutes, awaited })
    }

    /// Whether a goroutine is wanted. Its stack is walked only where the rest fits.
    pub fn admits(&self, core: &Core, goroutine: &Goroutine) -> bool {
        let state = self.state.as_deref().is_none_or(|state| state == goroutine.state.as_str());
        let waits_for =
            |reason: &str| goroutine.reason.is_some_and(|own| own.to_lowercase().contains(reason));
        let reason = self.reason.as_deref().is_none_or(waits_for);
        let minutes = self.minutes.is_none_or(|least| {
            subject::waits_for(core, goroutine).is_some_and(|seconds| seconds / 60 >= least)
        });
        let awaited = self.awaited.is_none_or(|at| {
            goroutine.channel == Some(at)
                || goroutine.channels.contains(&at)
                || subject::semaphore(core, goroutine).is_some_and(|semaphore| semaphore.at == at)
        });
        state
            && reason
            && minutes
            && awaited
            && self.function.as_deref().is_none_or(|name| runs(core, goroutine, name))
    }
}

/// A number that was typed, which may have the prefix of its radix.
fn number(text: &str, radix: u32) -> Result<u64> {
    let digits = text.strip_prefix(if radix == 16 { "0x" } else { "0t" }).unwrap_or(text);
    u64::from_str_radix(digits, radix)
        .map_err(|_| DcmdError::usage(format!("{text} is no number of radix {radix}")))
}

/// Whether a function of this name, or of this package, is on the stack of a goroutine.
fn runs(core: &Core, goroutine: &Goroutine, name: &str) -> bool {
    let Some(task) = core.tasks().by_id(id(goroutine)) else { return false };
    let stack = core.stacks().of_task(task, MAX_FRAMES);
    core.stacks().named_frames(&stack).any(|frame| {
        frame.location.function.as_deref().is_some_and(|function| is_of(function, name))
    })
}

/// Whether a function is the one that is asked for, or stands in it: `main.serve` has `main.serve.func1`. The dots of a
/// package's last word may be escaped, as Go's own traces have them.
fn is_of(function: &str, name: &str) -> bool {
    let is_in = |function: &str| {
        let rest = function.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    is_in(function) || (function.contains(ESCAPED) && is_in(&function.replace(ESCAPED, ".")))
}

/// A dot in the last word of a package's path.
const ESCAPED: &str = "%2e";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_what_is_in_it() {
        assert!(is_of("main.serve", "main.serve"));
        assert!(is_of("main.serve.func1", "main.serve"));
        assert!(is_of("main.(*T).Run", "main"));
        assert!(!is_of("main.served", "main.serve"));
        assert!(is_of("gopkg.in/yaml%2ev3.Load", "gopkg.in/yaml.v3"));
        assert!(is_of("gopkg.in/yaml%2ev3.Load", "gopkg.in/yaml%2ev3"));
    }
}
