//! Which goroutines are wanted.

use kcore::{Core, MAX_FRAMES, go::Goroutine};
use kcore_dcmd::Args;

use super::subject::id;

/// What the options of a dcmd ask for.
#[derive(Default)]
pub struct Filter {
    state: Option<String>,
    reason: Option<String>,
    function: Option<String>,
}

impl Filter {
    /// That of the options `-s`, `-r` and `-f`.
    pub fn of(args: &Args) -> Self {
        let text = |flag| args.value(flag).map(|value| value.to_text());
        Self { state: text('s'), reason: text('r'), function: text('f') }
    }

    /// Whether a goroutine is wanted. Its stack is walked only where the rest fits.
    pub fn admits(&self, core: &Core, goroutine: &Goroutine) -> bool {
        let state = self.state.as_deref().is_none_or(|state| state == goroutine.state.as_str());
        let reason = self
            .reason
            .as_deref()
            .is_none_or(|reason| goroutine.reason.is_some_and(|own| own.contains(reason)));
        state && reason && self.function.as_deref().is_none_or(|name| runs(core, goroutine, name))
    }
}

/// Whether a function of this name, or of this package, is on the stack of a goroutine.
fn runs(core: &Core, goroutine: &Goroutine, name: &str) -> bool {
    let Some(task) = core.task(id(goroutine)) else { return false };
    let stack = core.task_stack(task, MAX_FRAMES);
    core.named_frames(&stack).any(|frame| {
        frame.location.function.as_deref().is_some_and(|function| is_of(function, name))
    })
}

/// Whether a function is the one that is asked for, or stands in it: `main.serve` has `main.serve.func1`.
fn is_of(function: &str, name: &str) -> bool {
    let rest = function.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_what_is_in_it() {
        assert!(is_of("main.serve", "main.serve"));
        assert!(is_of("main.serve.func1", "main.serve"));
        assert!(is_of("main.(*T).Run", "main"));
        assert!(!is_of("main.served", "main.serve"));
    }
}
