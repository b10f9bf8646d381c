//! The course of the tutorial: which question is next, what a line means, and the score.

use std::sync::Arc;

use kcore::Core;
use kcore_dcmd::{Fields, Record, Result, Sink, View};
use kcore_shell::{Session, Source, Status, Stop};

use super::questions::{QUESTIONS, Question};

/// Wrong answers to one question after which a hint comes by itself.
const PATIENCE: usize = 2;

const WELCOME: &str = "\
A job server in small died, and left a core. Ten questions lead you through it.
Type commands as in any session, and answer with = and what you found:

  = ANSWER  answers the question
  hint      helps with it
  skip      goes on to the next one
  quit      leaves";

/// How far a user is.
pub(super) struct Lesson {
    core: Arc<Core>,
    /// The questions that are left, the next one first.
    left: &'static [Question],
    /// Wrong answers to the next question.
    wrong: usize,
    right: usize,
    skipped: usize,
}

/// What a line means.
#[derive(Debug, PartialEq, Eq)]
enum Typed<'a> {
    Answer(&'a str),
    Hint,
    Skip,
    Quit,
    Command,
}

impl<'a> Typed<'a> {
    fn of(line: &'a str) -> Self {
        let line = line.trim();
        match line {
            "hint" => Self::Hint,
            "skip" => Self::Skip,
            "quit" | "exit" => Self::Quit,
            "=" => Self::Answer(""),
            // Without the blank it is the language's: =K shows dot.
            _ => line.strip_prefix("= ").map_or(Self::Command, Self::Answer),
        }
    }
}

impl Lesson {
    /// All questions about a core.
    pub(super) const fn new(core: Arc<Core>) -> Self {
        Self { core, left: QUESTIONS, wrong: 0, right: 0, skipped: 0 }
    }

    /// Welcomes the user, and asks the first question.
    ///
    /// # Errors
    /// When nobody reads.
    pub(super) fn begin(&self, sink: &mut dyn Sink) -> Result<()> {
        say(sink, WELCOME)?;
        self.ask(sink)
    }

    /// Takes a line: an answer, a word of the tutorial, or a command.
    pub(super) fn line(
        &mut self,
        session: &mut Session,
        line: &str,
        sink: &mut dyn Sink,
    ) -> Status {
        let said = match Typed::of(line) {
            Typed::Command => return session.eval_from(Source::Terminal, line, sink),
            Typed::Quit => return Status::stopped(Stop::Quit),
            Typed::Answer(answer) => self.check(answer, sink),
            Typed::Hint => self.hint(sink),
            Typed::Skip => self.skip(sink),
        };
        match said {
            Err(_) => Status::stopped(Stop::Closed),
            Ok(()) if self.left.is_empty() => Status::stopped(Stop::Quit),
            Ok(()) => Status::DONE,
        }
    }

    /// Says how many answers were right.
    ///
    /// # Errors
    /// When nobody reads.
    pub(super) fn end(&self, sink: &mut dyn Sink) -> Result<()> {
        let (right, skipped, left) = (self.right, self.skipped, self.left.len());
        let all = QUESTIONS.len();
        let score =
            format!("\n{right} of {all} questions answered, {skipped} skipped, {left} left.");
        say(sink, &score)?;
        say(
            sink,
            "Go on with the tour and the cookbook in docs/book, or with a core of your own: kcore CORE",
        )
    }

    fn ask(&self, sink: &mut dyn Sink) -> Result<()> {
        let Some(question) = self.left.first() else { return Ok(()) };
        let number = QUESTIONS.len().saturating_sub(self.left.len()).saturating_add(1);
        say(sink, &format!("\nQuestion {number} of {}: {}", QUESTIONS.len(), question.title))?;
        say(sink, question.text)
    }

    fn check(&mut self, answer: &str, sink: &mut dyn Sink) -> Result<()> {
        let Some(question) = self.left.first() else { return Ok(()) };
        let fact = (question.fact)(&self.core);
        if fact.is_some_and(|fact| fact.fits(answer)) {
            self.right = self.right.saturating_add(1);
            say(sink, &format!("Right. {}", question.lesson))?;
            return self.next(sink);
        }
        self.wrong = self.wrong.saturating_add(1);
        say(sink, "That is not the answer.")?;
        if self.wrong >= PATIENCE { self.hint(sink) } else { Ok(()) }
    }

    fn hint(&self, sink: &mut dyn Sink) -> Result<()> {
        self.left.first().map_or(Ok(()), |question| say(sink, &format!("Hint: {}", question.hint)))
    }

    fn skip(&mut self, sink: &mut dyn Sink) -> Result<()> {
        let Some(question) = self.left.first() else { return Ok(()) };
        self.skipped = self.skipped.saturating_add(1);
        if let Some(fact) = (question.fact)(&self.core) {
            say(sink, &format!("The answer is {fact}. {}", question.lesson))?;
        }
        self.next(sink)
    }

    fn next(&mut self, sink: &mut dyn Sink) -> Result<()> {
        self.left = self.left.get(1..).unwrap_or_default();
        self.wrong = 0;
        self.ask(sink)
    }
}

/// A line of the tutorial among the results.
struct Remark<'a>(&'a str);

impl Record for Remark<'_> {
    fn kind(&self) -> &'static str {
        "message"
    }

    fn view(&self) -> View {
        View::Line("{text:m}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("text", self.0);
    }
}

/// Shows text at once: the prompt comes behind it.
fn say(sink: &mut dyn Sink, text: &str) -> Result<()> {
    sink.put(&Remark(text))?;
    sink.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_begins_with_a_sign_and_a_blank() {
        assert_eq!(Typed::of("= parse_header "), Typed::Answer("parse_header"));
        assert_eq!(Typed::of("="), Typed::Answer(""));
        for command in ["=K", "::status", "skip::dis", "", "$C"] {
            assert_eq!(Typed::of(command), Typed::Command, "{command}");
        }
        assert_eq!([Typed::of("skip"), Typed::of(" hint")], [Typed::Skip, Typed::Hint]);
        assert_eq!([Typed::of("quit"), Typed::of("exit")], [Typed::Quit, Typed::Quit]);
    }

    #[test]
    fn there_are_ten_questions_and_each_says_something() {
        assert_eq!(QUESTIONS.len(), 10);
        for question in QUESTIONS {
            let texts = [question.title, question.text, question.hint, question.lesson];
            assert!(texts.iter().all(|text| !text.is_empty()), "{}", question.title);
        }
    }
}
