//! A table of times: what was measured, how long it took, and how that compares with kcore.

use std::{fmt, time::Duration};

/// One thing that was measured.
pub struct Row {
    /// What.
    pub name: String,
    /// How long it took, or why it was not measured.
    pub time: Result<Duration, String>,
    /// Frames that it walked, where they were counted.
    pub frames: Option<usize>,
}

/// Things that do the same; the first is kcore.
pub struct Table {
    /// What they do.
    pub title: String,
    /// The things.
    pub rows: Vec<Row>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        let base = self.rows.first().and_then(|row| row.time.as_ref().ok());
        self.rows.iter().try_for_each(|row| writeln!(f, "{}", line(row, base)))
    }
}

fn line(row: &Row, base: Option<&Duration>) -> String {
    let time = match &row.time {
        Ok(time) => time,
        Err(reason) => return format!("  {:32} not measured: {reason}", row.name),
    };
    let mut line = format!("  {:32} {:>10.2} ms", row.name, time.as_secs_f64() * 1e3);
    if let Some(base) = base {
        line.push_str(&format!(" {:>9.2} x", time.as_secs_f64() / base.as_secs_f64()));
    }
    if let Some(frames) = row.frames {
        let millions = frames as f64 / time.as_secs_f64() / 1e6;
        line.push_str(&format!("  {frames} frames, {millions:.2} M/s"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_to_the_first_row() {
        let row = |name: &str, time| Row { name: name.to_owned(), time, frames: None };
        let rows = vec![
            row("kcore", Ok(Duration::from_millis(10))),
            row("peer", Ok(Duration::from_millis(25))),
            row("other", Err("not installed".to_owned())),
        ];
        let text = Table { title: "stacks".to_owned(), rows }.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].ends_with("10.00 ms      1.00 x"), "{text}");
        assert!(lines[2].ends_with("25.00 ms      2.50 x"), "{text}");
        assert!(lines[3].ends_with("not measured: not installed"), "{text}");
    }
}
