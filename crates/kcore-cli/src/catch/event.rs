//! The events of `kcore catch`, as they are typed.

use anyhow::{Context, Result, bail};
use kcore::{Arch, Core, Event, errno, signal, system_call};

/// The machine that this kcore traces.
pub(super) const OWN: Arch =
    if cfg!(target_arch = "aarch64") { Arch::Aarch64 } else { Arch::X86_64 };

/// Reads an event. The address of a function is asked of a snapshot.
///
/// # Errors
/// When no event is written so, or the process has no such function.
pub(super) fn parse(word: &str, snapshot: &mut dyn FnMut() -> Result<Core>) -> Result<Event> {
    if let Some(function) = word.strip_suffix(')') {
        let name = function.strip_suffix('(').unwrap_or(word);
        let core = snapshot()?;
        let at = core.symbols().lookup(None, name).with_context(|| name.to_owned())?;
        return Ok(Event::Function(at));
    }
    if let Some((call, error)) = word.split_once('=') {
        return failed_call(call, error);
    }
    match word {
        "fatal" => Ok(Event::FatalSignal),
        "failure" => Ok(Event::BadEnd),
        "exit" => Ok(Event::End),
        _ => match signal_number(word) {
            Some(libc::SIGKILL | libc::SIGSTOP) => {
                bail!(
                    "{word}: nobody can see this signal before it acts (failure is caught as it ends)"
                )
            }
            Some(number) => Ok(Event::Signal(number)),
            None => bail!(
                "{word}: no event (CALL=ERROR, SIGNAL, fatal, failure, exit, FUNCTION()); see kcore catch --help"
            ),
        },
    }
}

fn failed_call(call: &str, error: &str) -> Result<Event> {
    if ["exit", "exit_group"].contains(&call) {
        bail!("{call}: this system call never fails (the event exit is the end of the process)");
    }
    let number = system_call::number(OWN, call)
        .with_context(|| format!("{call}: no system call of {OWN} has this name"))?;
    let error = match error {
        "any" => None,
        _ => Some(errno::number(error).with_context(|| {
            format!("{error}: no error has this name (such as close=EBADF, or close=any)")
        })?),
    };
    Ok(Event::Call { number, error })
}

/// The number of a signal by its name, with or without `SIG`.
fn signal_number(word: &str) -> Option<i32> {
    let name = if word.starts_with("SIG") { word.to_owned() } else { format!("SIG{word}") };
    (1..=64).find(|number| signal::name(*number) == name).map(i32::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(word: &str) -> Result<Event> {
        parse(word, &mut || bail!("no process"))
    }

    #[test]
    fn each_kind_of_event_has_its_form() {
        let close = system_call::number(OWN, "close").unwrap();
        for (word, event) in [
            ("close=EBADF", Event::Call { number: close, error: Some(9) }),
            ("close=any", Event::Call { number: close, error: None }),
            ("SIGSEGV", Event::Signal(11)),
            ("TERM", Event::Signal(15)),
            ("SIGRTMIN+2", Event::Signal(36)),
            ("fatal", Event::FatalSignal),
            ("failure", Event::BadEnd),
            ("exit", Event::End),
        ] {
            assert_eq!(parsed(word).unwrap(), event, "{word}");
        }
    }

    #[test]
    fn what_is_none_is_refused_with_the_reason() {
        for (word, why) in [
            ("closs=EBADF", "closs: no system call"),
            ("close=EBAD", "EBAD: no error"),
            ("SIGKILL", "SIGKILL: nobody can see"),
            ("exit=any", "exit: this system call never fails"),
            ("main", "main: no event"),
            ("main()", "no process"),
        ] {
            let error = parsed(word).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
