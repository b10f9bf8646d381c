//! `::gotimers`: the timers of Go.

use kcore::go::{Timer, TimerAction, TimerBubble};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use super::subject;

/// Lists the timers of Go that will fire.
pub struct Gotimers;

const HELP: &str = "\
DEADLINE is seconds of the system's monotonic clock; the timer that is due first comes first. EVERY is the period of a \
ticker, in seconds.\n\n\
WHAT says what happens then. `sleep` wakes a goroutine from time.Sleep. `channel` sends the time to a channel, for \
which goroutines wait. `function` calls a function, as time.AfterFunc does; the ends of contexts are such. `io` ends \
what waits for a file descriptor. `runtime` is the runtime's own.\n\n\
A bubble of testing/synctest has a clock of its own, which begins with the year 2000 and stands still while one of its \
goroutines runs. Its timers come behind the others: DEADLINE is seconds of that clock since 1970, and FOR says how far \
away that is.\n\n\
A timer that was stopped is not listed. Since Go 1.23 a timer with a channel is known only while a goroutine waits \
for the channel.";

impl Dcmd for Gotimers {
    fn spec(&self) -> Spec {
        Spec::new("gotimers", Group::Runtimes, "list the timers of Go, and who waits for them")
            .help(HELP)
            .examples(&[Example {
                line: "::gotimers",
                shows: "every timer that will fire, the first one first",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        for go in subject::schedulers(core)? {
            let timers = go.timers(core.as_ref()).map_err(DcmdError::failed)?;
            for timer in timers.all {
                cx.check_interrupt()?;
                cx.emit(&TimerRecord(timer))?;
            }
            if timers.damaged > 0 {
                cx.note(&format!("{} timers cannot be read", timers.damaged))?;
            }
        }
        Ok(())
    }
}

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;
/// Goroutines that are shown of those that wait for a channel.
const SHOWN: usize = 16;

/// A number of nanoseconds in seconds, with all its digits.
pub fn seconds(nanoseconds: u64) -> String {
    format!("{}.{:09}", nanoseconds / SECOND, nanoseconds % SECOND)
}

/// The numbers of goroutines in a line.
pub fn shown_goroutines(all: &[u64]) -> Option<String> {
    let shown: Vec<String> = all.iter().take(SHOWN).map(u64::to_string).collect();
    let rest = all.len().saturating_sub(SHOWN);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!all.is_empty()).then(|| shown.join(" ") + &more)
}

struct TimerRecord(Timer);

impl TimerRecord {
    fn what(&self) -> &'static str {
        match self.0.action {
            TimerAction::Wakes(_) => "sleep",
            TimerAction::Sends { .. } => "channel",
            TimerAction::Calls { .. } => "function",
            TimerAction::EndsIo { .. } => "io",
            TimerAction::Runs(_) => "runtime",
        }
    }

    fn goroutines(&self) -> &[u64] {
        match &self.0.action {
            TimerAction::Wakes(goroutine) => goroutine.as_slice(),
            TimerAction::Sends { waiting, .. } => waiting,
            _ => &[],
        }
    }

    /// What it is for, and the bubble that it belongs to.
    fn shown(&self) -> Option<String> {
        let shown = [self.shown_action(), self.0.bubble.map(|bubble| self.shown_bubble(bubble))];
        let shown: Vec<String> = shown.into_iter().flatten().collect();
        (!shown.is_empty()).then(|| shown.join(", "))
    }

    fn shown_bubble(&self, bubble: TimerBubble) -> String {
        let id = bubble.id.map(|id| format!(" {id}")).unwrap_or_default();
        let away = self.0.when.saturating_sub(bubble.now);
        format!("in {} s of bubble{id}", seconds(away))
    }

    fn shown_action(&self) -> Option<String> {
        let goroutines = shown_goroutines(self.goroutines());
        let goroutines = goroutines.map(|all| format!("goroutine {all}"));
        match &self.0.action {
            TimerAction::Wakes(_) => goroutines,
            TimerAction::Sends { channel, .. } => {
                Some(format!("{channel:x}, {}", goroutines.as_deref().unwrap_or("nobody waits")))
            }
            TimerAction::Calls { function, .. } | TimerAction::Runs(function) => {
                function.as_deref().map(str::to_owned)
            }
            TimerAction::EndsIo { descriptor, side } => Some(format!("fd {descriptor}, {side}")),
        }
    }
}

const COLUMNS: &[Column] = &[
    Column::right("timer", "TIMER", 16),
    Column::right("shown_deadline", "DEADLINE", 20),
    Column::right("shown_period", "EVERY", 14),
    Column::left("what", "WHAT", 8),
    Column::left("shown_for", "FOR", 0),
];

impl Record for TimerRecord {
    fn kind(&self) -> &'static str {
        "go_timer"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let timer = &self.0;
        let (channel, function, descriptor) = match &timer.action {
            TimerAction::Sends { channel, .. } => (Some(*channel), None, None),
            TimerAction::Calls { function, .. } | TimerAction::Runs(function) => {
                (None, function.as_deref(), None)
            }
            TimerAction::EndsIo { descriptor, .. } => (None, None, Some(*descriptor)),
            TimerAction::Wakes(_) => (None, None, None),
        };
        let goroutines = self.goroutines().iter().map(|id| Cell::Num(*id)).collect();
        let text = |text: Option<String>| Cell::text(text.unwrap_or_default());
        out.addr("timer", timer.at)
            .num("deadline", timer.when)
            .num("period", timer.period)
            .text("what", self.what())
            .put("goroutines", Cell::List(goroutines))
            .addr("channel", channel)
            .opt_text("function", function)
            .num("fd", descriptor)
            .num("bubble", timer.bubble.and_then(|bubble| bubble.id))
            .num("bubble_clock", timer.bubble.map(|bubble| bubble.now))
            .display("shown_deadline", Cell::text(seconds(timer.when)))
            .display("shown_period", text(timer.period.map(seconds)))
            .display("shown_for", text(self.shown()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_nine_digits_behind_the_point() {
        assert_eq!(seconds(67_961_692_659_552), "67961.692659552");
        assert_eq!((seconds(0), seconds(5)), ("0.000000000".to_owned(), "0.000000005".to_owned()));
    }
}
