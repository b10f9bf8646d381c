//! What happened, as findings: each with its evidence, and with a confidence that rules earn.
//!
//! A finder is one file in `finders`, and one line in [`FINDERS`]. It looks at a [`Crash`], and stays silent where it
//! has nothing to say. A program adds its own with [`Core::analyze_with`].

mod crash;
mod finders;
mod finding;

pub use self::crash::Crash;
pub use self::finders::FINDERS;
pub use self::finding::{Confidence, EvidenceSource, Finding, FindingEvidence};
use crate::{Core, Tid, signal};

/// Looks for one kind of cause.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    /// Its name: lower-case words, joined by hyphens.
    pub name: &'static str,
    /// What it needs, in words.
    pub needs: &'static str,
    /// Looks at a crash. `Ok(None)` if the crash is of another kind; an error says what was missing to tell.
    pub find: fn(&Crash<'_>) -> Result<Option<Finding>, &'static str>,
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

/// What is known of why a process died.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Analysis {
    /// The thread of the first fault, or else of the last signal; `None` if nothing tells of a crash.
    pub tid: Option<Tid>,
    /// What the signal, the instruction and its place tell, in words; `None` if nothing tells of a crash.
    pub summary: Option<String>,
    /// The findings, the one that explains most first.
    pub findings: Vec<Finding>,
    /// The finders that ran, in order. Empty if the process did not crash.
    pub finders: Vec<FinderReport>,
}

impl Core {
    /// Why the process died, by all finders that kcore has. A process that did not crash has no findings.
    pub fn analyze(&self) -> Analysis {
        self.analyze_with(FINDERS)
    }

    /// The same by chosen finders, in their order.
    pub fn analyze_with(&self, finders: &[Finder]) -> Analysis {
        let Some(crash) = Crash::of(self) else { return Analysis::default() };
        let summary = self.explain(crash.end(), &self.handled_signals(crash.end()));
        let (tid, summary) = (Some(crash.tid()), Some(summary));
        let mut analysis = Analysis { tid, summary, ..Analysis::default() };
        for finder in finders {
            let (finding, lacks) = match (finder.find)(&crash) {
                Ok(finding) => (finding, None),
                Err(lack) => (None, Some(lack)),
            };
            let (name, needs, has_finding) = (finder.name, finder.needs, finding.is_some());
            analysis.finders.push(FinderReport { name, needs, has_finding, lacks });
            analysis
                .findings
                .extend(finding.map(|finding| after_handler(&crash, finding.by(name))));
        }
        analysis
    }
}

/// The finding, less sure if a handler was told of the fault and something else may have ended the process.
fn after_handler(crash: &Crash<'_>, finding: Finding) -> Finding {
    if !crash.was_handled() {
        return finding;
    }
    let number = crash.end().signal;
    let text = format!("a handler was told of it; {} ended the process", signal::name(number));
    let finding = finding.with(text, EvidenceSource::Process);
    match crash.was_raised_again() {
        true => finding,
        false => finding.or_likely(),
    }
}
