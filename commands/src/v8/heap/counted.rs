//! The objects of every V8 of the process, counted once.

use std::sync::Arc;

use kcore::graph::{ClassSize, Graph, Path};
use kcore::v8::{
    V8,
    census::{Census, Group},
};
use kcore::{Addr, Core};
use kcore_dcmd::{Cx, DcmdError, Result};

pub use crate::watched::watched;
use crate::{advice, heap::not_copied::note_not_copied};

/// One V8, and all objects of its heaps.
#[derive(Clone)]
pub struct Counted<'c> {
    /// The process.
    pub core: &'c Core,
    /// Its V8.
    pub v8: &'c V8,
    /// The objects.
    pub census: Arc<Census>,
}

impl<'c> Counted<'c> {
    /// Those of every V8 whose layouts are known.
    ///
    /// # Errors
    /// When there is none; when the user stopped the count.
    pub fn all(cx: &mut Cx<'c>) -> Result<Vec<Self>> {
        let core: &'c Core = cx.core();
        note_not_copied(cx)?;
        let mut all = Vec::new();
        for v8 in core.runtimes().of::<V8>() {
            let census = watched(cx, |watch| v8.census(core, watch))?;
            all.extend(census.map(|census| Self { core, v8, census }));
        }
        if all.is_empty() {
            return Err(DcmdError::failed(why_none(core)));
        }
        Ok(all)
    }

    /// The one whose object begins at the address before a dcmd, and the object, without tag.
    ///
    /// # Errors
    /// As [`Counted::all`]; when no object begins there.
    pub fn of_dot(cx: &mut Cx<'c>) -> Result<(Self, Addr)> {
        let word = cx.dot().number();
        let at = Addr::new(word & !3);
        let mut all = Self::all(cx)?.into_iter();
        let found = all.find(|counted| counted.census.index_of(at).is_some());
        let invalid = || DcmdError::at(Addr::new(word), format!("{word:x} is not a valid object"));
        found.map(|counted| (counted, at)).ok_or_else(invalid)
    }

    /// The kind of the object that begins at an address, in V8's names: `JSArray`.
    pub fn kind_of(&self, at: Addr) -> Option<String> {
        self.v8.kind_of(self.core, at)
    }

    /// What the object at an address is counted as.
    pub fn class_of(&self, at: Addr) -> String {
        self.v8.class_at(self.core, at).unwrap_or_default()
    }

    /// What objects keep.
    ///
    /// # Errors
    /// When there are too many; when the user stopped it.
    pub fn kept(&self, cx: &mut Cx<'_>) -> Result<RetainedHeap<'c>> {
        let (v8, core) = (self.v8, self.core);
        let graph = watched(cx, |watch| v8.graph(core, &self.census, watch))?;
        let too_many =
            || DcmdError::failed("the heap has too many objects to find out what they keep");
        Ok(RetainedHeap { counted: self.clone(), graph: graph.ok_or_else(too_many)? })
    }

    /// The objects of JavaScript in groups.
    ///
    /// # Errors
    /// When the user stopped it.
    pub fn groups(&self, cx: &mut Cx<'_>) -> Result<Arc<[Group]>> {
        watched(cx, |watch| self.v8.groups(self.core, &self.census, watch))
    }
}

/// The objects of a V8, and what they keep.
pub struct RetainedHeap<'c> {
    counted: Counted<'c>,
    graph: Arc<Graph>,
}

impl RetainedHeap<'_> {
    /// All objects by class.
    ///
    /// # Errors
    /// When the user stopped it.
    pub fn class_sizes(&self, cx: &mut Cx<'_>) -> Result<Vec<ClassSize>> {
        let (v8, core) = (self.counted.v8, self.counted.core);
        let retained = watched(cx, |watch| v8.retained(&self.graph, watch))?;
        Ok(v8.class_sizes(core, &self.graph, &retained))
    }

    /// What the object at an address retains, in bytes; `None` if it is not reachable.
    ///
    /// # Errors
    /// When the user stopped it.
    pub fn retained_by(&self, cx: &mut Cx<'_>, at: Addr) -> Result<Option<u64>> {
        let v8 = self.counted.v8;
        let retained = watched(cx, |watch| v8.retained(&self.graph, watch))?;
        let node = self.counted.census.index_of(at).and_then(|node| u32::try_from(node).ok());
        Ok(node.and_then(|node| retained.bytes(node)))
    }

    /// The way from a root to the object at an address.
    pub fn path(&self, at: Addr) -> Option<Path> {
        let (v8, core) = (self.counted.v8, self.counted.core);
        v8.path(core, &self.counted.census, &self.graph, at)
    }
}

fn why_none(core: &Core) -> String {
    let runtimes = core.runtimes();
    if let Some(damage) = runtimes.damaged().iter().find(|damage| damage.name == "v8") {
        return format!("V8 cannot be decoded: {}", damage.why);
    }
    let mut identities = runtimes.identities().filter(|identity| identity.name == "v8");
    match identities.next().and_then(|identity| identity.undecoded.first()) {
        Some(undecoded) => advice::about_undecoded(undecoded),
        None => "no V8 in this process".to_owned(),
    }
}

/// The tagged word that refers to the object at an address, which is what users pass on.
pub const fn tagged(at: Addr) -> Addr {
    Addr::new(at.get() | 1)
}
