//! A table: what was measured, how long it took, and how that compares with kcore.

use std::fmt;

use crate::measure::{Measured, Memory};

/// One thing that was measured.
pub struct Row {
    /// What.
    pub name: String,
    /// What it took, or why it was not measured.
    pub measured: Result<Measured, String>,
    /// Frames that it walked, where they were counted.
    pub frames: Option<usize>,
}

/// Things that do the same; the first is kcore.
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// A table of rows.
    pub fn new(rows: Vec<Row>) -> Self {
        Self { rows }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.rows.first().and_then(|row| row.measured.as_ref().ok());
        if base.is_some_and(|base| base.memory.is_some()) {
            writeln!(f, "  {:32} {:>12} {:>11} {:>9} {:>9}", "", "time", "x kcore", "RSS", "anon")?;
        }
        self.rows.iter().try_for_each(|row| writeln!(f, "{}", line(row, base)))
    }
}

fn line(row: &Row, base: Option<&Measured>) -> String {
    let measured = match &row.measured {
        Ok(measured) => measured,
        Err(reason) => return format!("  {:32} not measured: {reason}", row.name),
    };
    let seconds = measured.time.as_secs_f64();
    let mut line = format!("  {:32} {:>9.2} ms", row.name, seconds * 1e3);
    if let Some(base) = base {
        line.push_str(&format!(" {:>9.2} x", seconds / base.time.as_secs_f64()));
    }
    if let Some(Memory { resident, anonymous }) = measured.memory {
        let mib = |kib: u64| kib as f64 / 1024.0;
        line.push_str(&format!(" {:>6.1} MB {:>6.1} MB", mib(resident), mib(anonymous)));
    }
    if let Some(frames) = row.frames {
        let millions = frames as f64 / seconds / 1e6;
        line.push_str(&format!("  {frames} frames, {millions:.2} M/s"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn ratios_are_to_the_first_row() {
        let row = |name: &str, measured: Result<u64, &str>| Row {
            name: name.to_owned(),
            measured: measured
                .map(|millis| Measured { time: Duration::from_millis(millis), memory: None })
                .map_err(str::to_owned),
            frames: None,
        };
        let rows = vec![row("kcore", Ok(10)), row("peer", Ok(25)), row("other", Err("not there"))];
        let text = Table::new(rows).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("10.00 ms      1.00 x"), "{text}");
        assert!(lines[1].ends_with("25.00 ms      2.50 x"), "{text}");
        assert!(lines[2].ends_with("not measured: not there"), "{text}");
    }
}
