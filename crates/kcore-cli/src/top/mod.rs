//! `kcore top`: the functions of a live process, as they run.

mod args;
mod record;
mod screen;
mod table;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use kcore::{
    LiveProcess, Method, OpenError, ProfileCost, ProfileProgress, ProfileWindow, ProfileWindows,
};
use kcore_dcmd::DcmdError;
use kcore_render::Size;

pub(crate) use args::TopArgs;
use args::TopRequest;
use record::{TopFunction, TopPart};
use screen::{KeyAnswer, Screen, View};
use table::Table;

use crate::args::USAGE;
use crate::terminal::{Keys, Terminal};
use crate::{ends, live, output, terminal};

/// Exit status when the process ended.
const FAILED: u8 = 1;
/// How long is waited for a key before it is looked whether there is something new.
const TICK: Duration = Duration::from_millis(50);
/// Bytes that are read at a time of what is typed: those of one key come together.
const MAX_TYPED: usize = 64;
const USUAL_SIZE: Size = Size { columns: 80, rows: 24 };

/// Shows the functions until somebody ends it, or the process ends.
pub(crate) fn run(args: &TopArgs) -> ExitCode {
    match try_run(args) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::from(USAGE)
        }
    }
}

/// Nobody may read it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "kcore: {line}");
}

fn try_run(args: &TopArgs) -> Result<ExitCode> {
    let is_written = args.is_written(io::stdout().is_terminal())?;
    let wanted = args.wanted()?;
    let (windows, parts) = ProfileWindows::new(args.delay);
    let progress = ProfileProgress { windows: Some(windows), ..ProfileProgress::default() };
    ends::set(&progress.stop)?;
    let (shown, sampled) = thread::scope(|scope| {
        let sampling = thread::Builder::new().spawn_scoped(scope, || sample(&wanted, &progress));
        let sampling = sampling.context("cannot make a thread")?;
        let goes_on = || !sampling.is_finished() && !progress.stop.load(Ordering::Relaxed);
        let shown = match is_written {
            true => write(args, &parts, &goes_on),
            false => show(args, &parts, &goes_on),
        };
        let is_asked = sampling.is_finished() == progress.stop.load(Ordering::Relaxed);
        progress.stop.store(true, Ordering::Relaxed);
        let sampled = sampling.join();
        let sampled = sampled.map_err(|_| anyhow::anyhow!("sampling ended in a panic"))?;
        Ok::<_, anyhow::Error>((shown.map(|whole| whole || is_asked), sampled))
    })?;
    let cost = sampled?;
    if shown? {
        return Ok(ExitCode::SUCCESS);
    }
    let end = cost.changes.iter().any(|(_, change)| change.is_end());
    if end {
        say(&format!("process {} ended", wanted.target.pid));
    }
    Ok(if end { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn sample(wanted: &TopRequest, progress: &ProfileProgress) -> Result<ProfileCost, OpenError> {
    let process = LiveProcess::of(wanted.target.pid);
    process.profile(&wanted.profile, &wanted.options, progress).map(|(_, cost)| cost)
}

/// Writes tables one after the other; whether all that were asked for were.
fn write(
    args: &TopArgs,
    parts: &Receiver<ProfileWindow>,
    goes_on: &dyn Fn() -> bool,
) -> Result<bool> {
    const WORD: usize = 8;
    let format = output::format(args.json, args.color, WORD);
    let mut left = args.tables.unwrap_or(u64::MAX);
    while left > 0 {
        let Some(part) = next(parts, goes_on) else { return Ok(false) };
        let written = output::sink(format, args.color, None, None).and_then(|mut sink| {
            let words = words(&part, args.all);
            let mut table = Table::default();
            table.add(part);
            sink.put(&TopPart { table: &table, words: &words })?;
            for row in table.rows(args.sort, &args.filter).iter().take(args.limit) {
                sink.put(&TopFunction { table: &table, row })?;
            }
            sink.finish()
        });
        match written {
            Ok(_) => left = left.saturating_sub(1),
            Err(DcmdError::Closed) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// The next part; `None` when there is none any more.
fn next(parts: &Receiver<ProfileWindow>, goes_on: &dyn Fn() -> bool) -> Option<ProfileWindow> {
    loop {
        match parts.recv_timeout(TICK) {
            Ok(part) => return Some(part),
            Err(RecvTimeoutError::Timeout) if goes_on() => {}
            Err(_) => return None,
        }
    }
}

/// Shows a table that changes; whether the user ended it.
fn show(
    args: &TopArgs,
    parts: &Receiver<ProfileWindow>,
    goes_on: &dyn Fn() -> bool,
) -> Result<bool> {
    let keys = Terminal::open(&std::sync::Arc::default()).and_then(Terminal::one_by_one);
    let keys = keys.context("no terminal from which keys come: give -n N")?;
    let mut shown = TopScreen::new(args)?;
    while goes_on() {
        while let Ok(part) = parts.try_recv() {
            shown.add(part);
        }
        match shown.typed(&keys) {
            KeyAnswer::Quit => return Ok(true),
            KeyAnswer::Clear => shown.clear(),
            KeyAnswer::Redraw => {}
        }
        shown.draw()?;
    }
    Ok(false)
}

/// What the screen shows, and all that it may show.
struct TopScreen {
    screen: Screen,
    view: View,
    last: Table,
    whole: Table,
    words: String,
    /// Whether threads that wait count.
    all: bool,
    /// Whether the screen shows what there is.
    is_drawn: bool,
    size: Option<Size>,
}

impl TopScreen {
    fn new(args: &TopArgs) -> Result<Self> {
        Ok(Self {
            screen: Screen::enter().context("the terminal")?,
            view: View::new(args.sort, &args.filter),
            last: Table::default(),
            whole: Table::default(),
            words: "looking at the process ...".to_owned(),
            all: args.all,
            is_drawn: false,
            size: None,
        })
    }

    /// Adds what was seen, unless the table is to stand still.
    fn add(&mut self, part: ProfileWindow) {
        if self.view.is_paused {
            return;
        }
        self.words = words(&part, self.all);
        self.whole.add(part.clone());
        self.last = Table::default();
        self.last.add(part);
        self.is_drawn = false;
    }

    fn clear(&mut self) {
        (self.last, self.whole, self.is_drawn) = (Table::default(), Table::default(), false);
    }

    /// Waits for a key for a moment.
    fn typed(&mut self, keys: &Keys) -> KeyAnswer {
        let Some(first) = keys.next(TICK) else { return KeyAnswer::Redraw };
        let mut bytes = vec![first];
        while bytes.len() < MAX_TYPED
            && let Some(byte) = keys.next(Duration::ZERO)
        {
            bytes.push(byte);
        }
        self.is_drawn = false;
        self.view.typed(&bytes, screen::page(self.size.unwrap_or(USUAL_SIZE)))
    }

    fn draw(&mut self) -> Result<()> {
        let size = terminal::size();
        let has_changed = |one: Option<Size>, other: Option<Size>| {
            one.map(|it| (it.columns, it.rows)) != other.map(|it| (it.columns, it.rows))
        };
        if self.is_drawn && !has_changed(size, self.size) {
            return Ok(());
        }
        (self.size, self.is_drawn) = (size, true);
        let table = if self.view.is_whole { &self.whole } else { &self.last };
        let size = size.unwrap_or(USUAL_SIZE);
        self.screen.draw(&mut self.view, table, &self.words, size).context("the terminal")
    }
}

/// What is said of a part of the time.
fn words(part: &ProfileWindow, all: bool) -> String {
    let nanos = part.interval.as_nanos().saturating_mul(part.intervals.into());
    let covered = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
    let elapsed = part.elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
    let how = match &part.method {
        Method::Counters { .. } => String::new(),
        _ => format!(", stood still for {}", live::time(part.held)),
    };
    let lost = if part.lost > 0 { format!(", {} lost", part.lost) } else { String::new() };
    let share = covered.as_secs_f64() / elapsed;
    let what = match all {
        true => format!("{share:.1} threads"),
        false => format!("{:.0}% of a processor", share * 100.0),
    };
    format!(
        "{}: {what}, {} samples in {:.1} s{how}{lost}",
        kcore_render::sanitize::line(&part.program),
        part.samples,
        part.elapsed.as_secs_f64(),
    )
}
