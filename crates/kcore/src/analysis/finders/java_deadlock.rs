//! Threads of Java that wait for each other. The system sees each of them wait for the virtual machine alone, which
//! knows what for.

use kcore_mem::Addr;
use kcore_runtimes::java::{self, Java, LockThread};

use crate::{
    Core,
    analysis::{Confidence, EvidenceSource, Finder, FinderAnswer, FinderScope, Finding, Hang},
};

pub const FINDER: Finder = Finder {
    name: "java-deadlock",
    needs: "the threads of Java, and the locks that they wait for",
    scope: FinderScope::Hang(find),
};

/// Threads, each with the object that it waits for and the next one holds.
type Circle = Vec<(LockThread, Addr)>;

fn find(hang: &Hang<'_>) -> FinderAnswer {
    let core = hang.core();
    let mut circles: Vec<Circle> = Vec::new();
    for java in core.runtimes().of::<Java>() {
        match java.locks(core) {
            Some(locks) => circles.extend(java::circles(locks)),
            None => return Err("locks of Java cannot be decoded"),
        }
    }
    let Some((first, others)) = circles.split_first() else { return Ok(None) };
    let finding = with_threads(Finding::new(Confidence::Certain, sentence(first)), core, first);
    let with_other = |finding: Finding, other: &Circle| {
        with_threads(finding.with(sentence(other), EvidenceSource::Waits), core, other)
    };
    Ok(Some(others.iter().fold(finding, with_other)))
}

fn sentence(circle: &Circle) -> String {
    let names: Vec<String> = circle.iter().map(|(thread, _)| named(thread)).collect();
    format!("{} threads of Java wait for each other: {}", circle.len(), names.join(", "))
}

fn named(thread: &LockThread) -> String {
    let name = thread.name().unwrap_or("?").escape_debug();
    match (thread.is_virtual(), thread.tid()) {
        (true, _) => format!("virtual thread {} \"{name}\"", thread.id().unwrap_or_default()),
        (false, Some(tid)) => format!("thread {tid} \"{name}\""),
        (false, None) => format!("\"{name}\""),
    }
}

fn with_threads(finding: Finding, core: &Core, circle: &Circle) -> Finding {
    circle.iter().fold(finding, |finding, (thread, object)| {
        let class = core.runtimes().of::<Java>().find_map(|java| {
            let locks = java.locks(core)?;
            locks.iter().find(|lock| lock.object == *object)?.class.clone()
        });
        let class = class.as_deref().unwrap_or("an object");
        let text = format!("{} waits for {class} at {:#x}", named(thread), object.get());
        let source = thread.tid().map_or(EvidenceSource::Waits, EvidenceSource::Stack);
        finding.with(text, source)
    })
}
