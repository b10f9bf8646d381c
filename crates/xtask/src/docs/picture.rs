//! `docs/session.svg`: a terminal with what kcore really prints.

use anyhow::Result;

use super::transcript::{self, Run};

/// What is typed.
const SESSION: &[&str] = &[
    "$ kcore testdata/workers/x86_64/core.zst",
    "> ::status",
    "> $C",
    "> <rsp,4/nap",
    "> parse_header+1d::dis -n 2",
];

const LINE: usize = 17;
const LETTER: f64 = 7.8;
const MARGIN: usize = 16;

const STYLE: &str = "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;\
                     fill:#d8dee9;white-space:pre}.typed{fill:#a3e07b;font-weight:bold}";

/// The picture.
pub fn text(run: Run<'_>) -> Result<String> {
    Ok(draw(&transcript::show(SESSION, false, run)?))
}

fn draw(session: &str) -> String {
    let lines: Vec<&str> = session.lines().collect();
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = (longest as f64 * LETTER).ceil() as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let rows: String = lines.iter().enumerate().map(|(index, line)| row(index, line)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>A session of kcore on the core of a job server</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1d2330\"/>\n{rows}</svg>\n"
    )
}

/// One line of the terminal, none where it is empty.
fn row(index: usize, line: &str) -> String {
    if line.is_empty() {
        return String::new();
    }
    let y = MARGIN + index * LINE + LINE * 3 / 4;
    let class = if line.starts_with(['$', '>']) { " class=\"typed\"" } else { "" };
    format!(
        "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\"{class}>{}</text>\n",
        escaped(line)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rows_of_text() {
        let picture = draw("$ a\n\n<b> & c");
        assert!(picture.contains("class=\"typed\">$ a</text>"), "{picture}");
        assert!(picture.contains(">&lt;b&gt; &amp; c</text>"), "{picture}");
        assert_eq!(picture.matches("<text").count(), 2);
        assert!(picture.contains("height=\"83\""), "{picture}");
    }
}
