//! What a finder found.

use kcore_mem::Addr;

use crate::Tid;

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Confidence {
    /// The evidence fits, and another cause is possible.
    Likely,
    /// The evidence leaves no other cause.
    Certain,
}

impl Confidence {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// What shows a piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvidenceSource {
    /// The summary of the process.
    Process,
    /// The `siginfo_t` of a thread.
    Signal(Tid),
    /// The stack of a thread.
    Stack(Tid),
    /// The instruction at an address in the process.
    Code(Addr),
    /// The word at an address in the process.
    Memory(Addr),
    /// What lies at an address in the process.
    Content(Addr),
    /// The mapping at, or next to, an address in the process.
    Mapping(Addr),
    /// The lock at an address in the process.
    Lock(Addr),
    /// What is torn in native heaps.
    Heap,
    /// What a thread waits in, where that is no lock.
    Waits,
    /// The tasks of languages and runtimes, and what each waits for.
    Tasks,
}

/// A fact, and where it is to be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindingEvidence {
    /// The fact, in words.
    pub text: String,
    /// What shows it.
    pub source: EvidenceSource,
}

/// A cause of a crash or a hang.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the finder; [`Core::analyze_with`](crate::Core::analyze_with) fills it in.
    pub finder: &'static str,
    /// What happened, in one sentence without a full stop.
    pub sentence: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// The facts that it rests on.
    pub evidence: Vec<FindingEvidence>,
    /// What would be worth asking next.
    pub next: Vec<FindingEvidence>,
}

impl Finding {
    /// A finding without evidence yet.
    pub const fn new(confidence: Confidence, sentence: String) -> Self {
        Self { finder: "", sentence, confidence, evidence: Vec::new(), next: Vec::new() }
    }

    /// A finding of which the evidence leaves no other cause.
    pub fn certain(sentence: impl Into<String>) -> Self {
        Self::new(Confidence::Certain, sentence.into())
    }

    /// A finding of which another cause is possible.
    pub fn likely(sentence: impl Into<String>) -> Self {
        Self::new(Confidence::Likely, sentence.into())
    }

    /// The same with a fact that it rests on.
    #[must_use]
    pub fn with(mut self, text: impl Into<String>, source: EvidenceSource) -> Self {
        self.evidence.push(FindingEvidence { text: text.into(), source });
        self
    }

    /// The same with a question that is worth asking.
    #[must_use]
    pub fn then_ask(mut self, text: impl Into<String>, source: EvidenceSource) -> Self {
        self.next.push(FindingEvidence { text: text.into(), source });
        self
    }

    /// The same, at most likely.
    pub(super) const fn or_likely(mut self) -> Self {
        self.confidence = Confidence::Likely;
        self
    }

    pub(super) fn by(mut self, finder: &'static str) -> Self {
        self.finder = finder;
        let evidence = &self.evidence;
        self.next.retain(|next| evidence.iter().all(|it| it.source != next.source));
        self
    }
}
