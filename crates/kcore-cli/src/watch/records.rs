//! What threads of a watched process did, by the frames in which they were found.

use std::{collections::BTreeMap, time::Duration};

use kcore::watch::{CommonFrame, CommonStack, CommonStacks, Watch, WatchedThread};
use kcore_dcmd::{Cell, DcmdError, Fields, Record, Sink, View};

use super::watched_process::millis;
use crate::live;

/// Threads that text names, at most: JSON names all.
const NAMED: usize = 12;

/// What is known of what a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// It did not run in any interval.
    StoodStill,
    /// It did not run in the last intervals.
    StandsStill,
    /// It ran, and all snapshots found the same frames.
    SameFrames,
    /// It ran, and all snapshots found the same outer frames.
    CommonFrames,
    /// It ran.
    Ran,
    /// It came while kcore watched.
    Came,
    /// The system counted no time on a processor.
    NotCounted,
}

impl Verdict {
    fn of(thread: &WatchedThread, place: Option<&CommonStack>, snapshots: u64) -> Self {
        let has_frames = place.is_some_and(|place| !place.frames.is_empty());
        // One snapshot has nothing to be compared with, but is taken at the end.
        let is_compared = snapshots > 1;
        match thread {
            _ if thread.stood_still => Self::StoodStill,
            _ if !is_compared && !thread.still_for.is_zero() => Self::StandsStill,
            _ if !thread.is_old => Self::Came,
            // Only time on a processor proves that it ran.
            _ if thread.ran.is_none_or(|ran| ran.is_zero()) => Self::NotCounted,
            _ if !is_compared || !has_frames => Self::Ran,
            _ if place.is_some_and(|place| place.is_same) => Self::SameFrames,
            _ => Self::CommonFrames,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::StoodStill => "stood_still",
            Self::StandsStill => "stands_still",
            Self::SameFrames => "same_frames",
            Self::CommonFrames => "common_frames",
            Self::Ran => "ran",
            Self::Came => "came",
            Self::NotCounted => "not_counted",
        }
    }
}

/// Threads that did the same, in the same frames.
struct WatchedStack<'a> {
    verdict: Verdict,
    threads: Vec<WatchedThread>,
    place: Option<&'a CommonStack>,
    /// Snapshots that the frames are of.
    snapshots: u64,
}

impl WatchedStack<'_> {
    fn ran(&self) -> Option<Duration> {
        self.threads.iter().map(|thread| thread.ran).sum()
    }

    fn still_for(&self) -> Duration {
        self.threads.iter().map(|thread| thread.still_for).min().unwrap_or_default()
    }

    fn waits_for(&self) -> Option<&str> {
        self.place.and_then(|place| place.waits_for.as_deref())
    }

    /// What its threads did, as a sentence that begins with their number.
    fn words(&self) -> String {
        let ran = self.ran().map(|time| format!("{} on processors", spelled_time(time)));
        let ran = ran.unwrap_or_else(|| "for an unknown time".to_owned());
        let did = match self.verdict {
            Verdict::StoodStill => "did not run".to_owned(),
            Verdict::StandsStill => {
                format!("did not run for the last {:.1} s", self.still_for().as_secs_f64())
            }
            Verdict::SameFrames => format!("ran ({ran}), each snapshot found the same frames"),
            Verdict::CommonFrames => format!("ran ({ran}), each snapshot found these outer frames"),
            Verdict::Ran if self.snapshots > 1 => format!("ran ({ran}), in frames that changed"),
            Verdict::Ran => format!("ran ({ran})"),
            Verdict::Came => "came meanwhile".to_owned(),
            Verdict::NotCounted => "may have run: no time on a processor was counted".to_owned(),
        };
        let waits = self.waits_for().map(|what| match self.verdict {
            Verdict::StoodStill | Verdict::StandsStill => format!(", waits for {what}"),
            // Only the last snapshot tells.
            _ => format!(", last seen waiting for {what}"),
        });
        let waits = waits.unwrap_or_default();
        match self.threads.len() {
            1 => format!("1 thread {did}{waits}"),
            count => format!("{count} threads {did}{waits}"),
        }
    }

    fn named(&self) -> String {
        let tids = self.threads.iter().map(|thread| thread.tid.to_string());
        let shown: Vec<String> = tids.take(NAMED).collect();
        let more = self.threads.len().saturating_sub(shown.len());
        match more {
            0 => shown.join(", "),
            _ => format!("{} and {more} more", shown.join(", ")),
        }
    }

    fn lines(&self) -> Vec<Cell<'static>> {
        let Some(place) = self.place else { return Vec::new() };
        let cut = (!place.is_same && !place.frames.is_empty()).then_some("...");
        let end = (!place.is_complete && !place.frames.is_empty()).then_some("-- not whole");
        let frames = place.frames.iter().map(spelled);
        let lines = cut.map(str::to_owned).into_iter().chain(frames);
        lines.chain(end.map(str::to_owned)).map(Cell::text).collect()
    }
}

impl Record for WatchedStack<'_> {
    fn kind(&self) -> &'static str {
        "watched_stack"
    }

    fn view(&self) -> View {
        View::Line("\n{words}: {named}{lines*\n    {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let tids = self.threads.iter().map(|thread| Cell::Num(thread.tid.get().into())).collect();
        let frames = self.place.map(|place| place.frames.as_slice()).unwrap_or_default();
        out.text("verdict", self.verdict.name())
            .put("tids", Cell::List(tids))
            .num("cpu_millis", self.ran().and_then(millis))
            .num("still_millis", millis(self.still_for()))
            .opt_text("waits_for", self.waits_for())
            .put("frames", Cell::List(frames.iter().map(cell).collect()))
            .put("all_frames", Cell::or_null(self.place.map(|place| place.is_same), Cell::Bool))
            .put("complete", Cell::or_null(self.place.map(|place| place.is_complete), Cell::Bool))
            .display("words", Cell::text(self.words()))
            .display("named", Cell::text(self.named()))
            .display("lines", Cell::List(self.lines()));
    }
}

/// A time as people say it.
fn spelled_time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        live::time(time)
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

fn spelled(frame: &CommonFrame) -> String {
    let name = frame.function.as_deref().unwrap_or("<unknown>");
    let guess = if frame.is_guess { " [guessed]" } else { "" };
    match (&frame.file, frame.line, &frame.module) {
        (Some(file), Some(line), _) => format!("{name} at {file}:{line}{guess}"),
        (_, _, Some(module)) => format!("{module}`{name}{guess}"),
        _ => format!("{name}{guess}"),
    }
}

fn cell(frame: &CommonFrame) -> Cell<'static> {
    let text = |text: &Option<std::sync::Arc<str>>| {
        Cell::or_null(text.as_deref().map(str::to_owned), Cell::text)
    };
    Cell::Object(vec![
        ("function", text(&frame.function)),
        ("module", text(&frame.module)),
        ("file", text(&frame.file)),
        ("line", Cell::or_null(frame.line.map(u64::from), Cell::Num)),
        ("guess", Cell::Bool(frame.is_guess)),
    ])
}

/// Puts the threads by what they did, those that stood still first, and of these the most first.
pub(super) fn put(
    watch: &Watch,
    places: &CommonStacks,
    sink: &mut dyn Sink,
) -> Result<(), DcmdError> {
    let snapshots = places.snapshots();
    let mut groups: BTreeMap<String, WatchedStack<'_>> = BTreeMap::new();
    for thread in watch.threads() {
        let place = places.of(thread.tid).filter(|_| thread.is_old || snapshots == 1);
        let verdict = Verdict::of(&thread, place, snapshots);
        let place_key = place.map(|place| (&place.waits_for, &place.frames, place.is_same));
        let new = || WatchedStack { verdict, threads: Vec::new(), place, snapshots };
        let group = groups.entry(format!("{verdict:?} {place_key:?}")).or_insert_with(new);
        group.threads.push(thread);
    }
    let mut groups: Vec<WatchedStack<'_>> = groups.into_values().collect();
    groups.sort_by_key(|group| (group.verdict, std::cmp::Reverse(group.threads.len())));
    groups.iter().try_for_each(|group| sink.put(group))
}

#[cfg(test)]
mod tests {
    use kcore::Tid;

    use super::*;

    fn thread(ran: u64) -> WatchedThread {
        WatchedThread {
            tid: Tid::new(7),
            name: "a".to_owned(),
            is_old: true,
            stood_still: false,
            still_for: Duration::ZERO,
            ran: Some(Duration::from_nanos(ran)),
        }
    }

    fn place(is_same: bool) -> CommonStack {
        let frame = CommonFrame {
            function: Some("spin".into()),
            module: Some("libspin.so".into()),
            file: None,
            line: None,
            is_guess: false,
        };
        CommonStack {
            frames: vec![frame],
            is_same,
            is_complete: true,
            waits_for: None,
            snapshots: 2,
        }
    }

    #[test]
    fn nothing_is_claimed_that_was_not_counted() {
        let (same, other) = (place(true), place(false));
        let still = Duration::from_secs(1);
        let stood = WatchedThread { stood_still: true, still_for: still, ..thread(0) };
        let stands = WatchedThread { still_for: still, ..thread(5) };
        let new = WatchedThread { is_old: false, ..thread(5) };
        let unknown = WatchedThread { ran: None, ..thread(5) };
        for (thread, place, snapshots, verdict) in [
            (&stood, Some(&same), 2, Verdict::StoodStill),
            (&stands, Some(&same), 1, Verdict::StandsStill),
            (&stands, Some(&same), 2, Verdict::SameFrames),
            (&thread(5), Some(&other), 2, Verdict::CommonFrames),
            (&thread(5), None, 2, Verdict::Ran),
            (&thread(5), Some(&same), 1, Verdict::Ran),
            (&thread(0), Some(&same), 2, Verdict::NotCounted),
            (&unknown, Some(&same), 2, Verdict::NotCounted),
            (&new, Some(&same), 2, Verdict::Came),
        ] {
            assert_eq!(Verdict::of(thread, place, snapshots), verdict, "{thread:?} {place:?}");
        }
    }

    #[test]
    fn frames_that_differ_are_cut_with_a_mark() {
        let other = place(false);
        let threads = (0..20).map(|_| thread(5)).collect();
        let verdict = Verdict::CommonFrames;
        let stack = WatchedStack { verdict, threads, place: Some(&other), snapshots: 2 };
        let lines = stack.lines();
        assert_eq!(lines, [Cell::text("..."), Cell::text("libspin.so`spin")]);
        assert!(stack.named().ends_with("7, 7 and 8 more"), "{}", stack.named());
    }
}
