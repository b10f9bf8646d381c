//! What was seen of a process, as records.

use std::collections::BTreeMap;

use kcore::watch::{Place, PlaceFrame, Places, Watch, WatchedThread};
use kcore_dcmd::{Cell, DcmdError, Fields, Record, Sink, View};

/// The process as a whole.
struct WatchRecord<'a>(&'a Watch);

impl Record for WatchRecord<'_> {
    fn kind(&self) -> &'static str {
        "watch"
    }

    fn view(&self) -> View {
        View::Line(
            "{intervals} intervals, {millis} ms, {cpu_millis} ms on processors\nthreads {threads_before} -> {threads}, \
             RSS {rss_before?{rss_before}}{rss_before^unknown} -> {rss?{rss}}{rss^unknown} bytes, \
             descriptors {fds_before?{fds_before}}{fds_before^unknown} -> {fds?{fds}}{fds^unknown}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let change = self.0.change();
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).ok();
        out.num("intervals", self.0.intervals())
            .num("millis", millis(self.0.watched()))
            .num("cpu_millis", millis(self.0.ran()))
            .num("threads_before", change.threads[0])
            .num("threads", change.threads[1])
            .num("rss_before", change.resident[0])
            .num("rss", change.resident[1])
            .num("fds_before", change.descriptors[0])
            .num("fds", change.descriptors[1]);
    }
}

/// Threads that did the same, in the same frames.
struct WatchedStack<'a> {
    verdict: &'static str,
    threads: Vec<WatchedThread>,
    place: Option<&'a Place>,
}

impl Record for WatchedStack<'_> {
    fn kind(&self) -> &'static str {
        "watched_stack"
    }

    fn view(&self) -> View {
        View::Line("\n{words}: {tids}{waits_for? (waits for {waits_for})}{lines*\n    {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let tids = self.threads.iter().map(|thread| Cell::Num(thread.tid.get().into())).collect();
        let frames = self.place.map(|place| place.frames.as_slice()).unwrap_or_default();
        let lines = frames.iter().map(|frame| Cell::text(spelled(frame))).collect();
        let ran: Option<u64> =
            self.threads.iter().map(|it| u64::try_from(it.ran?.as_millis()).ok()).sum();
        out.text("verdict", self.verdict)
            .put("tids", Cell::List(tids))
            .num("cpu_millis", ran)
            .opt_text("waits_for", self.place.and_then(|place| place.waits_for.as_deref()))
            .put("frames", Cell::List(frames.iter().map(cell).collect()))
            .display("words", Cell::text(words(self.verdict)))
            .display("lines", Cell::List(lines));
    }
}

fn words(verdict: &str) -> &'static str {
    match verdict {
        "stood_still" => "did not run",
        "same_frames" => "ran, and each snapshot found the same frames",
        "common_frames" => "ran, and each snapshot found these outer frames",
        "not_counted" => "not known whether it ran",
        _ => "ran, and nothing is known to be common",
    }
}

fn verdict(thread: &WatchedThread, place: Option<&Place>, snapshots: u64) -> &'static str {
    match place {
        _ if thread.stood_still => "stood_still",
        // Only time on a processor proves that it ran.
        _ if thread.ran.is_none_or(|ran| ran.is_zero()) => "not_counted",
        // One snapshot has nothing to be compared with.
        Some(place) if snapshots > 1 && !place.frames.is_empty() => {
            if place.is_same {
                "same_frames"
            } else {
                "common_frames"
            }
        }
        _ => "ran",
    }
}

fn spelled(frame: &PlaceFrame) -> String {
    let name = frame.function.as_deref().unwrap_or("<unknown>");
    let place = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        _ => String::new(),
    };
    format!("{name}{place}{}", if frame.is_guess { " [guessed]" } else { "" })
}

fn cell(frame: &PlaceFrame) -> Cell<'static> {
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

/// Puts the process, and its threads by what they did, the most first.
pub(super) fn put(watch: &Watch, places: &Places, sink: &mut dyn Sink) -> Result<(), DcmdError> {
    sink.put(&WatchRecord(watch))?;
    let mut groups: BTreeMap<String, WatchedStack<'_>> = BTreeMap::new();
    for thread in watch.threads() {
        let place = places.of(thread.tid);
        let verdict = verdict(&thread, place, places.snapshots());
        let lines: Vec<String> = place.iter().flat_map(|it| &it.frames).map(spelled).collect();
        let waits = place.and_then(|place| place.waits_for.as_deref());
        let new = || WatchedStack { verdict, threads: Vec::new(), place };
        groups
            .entry(format!("{verdict} {waits:?} {lines:?}"))
            .or_insert_with(new)
            .threads
            .push(thread);
    }
    let mut groups: Vec<WatchedStack<'_>> = groups.into_values().collect();
    groups.sort_by_key(|group| {
        (group.verdict != "stood_still", std::cmp::Reverse(group.threads.len()))
    });
    groups.iter().try_for_each(|group| sink.put(group))
}
