//! `::analyze`: why the process died or hangs, with the evidence.

use kcore::analysis::{
    Analysis, BlockedThreads, EvidenceSource, FinderReport, Finding, FindingEvidence,
};
use kcore_dcmd::{Args, Cell, Cx, Dcmd, Example, Fields, Group, Opt, Record, Result, Spec, View};

/// Says why the process died or hangs.
pub struct Analyze;

/// Kinds of waits that are named.
const KINDS_OF_WAITS: usize = 4;

const OPTIONS: &[Opt] =
    &[Opt { flag: 'v', value: None, help: "also print which finders ran, and what they lacked" }];

const EXAMPLES: &[Example] = &[
    Example { line: "::analyze", shows: "what happened, and the commands that show it" },
    Example { line: "::analyze -v", shows: "also which finders found nothing" },
];

const HELP: &str = "\
Says what happened, one finding after the other. The first one explains most. Below each stands \
its evidence, with the command that shows it, and what is worth asking next.

A finding is certain if the evidence leaves no other cause. It is likely if another cause is \
possible. A process that neither crashed nor hangs has no findings. What its threads wait in is counted \
then, and ::locks -a shows it.";

impl Dcmd for Analyze {
    fn spec(&self) -> Spec {
        Spec::new("analyze", Group::Process, "say why the process died or hangs, with the evidence")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let (analysis, threads) = (core.analyze(), core.threads().len());
        cx.emit(&AnalysisRecord { analysis, threads, verbose: args.has('v') })
    }
}

struct AnalysisRecord {
    analysis: Analysis,
    threads: usize,
    verbose: bool,
}

impl AnalysisRecord {
    fn verdict(&self) -> String {
        match (self.analysis.findings.first(), &self.analysis.summary) {
            (Some(first), _) => format!("{} ({})", first.sentence, first.confidence.as_str()),
            (None, Some(summary)) => format!("{summary}; the cause is not known"),
            (None, None) if self.threads == 0 => {
                "there are no threads to tell what happened: ::status says what is missing"
                    .to_owned()
            }
            (None, None) if self.analysis.finders.iter().any(|finder| finder.lacks.is_some()) => {
                "nothing tells of a crash or a deadlock, but not all could be looked at: ::analyze -v"
                    .to_owned()
            }
            (None, None) => "nothing tells of a crash or a deadlock".to_owned(),
        }
    }

    fn lines(&self) -> Vec<String> {
        let (first, others) = match self.analysis.findings.split_first() {
            Some((first, others)) => (below(first), others),
            None => (Vec::new(), self.analysis.findings.as_slice()),
        };
        let others = others.iter().flat_map(|finding| {
            let title = format!("also: {} ({})", finding.sentence, finding.confidence.as_str());
            std::iter::once(title).chain(below(finding))
        });
        first.into_iter().chain(others).chain(self.blocked()).chain(self.finders()).collect()
    }

    /// What threads are blocked in, where nothing says more than who ended the process.
    fn blocked(&self) -> Option<String> {
        let analysis = &self.analysis;
        let has_cause = analysis.findings.iter().any(|finding| finding.finder != "ended");
        let has_crashed = analysis.findings.is_empty() && analysis.summary.is_some();
        let blocked = analysis.blocked.as_slice();
        if has_cause || has_crashed || blocked.is_empty() {
            return None;
        }
        let words = match (self.threads, blocked) {
            (1, [only]) => format!("its thread waits in {}", only.what),
            (threads, blocked) => format!("its {threads} threads: {}", counted(threads, blocked)),
        };
        Some(format!("  next, {words}: ::locks -a"))
    }

    /// The finders that found something or could not tell, one a line, and a line with all others.
    fn finders(&self) -> Vec<String> {
        if !self.verbose {
            return Vec::new();
        }
        let is_silent = |finder: &&FinderReport| !finder.has_finding && finder.lacks.is_none();
        let all = || self.analysis.finders.iter();
        let told = all().filter(|finder| !is_silent(finder)).map(|finder| match finder.lacks {
            Some(lack) => format!("finder {}: could not tell: {lack}", finder.name),
            None => format!("finder {}: found a cause", finder.name),
        });
        let names: Vec<&str> = all().filter(is_silent).map(|finder| finder.name).collect();
        let rest = match names.as_slice() {
            [] => None,
            [name] => Some(format!("1 finder found nothing: {name}")),
            names => Some(format!("{} finders found nothing: {}", names.len(), names.join(", "))),
        };
        told.chain(rest).collect()
    }
}

impl Record for AnalysisRecord {
    fn kind(&self) -> &'static str {
        "analysis"
    }

    fn view(&self) -> View {
        View::Line("{verdict}{lines*\n{.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let analysis = &self.analysis;
        let finders = analysis.finders.iter().map(|finder| {
            Cell::Object(vec![
                ("name", Cell::text(finder.name)),
                ("needs", Cell::text(finder.needs)),
                ("has_finding", Cell::Bool(finder.has_finding)),
                ("lacks", Cell::or_null(finder.lacks, Cell::text)),
            ])
        });
        out.num("tid", analysis.tid.map(|tid| u64::from(tid.get())))
            .put("summary", Cell::or_null(analysis.summary.as_deref(), Cell::text))
            .put("findings", Cell::List(analysis.findings.iter().map(finding_cell).collect()))
            .put("blocked", Cell::List(analysis.blocked.iter().map(blocked_cell).collect()))
            .put("finders", Cell::List(finders.collect()))
            .display("verdict", Cell::text(self.verdict()))
            .display("lines", Cell::List(self.lines().into_iter().map(Cell::text).collect()));
    }
}

/// So many threads in each kind of wait, and those that wait in nothing.
fn counted(threads: usize, blocked: &[BlockedThreads]) -> String {
    let (shown, others) = blocked.split_at(blocked.len().min(KINDS_OF_WAITS));
    let sum = |blocked: &[BlockedThreads]| blocked.iter().map(|it| it.threads).sum::<usize>();
    let run = threads.saturating_sub(sum(blocked));
    let shown = shown.iter().map(|it| match it.threads {
        1 => format!("1 waits in {}", it.what),
        count => format!("{count} wait in {}", it.what),
    });
    let others = (!others.is_empty()).then(|| format!("{} wait in other calls", sum(others)));
    let run = (run > 0).then(|| format!("{run} not blocked, as far as is known"));
    shown.chain(others).chain(run).collect::<Vec<_>>().join(", ")
}

/// What stands below the sentence of a finding.
fn below(finding: &Finding) -> Vec<String> {
    let evidence =
        finding.evidence.iter().map(|it| format!("  {}: {}", it.text, command(it.source)));
    let next = finding.next.iter().map(|it| format!("  next, {}: {}", it.text, command(it.source)));
    evidence.chain(next).collect()
}

fn finding_cell(finding: &Finding) -> Cell<'_> {
    let list = |facts: &'_ [FindingEvidence]| Cell::List(facts.iter().map(evidence_cell).collect());
    Cell::Object(vec![
        ("finder", Cell::text(finding.finder)),
        ("sentence", Cell::text(finding.sentence.clone())),
        ("confidence", Cell::text(finding.confidence.as_str())),
        ("evidence", list(&finding.evidence)),
        ("next", list(&finding.next)),
    ])
}

fn blocked_cell(blocked: &BlockedThreads) -> Cell<'_> {
    Cell::Object(vec![
        ("what", Cell::text(&*blocked.what)),
        ("threads", Cell::Num(blocked.threads as u64)),
    ])
}

fn evidence_cell(evidence: &FindingEvidence) -> Cell<'static> {
    Cell::Object(vec![
        ("text", Cell::text(evidence.text.clone())),
        ("command", Cell::text(command(evidence.source))),
    ])
}

/// The line that shows what a fact is about.
fn command(source: EvidenceSource) -> String {
    match source {
        EvidenceSource::Signal(tid) => format!("0t{tid}::siginfo"),
        EvidenceSource::Stack(tid) => format!("0t{tid}::stack"),
        EvidenceSource::Code(at) => format!("{:x}::dis", at.get()),
        EvidenceSource::Memory(at) => format!("{:x}/J", at.get()),
        EvidenceSource::Content(at) => format!("{:x}::whatis", at.get()),
        EvidenceSource::Mapping(at) => format!("{:x}::mappings", at.get()),
        EvidenceSource::Lock(at) => format!("{:x}::locks", at.get()),
        EvidenceSource::Heap => "::heapcheck".to_owned(),
        EvidenceSource::Waits => "::locks -a".to_owned(),
        EvidenceSource::Tasks => "::tasks".to_owned(),
        _ => "::status".to_owned(),
    }
}
