//! What is said of a saved core, a line each.

use kcore::SavedCore;

use super::Saving;
use crate::{catch::CaughtEvent, live, target::shown};

/// What messages call the file.
pub(super) fn file(saving: &Saving<'_>) -> String {
    match saving.is_streamed() {
        true => "standard output".to_owned(),
        false => shown(saving.output),
    }
}

/// What was saved, what it cost the process, and what is missing.
pub(super) fn lines(saving: &Saving<'_>, core: &SavedCore) -> Vec<String> {
    let (pid, saved) = (saving.live.pid, &core.saved);
    let caught = saved.caught.as_ref().map(|caught| CaughtEvent::of(caught, None));
    let mut lines: Vec<String> = caught.iter().map(|caught| caught.text().to_owned()).collect();
    lines.push(format!(
        "saved process {pid} to {}: {}, {} of memory, {} written",
        file(saving),
        live::counted(saved.threads),
        size(saved.memory),
        size(core.taken)
    ));
    match &core.snapshot {
        Some(facts) => lines.extend(live::notes(pid, facts, saved.threads)),
        None => lines.push(format!("process {pid} stood still for {}", live::time(saved.stopped))),
    }
    lines.extend(missing(core));
    lines
}

fn missing(core: &SavedCore) -> Vec<String> {
    let saved = &core.saved;
    let mut lines = Vec::new();
    if saved.ended {
        lines.push("the process was killed while it was copied: the core is not whole".to_owned());
    }
    if saved.refused > 0 {
        lines.push(format!("{} could not be read: holes in the core", size(saved.refused)));
    }
    if saved.late > 0 {
        lines.push(format!(
            "{} not copied, since the time was over (--stop-budget): holes in the core",
            size(saved.late)
        ));
    }
    if saved.unseen > 0 {
        lines.push(format!(
            "{} not looked at, since what is mapped there may not be opened (root may): holes in the core",
            size(saved.unseen)
        ));
    }
    if saved.untouched > 0 {
        lines.push(format!("{} left out: nobody ever touched it", size(saved.untouched)));
    }
    if saved.left_out > 0 {
        lines.push(format!(
            "{} left out: files, and what nobody wants dumped (--all saves what can be read)",
            size(saved.left_out)
        ));
    }
    let late: Vec<String> = saved.late_threads.iter().map(ToString::to_string).collect();
    if !late.is_empty() {
        lines.push(format!("without registers, since they did not stop: {}", late.join(", ")));
    }
    lines
}

/// Bytes as people say them.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} bytes");
    }
    let power = (bytes.ilog2() / 10).clamp(1, 4);
    let unit = UNITS.get(power as usize - 1).copied().unwrap_or_default();
    let tenths = bytes.saturating_mul(10) >> (10 * power);
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size(1000), "1000 bytes");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size((5 << 20) - 1), "4.9 MiB");
        assert_eq!(size(u64::MAX >> 10), "16383.9 TiB");
    }
}
