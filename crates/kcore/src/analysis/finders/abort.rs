//! A process that aborted itself and left no words.

use super::{last_words::said_at_end, terminate};
use crate::analysis::{
    Crash, EvidenceSource, Finder, FinderScope, Finding,
    assertion::stated,
    crash::{SIGABRT, ends_itself},
};

pub const FINDER: Finder = Finder {
    name: "abort",
    needs: "who sent SIGABRT, and the stack of the thread",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if !aborts(crash) || said_at_end(crash).is_some() || terminate::reason(crash).is_some() {
        return Ok(None);
    }
    let stated = stated(crash);
    let words = stated.as_ref().map_or_else(String::new, |words| format!(": {words}"));
    let sentence = format!("the process aborted itself{}{words}", crash.in_own_code());
    let tid = crash.tid();
    let finding = match crash.is_told() {
        true => {
            Finding::certain(sentence).with("the process sent the signal itself", crash.shown_by())
        }
        false => Finding::likely(sentence),
    };
    Ok(Some(finding.with("the thread is in a call of abort", EvidenceSource::Stack(tid))))
}

/// Whether the process ended in a call of `abort`.
pub fn aborts(crash: &Crash<'_>) -> bool {
    let is_raised = crash.end().signal == SIGABRT && ends_itself(crash) && !crash.was_handled();
    is_raised && crash.last_functions().iter().any(|function| &**function == "abort")
}
