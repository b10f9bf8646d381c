//! What was seen of the functions of a process, added up and put in order.

use std::collections::HashMap;
use std::time::Duration;

use kcore::ProfileWindow;
use kcore::profile::ProfileFunction;

use super::args::Order;

/// What was counted of a function, as times.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    own: Duration,
    total: Duration,
}

/// Some parts of the time, added up.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    functions: HashMap<ProfileFunction, Times>,
    /// How long they were.
    pub(super) elapsed: Duration,
    /// What the stacks of all threads stand for.
    pub(super) covered: Duration,
    pub(super) held: Duration,
    pub(super) samples: u64,
    pub(super) lost: u64,
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) function: ProfileFunction,
    /// Time in the function itself.
    pub(super) own: Duration,
    /// Time in it and in what it calls.
    pub(super) total: Duration,
}

impl Table {
    /// Adds a part.
    pub(super) fn add(&mut self, window: ProfileWindow) {
        let time = |intervals: u64| {
            let nanos = window.interval.as_nanos().saturating_mul(intervals.into());
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        self.elapsed = self.elapsed.saturating_add(window.elapsed);
        self.covered = self.covered.saturating_add(time(window.intervals));
        self.held = self.held.saturating_add(window.held);
        self.samples = self.samples.saturating_add(window.samples);
        self.lost = self.lost.saturating_add(window.lost);
        for count in window.functions {
            let times = self.functions.entry(count.function).or_default();
            times.own = times.own.saturating_add(time(count.own));
            times.total = times.total.saturating_add(time(count.total));
        }
    }

    /// A time in percent of all that is over.
    pub(super) fn percent(&self, time: Duration) -> f64 {
        match self.elapsed.as_secs_f64() {
            elapsed if elapsed > 0.0 => time.as_secs_f64() / elapsed * 100.0,
            _ => 0.0,
        }
    }

    /// The functions that have a text in their name or place, in order.
    pub(super) fn rows(&self, order: Order, filter: &str) -> Vec<Row> {
        let filter = filter.to_lowercase();
        let meant = self.functions.iter().filter(|(function, _)| has(function, &filter));
        let mut rows: Vec<Row> = meant
            .map(|(function, Times { own, total })| Row {
                function: function.clone(),
                own: *own,
                total: *total,
            })
            .collect();
        let keys = |row: &Row| match order {
            Order::Own => [row.own, row.total],
            Order::Total => [row.total, row.own],
        };
        rows.sort_by(|one, other| {
            keys(other).cmp(&keys(one)).then_with(|| name(one).cmp(&name(other)))
        });
        rows
    }
}

fn name(row: &Row) -> (&str, Option<&str>, Option<&str>) {
    (&row.function.name, row.function.module.as_deref(), row.function.file.as_deref())
}

fn has(function: &ProfileFunction, filter: &str) -> bool {
    let texts = [Some(&function.name), function.module.as_ref(), function.file.as_ref()];
    texts.into_iter().flatten().any(|text| text.to_lowercase().contains(filter))
}

impl Row {
    /// Where the function is from: the file of a script, else the module.
    pub(super) fn place(&self) -> Option<&str> {
        self.function.file.as_deref().or(self.function.module.as_deref())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use kcore::Method;
    use kcore::profile::FunctionCount;

    use super::*;

    fn count(name: &str, own: u64, total: u64) -> FunctionCount {
        let file = (name == "g").then(|| "/srv/App.py".into());
        let script = file.as_ref().map(|_| "python");
        let function =
            ProfileFunction { name: name.into(), module: Some("app".into()), file, script };
        FunctionCount { function, own, total }
    }

    /// A second: of seven tenths `main` ran, which called `f` for five of them and `g` for two.
    pub(crate) fn window() -> ProfileWindow {
        ProfileWindow {
            elapsed: Duration::from_secs(1),
            functions: vec![count("main", 0, 7), count("g", 2, 2), count("f", 5, 5)],
            intervals: 7,
            interval: Duration::from_millis(100),
            samples: 7,
            lost: 1,
            held: Duration::from_millis(3),
            program: "app".to_owned(),
            method: Method::Stops,
        }
    }

    fn names(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| &*row.function.name).collect()
    }

    #[test]
    fn functions_are_in_order_with_their_share_of_a_processor() {
        let mut table = Table::default();
        table.add(window());
        let rows = table.rows(Order::Own, "");
        assert_eq!(names(&rows), ["f", "g", "main"]);
        let percent = |time| table.percent(time).round();
        assert_eq!((percent(rows[0].own), percent(rows[2].total)), (50.0, 70.0));
        assert_eq!(names(&table.rows(Order::Total, "")), ["main", "f", "g"]);
        assert_eq!(table.percent(table.covered).round(), 70.0);
    }

    #[test]
    fn parts_of_the_time_add_up_to_their_mean() {
        let mut table = Table::default();
        table.add(window());
        table.add(ProfileWindow { functions: Vec::new(), intervals: 0, ..window() });
        assert_eq!(table.percent(table.rows(Order::Own, "")[0].own).round(), 25.0);
        assert_eq!((table.samples, table.lost), (14, 2));
    }

    #[test]
    fn a_filter_looks_at_names_and_places() {
        let mut table = Table::default();
        table.add(window());
        assert_eq!(names(&table.rows(Order::Own, "APP.py")), ["g"]);
        assert_eq!(names(&table.rows(Order::Own, "Mai")), ["main"]);
        assert!(table.rows(Order::Own, "nothing").is_empty());
        assert!(Table::default().rows(Order::Own, "").is_empty());
    }
}
