//! Memory beside an isolate that refers to its objects.

use std::{ops::ControlFlow, sync::Arc};

use kcore::Addr;
use kcore_runtimes::{
    Runtimes,
    graph::RootKind,
    v8::{
        V8,
        census::{Census, graph::ISOLATE},
    },
};

use crate::{chunks::each, hurt_host::HurtHost};

/// The data of an isolate begins less far before its heap, in all versions.
const BEFORE: u64 = 0x14000;
/// Objects that a piece of a list of V8's has, of those that it is about to mark.
const LISTED: usize = 64;

/// What keeps some objects.
fn kept_by(
    host: &HurtHost<'_>,
    census: &Arc<Census>,
    objects: &[Addr],
) -> Vec<Option<&'static RootKind>> {
    let runtimes = Runtimes::find(kcore_runtimes::PROBES, host);
    let v8 = runtimes.of::<V8>().next().expect("V8");
    let graph = v8.graph(host, census, &mut |_, _| ControlFlow::Continue(()));
    let graph = graph.expect("nobody stops it").expect("it is not too large");
    let root = |at: &Addr| Some(v8.path(host, census, &graph, *at)?.root.kind);
    objects.iter().map(root).collect()
}

#[test]
fn what_lies_before_an_isolate_keeps_nothing() {
    each(|variant, core, census, _| {
        let healthy = HurtHost::new(core);
        let objects: Vec<Addr> = census.objects().collect();
        let some: Vec<Addr> = objects
            .chunks(objects.len() / LISTED)
            .filter_map(|some| some.first())
            .copied()
            .collect();
        let kept = kept_by(&healthy, census, &some);
        let heaps = census.areas().iter().map(|area| area.chunk.heap);
        let heap = heaps.filter(|heap| heap.get() != 0).max().expect("a heap");
        let mut host = HurtHost::new(core);
        for (at, object) in (0..).zip(&some) {
            host.set(Addr::new(heap.get() - BEFORE + at * 8), object.get() | 1);
        }
        let of_isolate = |kept: &[Option<&RootKind>]| {
            kept.iter().filter(|kind| **kind == Some(&ISOLATE)).count()
        };
        assert!(of_isolate(&kept) < LISTED / 2, "{variant}: {kept:?}");
        assert_eq!(of_isolate(&kept_by(&host, census, &some)), of_isolate(&kept), "{variant}");
    });
}
