//! Runs test programs, as many at a time as there are processors.

use std::{
    collections::VecDeque,
    io::{Read, pipe},
    num::NonZero,
    process::{Command, ExitStatus},
    sync::{
        Mutex, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use super::targets::Target;

/// What happens while programs run, each by its place in the list of targets.
pub enum Event {
    Begun(usize),
    /// All that it printed, both streams as they came, how it ended, and how long it ran.
    Ended(usize, Result<(String, ExitStatus)>, Duration),
}

/// Runs all targets by their commands and tells what happens: first those that may run beside others, in their order,
/// then the others one by one.
pub fn run_all(
    targets: &[Target],
    command: impl Fn(&Target) -> Command + Sync,
    mut told: impl FnMut(Event),
) {
    let all = || 0..targets.len();
    let (alone, shared): (VecDeque<usize>, VecDeque<usize>) =
        all().partition(|&index| targets.get(index).is_some_and(Target::is_alone));
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    for (queue, workers) in [(shared, processors), (alone, 1)] {
        let queue = Mutex::new(queue);
        let (sender, events) = channel();
        thread::scope(|scope| {
            for _ in 0..workers {
                let (queue, command, sender) = (&queue, &command, sender.clone());
                scope.spawn(move || work(targets, queue, command, &sender));
            }
            drop(sender);
            events.iter().for_each(&mut told);
        });
    }
}

/// Runs programs of the queue until there are none left.
fn work(
    targets: &[Target],
    queue: &Mutex<VecDeque<usize>>,
    command: &impl Fn(&Target) -> Command,
    events: &Sender<Event>,
) {
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    while let Some((index, target)) = next().and_then(|index| Some((index, targets.get(index)?))) {
        let _ = events.send(Event::Begun(index));
        let start = Instant::now();
        let ended = run(command(target));
        let _ = events.send(Event::Ended(index, ended, start.elapsed()));
    }
}

/// Runs a command to its end. One pipe takes both streams, so that failures stand where they happened.
fn run(mut command: Command) -> Result<(String, ExitStatus)> {
    let (mut output, errors) = pipe()?;
    command.stdout(errors.try_clone()?).stderr(errors);
    let mut running = command.spawn().context("it cannot be run")?;
    // The command holds the write end; reading ends when every copy of it is closed.
    drop(command);
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), running.wait()?))
}
