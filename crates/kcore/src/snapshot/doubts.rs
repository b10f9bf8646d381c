//! What is doubtful about the snapshot of a live process.

use crate::{Core, doubts::named};

impl Core {
    /// What is missing in the snapshot, and what is not of its instant; nothing of a core.
    pub(crate) fn doubts_of_snapshot(&self) -> Vec<String> {
        let late = self.file().map(|file| file.late_threads()).unwrap_or_default();
        let refused = self.file().map(|file| file.refused_threads()).unwrap_or_default();
        let threads = [
            threads(late, "did not stop in time"),
            threads(refused, "could not be traced (another process does, most often)"),
        ];
        threads.into_iter().flatten().chain(self.doubts_of_memory()).collect()
    }

    fn doubts_of_memory(&self) -> impl Iterator<Item = String> {
        let facts = self.snapshot().facts();
        let facts = facts.as_ref();
        let late = facts.filter(|facts| facts.is_late).map(|_| {
            "the time was over before all was copied (--stop-budget, --stop-timeout): stacks may be cut".to_owned()
        });
        let missed = facts.filter(|facts| facts.missed_pages > 0).map(|facts| {
            let pages = facts.missed_pages;
            let read = if facts.reads_later { "are read later" } else { "were not copied" };
            format!(
                "{pages} page(s) that stacks or their names need {read}: threads came to use them \
                 only after it was found out what to copy"
            )
        });
        let later = facts.filter(|facts| facts.reads_later).map(|_| {
            "memory that was not copied is read from the live process when it is asked for, and not \
             of the instant of the stacks (--live-memory)"
                .to_owned()
        });
        [late, missed, later].into_iter().flatten()
    }
}

fn threads(tids: &[u32], what: &str) -> Option<String> {
    let names: Vec<String> = tids.iter().map(u32::to_string).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (threads, have) = match tids {
        [] => return None,
        [_] => ("1 thread".to_owned(), "has no stack"),
        many => (format!("{} threads", many.len()), "have no stacks"),
    };
    Some(format!("{threads} {what}, and {have}: {}", named(&names)))
}
