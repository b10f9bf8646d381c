//! What native allocators sampled themselves, as a heap profile.

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::{Result, bail};
use kcore::{
    Core,
    profile::{Format, HeapProfile},
};

/// The profile of the heap that keeps one, and the heap's name; of several, that of the one with the most bytes.
pub(super) fn profile(core: &Core) -> Result<(String, HeapProfile)> {
    let mut found: Vec<(String, HeapProfile)> = Vec::new();
    for (number, heap) in core.heaps().found().all() {
        let mut watch = |_, _| match core.budget().is_halted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let profile = core.heaps().profile(number, &mut watch);
        if core.budget().is_halted() {
            bail!("interrupted");
        }
        let identity = heap.identity();
        let name = format!("{} in {}", identity.allocator, identity.instance);
        found.extend(profile.map(|profile| (name, profile)));
    }
    let most = |(_, one): &(String, HeapProfile), (_, other): &(String, HeapProfile)| {
        one.sum().bytes.total_cmp(&other.sum().bytes)
    };
    let none = "no allocator in it keeps a profile: jemalloc and tcmalloc do where they are told to, and AddressSanitizer always does";
    match found.into_iter().max_by(most) {
        Some(profile) => Ok(profile),
        None => bail!("{none}"),
    }
}

/// Writes it.
pub(super) fn write(profile: &HeapProfile, format: Format, to: &mut dyn Write) -> Result<()> {
    Ok(profile.write(format, to)?)
}

/// What was written, for people.
pub(super) fn summary(file: &str, heap: &str, profile: &HeapProfile) -> String {
    let sum = profile.sum();
    let how = match profile.period {
        0 => "samples, whose rate is not known: they are not scaled".to_owned(),
        1 => "every block counted".to_owned(),
        period => format!("one of {period} bytes sampled, and scaled"),
    };
    let (blocks, bytes, stacks) = (sum.blocks, sum.bytes, profile.all().len());
    format!(
        "wrote {file}: {bytes:.0} bytes in {blocks:.0} blocks of {heap}, by {stacks} stacks ({how})"
    )
}
