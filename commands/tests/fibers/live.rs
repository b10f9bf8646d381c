//! Fibers of live processes: all of one instant, with the stacks of those that wait.

use crate::{Opened, Symbols, live_target::Target, made, stacks, states, told_in};

#[test]
fn snapshots_have_all_fibers_with_their_stacks() {
    for scenario in ["fibers", "fibers-shared", "fibers-stealing"] {
        let Some(case) = made(scenario, "O2-pie") else { continue };
        let mut target = Target::start(&case);
        target.settle();
        let (core, told) = (target.snapshot(), told_in(&target.values()));
        let opened = Opened { name: case.name(), symbols: Symbols::Debug, core, told };
        states::check(&opened);
        stacks::check(&opened);
    }
}
