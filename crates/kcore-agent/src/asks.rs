//! Requests from another process, by `kcore ask`. Each carries a number, which names the socket that waits for the
//! answer.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    error::AgentError,
    install::timeout,
    output,
    report::Stacks,
    sys::{self, Caller},
};

/// Requests that may wait at a time. One beyond them gets no answer, and may be made again.
const MOST: usize = 8;
/// What the socket is called, before the number.
const NAME: &str = "kcore-agent-ask-";

/// Their numbers; 0 is none.
static NUMBERS: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];

/// Notes a request; says whether there was room. A handler may call it.
pub fn note(number: u64) -> bool {
    let free = |place: &AtomicU64| {
        place.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire).is_ok()
    };
    number != 0 && NUMBERS.iter().any(free)
}

/// Answers all requests that wait.
pub fn answer(stacks: &Result<Stacks, AgentError>) {
    for number in NUMBERS.iter().map(|place| place.swap(0, Ordering::AcqRel)) {
        if number != 0
            && let Err(why) = answer_one(number, stacks)
        {
            output::say(&format!("kcore asked, and could not be answered: {why}"));
        }
    }
}

/// Forgets the requests, in a process that was forked off.
pub fn forget() {
    NUMBERS.iter().for_each(|place| place.store(0, Ordering::Release));
}

fn answer_one(number: u64, stacks: &Result<Stacks, AgentError>) -> Result<(), String> {
    let name = format!("{NAME}{number:016x}");
    let refused = |number| std::io::Error::from_raw_os_error(number).to_string();
    let caller = Caller::connect(name.as_bytes()).map_err(refused)?;
    let user = caller.user().map_err(refused)?;
    // A user may send signals to a set-user-ID program of theirs, which has more rights than they have.
    if user != 0 && user != sys::effective_user() {
        return Err(format!("it runs as user {user}"));
    }
    let (kind, text) = match stacks {
        Ok(stacks) if number & 1 == 1 => ("stacks", stacks.json.clone()),
        Ok(stacks) => ("stacks", stacks.text.clone()),
        Err(error) => ("error", error.to_string()),
    };
    let line = format!("kcore-agent 1 {kind} {}\n", text.len());
    caller.say(line.as_bytes(), timeout());
    caller.say(text.as_bytes(), timeout());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_may_ask_at_a_time() {
        assert!(!note(0));
        assert!((1..=MOST as u64).all(note) && !note(99));
        forget();
        assert!(note(99));
        forget();
    }
}
