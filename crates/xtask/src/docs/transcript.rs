//! Transcripts: blocks in which commands stand with what they print.
//!
//! A line `$ ...` is run by a shell. Lines `> ...` after it are typed into the kcore that it starts.

use anyhow::{Context, Result, bail};

use super::blocks;

/// All that is shown for a line of the shell and what is typed into it.
pub struct Transcript {
    pub text: String,
    pub is_success: bool,
}

/// What runs a line of the shell with what is typed into it.
pub type Run<'a> = &'a dyn Fn(&str, &str) -> Result<Transcript>;

const FENCE: &str = "```";

/// The names of the blocks, and whether their commands fail.
const BLOCKS: [(&str, bool); 2] = [("transcript", false), ("transcript of a failure", true)];

/// A line of the shell, and what is typed into it.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    line: String,
    typed: Vec<String>,
}

/// The document with all its transcripts as they should be.
pub fn refresh(document: &str, run: Run<'_>) -> Result<String> {
    BLOCKS.iter().try_fold(document.to_owned(), |document, &(name, fails)| {
        blocks::rewrite(&document, name, |content| {
            let lines: Vec<&str> =
                content.lines().filter(|line| !line.starts_with(FENCE)).collect();
            Ok(format!("{FENCE}text\n{}\n{FENCE}\n", show(&lines, fails, run)?))
        })
    })
}

/// The commands among `lines` with what they print today.
pub fn show(lines: &[&str], fails: bool, run: Run<'_>) -> Result<String> {
    let entries = entries(lines);
    let shown = entries.iter().map(|entry| entry.show(fails, run)).collect::<Result<Vec<_>>>()?;
    Ok(shown.join("\n"))
}

fn entries(lines: &[&str]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in lines {
        if let Some(line) = line.strip_prefix("$ ") {
            entries.push(Entry { line: line.to_owned(), typed: Vec::new() });
        } else if let (Some(typed), Some(entry)) = (typed(line), entries.last_mut()) {
            entry.typed.push(typed.to_owned());
        }
    }
    entries
}

/// What is typed at the prompt. The list of threads has lines that begin with `>` and two blanks.
fn typed(line: &str) -> Option<&str> {
    line.strip_prefix("> ").filter(|typed| !typed.starts_with(' '))
}

impl Entry {
    fn show(&self, fails: bool, run: Run<'_>) -> Result<String> {
        let counts = 0..=self.typed.len();
        let shown = counts.map(|count| self.run(count, run)).collect::<Result<Vec<_>>>()?;
        let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
            bail!("{}: nothing was run", self.line)
        };
        if last.is_success == fails {
            bail!("{}: succeeded: {}: {}", self.line, last.is_success, last.text);
        }
        let mut text = format!("$ {}\n{}", self.line, first.text);
        for (typed, pair) in self.typed.iter().zip(shown.windows(2)) {
            text.push_str(&format!("> {typed}\n{}", added(pair).context(typed.clone())?));
        }
        Ok(without_blank_ends(&text))
    }

    /// Runs the line with the first `count` lines typed into it.
    fn run(&self, count: usize, run: Run<'_>) -> Result<Transcript> {
        let lines = self.typed.iter().take(count);
        run(&self.line, &lines.map(|line| format!("{line}\n")).collect::<String>())
    }
}

/// What one more typed line added.
fn added(pair: &[Transcript]) -> Result<&str> {
    let [before, after] = pair else { bail!("one of two is missing") };
    after.text.strip_prefix(before.text.as_str()).context("what was shown before differs")
}

fn without_blank_ends(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the line and, for each line that is typed, that one. `bad` fails.
    fn echo(line: &str, typed: &str) -> Result<Transcript> {
        let answers = typed.lines().map(|typed| format!("<{typed}>  \n"));
        let text = format!("[{line}]\n{}", answers.collect::<String>());
        Ok(Transcript { text, is_success: line != "bad" })
    }

    #[test]
    fn commands_are_run_and_their_old_output_is_dropped() {
        let lines = ["$ a", "old", "$ b", "> 1", "old", "> 2"];
        let wanted = "$ a\n[a]\n$ b\n[b]\n> 1\n<1>\n> 2\n<2>";
        assert_eq!(show(&lines, false, &echo).unwrap(), wanted);
    }

    #[test]
    fn only_a_block_of_failures_may_fail() {
        assert!(show(&["$ bad"], false, &echo).is_err());
        assert_eq!(show(&["$ bad"], true, &echo).unwrap(), "$ bad\n[bad]");
        assert!(show(&["$ a"], true, &echo).is_err());
    }

    #[test]
    fn the_mark_of_the_current_thread_is_no_prompt() {
        let lines = ["$ a", "> ::threads", ">*    23186 SIGSEGV", ">     23182"];
        let wanted = Entry { line: "a".into(), typed: vec!["::threads".into()] };
        assert_eq!(entries(&lines), [wanted]);
    }

    #[test]
    fn a_block_keeps_its_fence() {
        let document =
            "x\n<!-- begin: transcript -->\n```text\n$ a\n```\n<!-- end: transcript -->\n";
        let wanted = document.replace("$ a\n", "$ a\n[a]\n");
        assert_eq!(refresh(document, &echo).unwrap(), wanted);
        assert_eq!(refresh(&wanted, &echo).unwrap(), wanted);
    }

    #[test]
    fn what_differs_from_run_to_run_is_an_error() {
        let vary = |_: &str, typed: &str| {
            Ok(Transcript { text: format!("{}\n", typed.len()), is_success: true })
        };
        assert!(show(&["$ a", "> 1"], false, &vary).is_err());
    }
}
