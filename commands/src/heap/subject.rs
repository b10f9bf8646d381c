//! The object of some runtime that a dcmd is asked about.

use std::sync::Arc;

use kcore::graph::Graph;
use kcore::objects::{HeapObject, Objects};
use kcore::{Addr, Core, Identity};
use kcore_dcmd::{Cx, DcmdError, Result};

use super::not_copied::note_not_copied;
use crate::{advice, watched::watched};

/// A runtime whose objects can be decoded.
#[derive(Clone, Copy)]
pub struct ObjectHeap<'c> {
    /// The process.
    pub core: &'c Core,
    /// The runtime.
    pub identity: &'c Identity,
    /// Its objects.
    pub objects: &'c dyn Objects,
}

impl<'c> ObjectHeap<'c> {
    /// Those of all runtimes.
    ///
    /// # Errors
    /// When there is none: it says which runtime has objects that cannot be decoded.
    pub fn all(cx: &mut Cx<'c>) -> Result<Vec<Self>> {
        let core: &'c Core = cx.core();
        let with_objects = core.runtimes().with_objects(core);
        let heaps: Vec<Self> =
            with_objects.map(|(identity, objects)| Self { core, identity, objects }).collect();
        if heaps.is_empty() {
            return Err(DcmdError::failed(why_none(core)));
        }
        note_not_copied(cx)?;
        Ok(heaps)
    }

    /// All its objects, and what they keep.
    ///
    /// # Errors
    /// When there are too many; when the user stopped it.
    pub fn graph(&self, cx: &mut Cx<'_>) -> Result<Arc<Graph>> {
        let graph = watched(cx, |watch| self.objects.graph(self.core, watch))?;
        let too_many = "the heap has too many objects to find out what they keep";
        graph.ok_or_else(|| DcmdError::failed(too_many))
    }

    /// Notes which part of a heap that was read is missing.
    ///
    /// # Errors
    /// When nobody reads any more.
    pub fn note_missing(&self, cx: &mut Cx<'_>) -> Result<()> {
        match self.objects.missing(self.core) {
            Some(missing) => {
                let name = self.identity.name;
                cx.note(&format!("{name}: {missing}: there may be more objects"))
            }
            None => Ok(()),
        }
    }
}

/// An object, and the heap that it is in.
#[derive(Clone, Copy)]
pub struct Subject<'c> {
    /// The heap.
    pub heap: ObjectHeap<'c>,
    /// The object.
    pub object: HeapObject,
}

impl<'c> Subject<'c> {
    /// The object that holds the address before a dcmd.
    ///
    /// # Errors
    /// As [`ObjectHeap::all`]; when no object holds it: with the reason where the address has no bytes.
    pub fn of_dot(cx: &mut Cx<'c>) -> Result<Self> {
        let at = cx.addr().ok_or_else(|| DcmdError::usage("an address is needed"))?.addr();
        let heaps = ObjectHeap::all(cx)?.into_iter();
        let mut held = heaps
            .filter_map(|heap| Some(Self { heap, object: heap.objects.holder(heap.core, at)? }));
        held.next().ok_or_else(|| {
            let why = match cx.core().space().read_word(at) {
                Err(fault) => fault.reason(),
                Ok(_) => "no runtime has one there",
            };
            DcmdError::at(at, format!("{at:x} is in no heap object: {why}"))
        })
    }

    /// The word with which the language refers to an object of the heap.
    pub fn word(&self, at: Addr) -> Addr {
        self.heap.objects.reference_to(at)
    }
}

/// Why no runtime has objects.
fn why_none(core: &Core) -> String {
    let runtimes = core.runtimes();
    if let Some(damage) = runtimes.damaged().first() {
        return format!("{} cannot be decoded: {}", damage.name, damage.why);
    }
    let undecoded = |identity: &Identity| {
        let why = advice::about_undecoded(identity.undecoded.first()?);
        Some(format!("objects of {} cannot be decoded: {why}", identity.name))
    };
    let none = || "no language runtime with a heap of objects in this process".to_owned();
    runtimes.identities().find_map(undecoded).unwrap_or_else(none)
}
