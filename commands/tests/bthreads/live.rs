//! bthreads of live processes: all of one instant, with the stacks of those that wait.

use crate::{Opened, live_target::Target, made, stacks, states, told_in};

/// Programs that live on.
const CASES: &[(&str, &str)] =
    &[("bthreads", "O2-pie"), ("bthreads-18", "O2-pie"), ("brpc", "O2-pie")];

#[test]
fn snapshots_have_all_bthreads_with_their_stacks() {
    for case in CASES.iter().filter_map(|(scenario, variant)| made(scenario, variant)) {
        let mut target = Target::start(&case);
        target.settle();
        let (core, told) = (target.snapshot(), told_in(&target.values()));
        let opened = Opened { name: format!("{} live", case.name()), core, told };
        states::check(&opened);
        stacks::check(&opened);
    }
}
