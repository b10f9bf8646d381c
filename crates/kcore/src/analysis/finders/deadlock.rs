//! Threads that wait for each other.

use crate::{
    Tid,
    analysis::{Confidence, EvidenceSource, Finder, FinderAnswer, FinderScope, Finding, Hang},
    waits::Lock,
};

pub const FINDER: Finder = Finder {
    name: "deadlock",
    needs: "the registers of all threads, and the locks that they wait for",
    scope: FinderScope::Hang(find),
};

fn find(hang: &Hang<'_>) -> FinderAnswer {
    hang.known()?;
    let cycles = hang.cycles().iter().filter(|cycle| cycle.len() > 1 && !hang.has_limit(cycle));
    let cycles: Vec<&[Tid]> = cycles.map(Vec::as_slice).collect();
    let Some((first, others)) = cycles.split_first() else {
        let is_unread = hang.waits().locks.iter().any(|lock| lock.value.is_none());
        let lack = "locks that threads wait for are not in the core or snapshot";
        return if is_unread { Err(lack) } else { Ok(None) };
    };
    let finding = with_steps(Finding::new(confidence(hang), sentence(hang, first)), hang, first);
    let finding = match hang.behind(first) {
        0 => finding,
        count => {
            let text = format!("{count} other thread(s) wait for one of these");
            finding.with(text, EvidenceSource::Waits)
        }
    };
    let with_other = |finding: Finding, other: &&[Tid]| {
        with_steps(finding.with(sentence(hang, other), EvidenceSource::Waits), hang, other)
    };
    Ok(Some(others.iter().fold(finding, with_other)))
}

/// Memory records each holder, but for some locks of languages. Only threads of several instants may have gone on in the
/// meantime.
fn confidence(hang: &Hang<'_>) -> Confidence {
    let all = hang.cycles().iter().flatten();
    let mut locks = all.filter_map(|tid| hang.waits().lock_of(*tid));
    match locks.all(Lock::records_holder) && hang.waits().knows_all_threads {
        true => Confidence::Certain,
        false => Confidence::Likely,
    }
}

fn sentence(hang: &Hang<'_>, cycle: &[Tid]) -> String {
    let step = |tid: &Tid| Some(format!("thread {tid} {}", hang.wait(*tid)?));
    let steps: Vec<String> = cycle.iter().filter_map(step).collect();
    format!("{} threads wait for each other: {}", cycle.len(), steps.join("; "))
}

fn with_steps(finding: Finding, hang: &Hang<'_>, cycle: &[Tid]) -> Finding {
    cycle.iter().fold(finding, |finding, tid| {
        let lock = hang.waits().lock_of(*tid).map(|lock| lock.at);
        let text = format!("thread {tid} is blocked in the kernel{}", hang.site(*tid));
        let finding = finding.with(text, EvidenceSource::Stack(*tid));
        match lock.zip(hang.wait(*tid)) {
            Some((at, wait)) => finding.with(format!("it {wait}"), EvidenceSource::Lock(at)),
            None => finding,
        }
    })
}
