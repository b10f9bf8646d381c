//! What happened, as findings: each with its evidence, and with a confidence that rules earn.
//!
//! A finder is one file in `finders`, and one line in [`FINDERS`]. It looks at a [`Crash`] or at a [`Hang`], and stays
//! silent where it has nothing to say. A program adds its own with [`Core::analyze_with`].

mod assertion;
mod crash;
mod finders;
mod finding;
mod hang;
mod pointer_words;
mod waiting;

pub use self::crash::Crash;
pub use self::finders::FINDERS;
pub use self::finding::{Confidence, EvidenceSource, Finding, FindingEvidence};
pub use self::hang::Hang;
pub use self::waiting::BlockedThreads;
use crate::{Core, Tid, signal};

/// Looks for one kind of cause.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    /// Its name: lower-case words, joined by hyphens.
    pub name: &'static str,
    /// What it needs, in words.
    pub needs: &'static str,
    /// What it looks at.
    pub scope: FinderScope,
}

/// What a finder answers: `Ok(None)` if what happened is of another kind; an error says what was missing to tell.
pub type FinderAnswer = Result<Option<Finding>, &'static str>;

/// What a finder looks at.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FinderScope {
    /// A crash. It does not run if the process did not crash.
    Crash(fn(&Crash<'_>) -> FinderAnswer),
    /// What the threads wait for.
    Hang(fn(&Hang<'_>) -> FinderAnswer),
}

/// What became of a finder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FinderReport {
    /// The name of the finder.
    pub name: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// Whether it found something.
    pub has_finding: bool,
    /// What it lacked, if it could not tell.
    pub lacks: Option<&'static str>,
}

/// What is known of why a process died or hangs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Analysis {
    /// The thread of the first fault, or else of the last signal; `None` if nothing tells of a crash.
    pub tid: Option<Tid>,
    /// What the signal, the instruction and its place tell, in words; `None` if nothing tells of a crash.
    pub summary: Option<String>,
    /// The findings, the one that explains most first.
    pub findings: Vec<Finding>,
    /// What threads are blocked in, the most first, if a finder looked at what threads wait for.
    pub blocked: Vec<BlockedThreads>,
    /// The finders that ran, in order. Those for crashes do not run if the process did not crash.
    pub finders: Vec<FinderReport>,
}

impl Core {
    /// Why the process died or hangs, by all finders that kcore has.
    pub fn analyze(&self) -> Analysis {
        self.analyze_with(FINDERS)
    }

    /// The same by chosen finders, in their order.
    pub fn analyze_with(&self, finders: &[Finder]) -> Analysis {
        let crash = Crash::of(self);
        let looks_at_waits = |finder: &Finder| matches!(finder.scope, FinderScope::Hang(_));
        let hang = finders.iter().any(looks_at_waits).then(|| Hang::of(self));
        let tid = crash.as_ref().map(Crash::tid);
        let summary = crash.as_ref().map(|crash| self.summary(crash));
        let blocked = hang.as_ref().map(|_| waiting::blocked_threads(self)).unwrap_or_default();
        let mut analysis = Analysis { tid, summary, blocked, ..Analysis::default() };
        for finder in finders {
            let answer = match finder.scope {
                FinderScope::Crash(find) => crash.as_ref().map(|crash| {
                    find(crash).map(|finding| finding.map(|it| after_handler(crash, it)))
                }),
                FinderScope::Hang(find) => hang.as_ref().map(find),
            };
            answer.into_iter().for_each(|answer| analysis.add(finder, answer));
        }
        analysis
    }

    fn summary(&self, crash: &Crash<'_>) -> String {
        self.explain(crash.end(), crash.handled())
    }
}

impl Analysis {
    fn add(&mut self, finder: &Finder, answer: FinderAnswer) {
        let (finding, lacks) = match answer {
            Ok(finding) => (finding, None),
            Err(lack) => (None, Some(lack)),
        };
        let (name, needs, has_finding) = (finder.name, finder.needs, finding.is_some());
        self.finders.push(FinderReport { name, needs, has_finding, lacks });
        self.findings.extend(finding.map(|finding| finding.by(name)));
    }
}

/// The finding, less sure if a handler was told of the fault and something else may have ended the process.
fn after_handler(crash: &Crash<'_>, finding: Finding) -> Finding {
    if !crash.was_handled() {
        return finding;
    }
    let number = crash.end().signal;
    let text = format!(
        "a signal handler of the program ran first; then {} ended the process",
        signal::name(number)
    );
    let finding = finding.with(text, EvidenceSource::Process);
    match crash.was_raised_again() {
        true => finding,
        false => finding.or_likely(),
    }
}
