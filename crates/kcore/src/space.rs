//! The memory of the process: the core, and behind it the files of modules.

use std::sync::Arc;

use kcore_elf::CoreSpace;
use kcore_mem::{Addr, AddrRange, AddressSpace, Fault, Origin, Region, Target};

use crate::{
    ModuleSet, regions,
    snapshot::{LaterMemory, LiveParts},
};

/// Bytes that searches read of a live process, at most.
const MAX_LATER: u64 = 4 << 30;
const PF_R: u32 = 4;

/// The memory of a process as a core and the files of its modules show it together.
///
/// A core leaves out what it can leave to files: code, and read-only data. Such bytes come from a
/// module's file, if its build-id is the one that was mapped. Writable data that was left out is
/// taken from the file only when the core holds other private memory: then it was left out because
/// nobody had changed it.
pub struct ProcessSpace {
    target: Target,
    core: Option<Arc<CoreSpace>>,
    modules: Arc<ModuleSet>,
    has_private_memory: bool,
    /// Of a snapshot: the live process behind it, where that is asked.
    live: Option<Arc<dyn LaterMemory>>,
    /// Whether searches look there, too.
    is_live_searched: bool,
}

impl ProcessSpace {
    pub(crate) fn new(
        target: Target,
        core: Option<Arc<CoreSpace>>,
        modules: Arc<ModuleSet>,
    ) -> Self {
        const PF_W: u32 = 2;
        let has_private_memory = core.as_ref().is_none_or(|core| {
            core.segments().iter().any(|segment| segment.flags & PF_W != 0 && segment.file_size > 0)
        });
        Self { target, core, modules, has_private_memory, live: None, is_live_searched: false }
    }

    /// The same of a snapshot, which leaves out whatever stacks do not need: of writable data nothing
    /// tells that it is as in its file. What was not copied is read from `live`, if that is there.
    pub(crate) fn of_snapshot(self, parts: &LiveParts) -> Self {
        Self {
            has_private_memory: false,
            live: parts.pages.clone(),
            is_live_searched: parts.reads_later,
            ..self
        }
    }

    /// The bytes that the live process has, if it has the address, and is asked.
    fn in_process(&self, at: Addr) -> Option<(&[u8], Origin)> {
        let bytes = self.live.as_ref()?.slice(at)?;
        let left = match self.core.as_ref().and_then(|core| core.segment_at(at)) {
            Some(segment) => segment.range.end.offset_from(at)?,
            None => u64::MAX,
        };
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        Some((bytes.get(..left).unwrap_or(bytes), Origin::Live))
    }

    fn in_core(&self, at: Addr) -> Result<&[u8], Fault> {
        self.core.as_ref().map_or(Err(Fault::Unmapped(at)), |core| core.slice(at))
    }

    /// The bytes that the core left out, from the module's file: up to where the core begins again.
    fn in_file(&self, at: Addr) -> Option<(&[u8], Origin)> {
        let module = self.modules.at(at)?;
        let (bytes, segment) = module.file_bytes(at)?;
        if segment.is_writable() && !self.has_private_memory {
            return None;
        }
        let bytes = match self.core.as_ref().and_then(|core| core.segment_at(at)) {
            Some(segment) => {
                let left = segment.range.end.offset_from(at)?;
                bytes.get(..usize::try_from(left).ok()?).unwrap_or(bytes)
            }
            None => bytes,
        };
        let verified = module.is_verified();
        Some((bytes, if verified { Origin::ModuleFile } else { Origin::UnverifiedFile }))
    }

    /// What the process may have beyond what was copied and what files hold: mappings that may be read, up
    /// to as much as is read later. `held` is in order.
    fn in_later_memory(&self, held: &[Region]) -> Vec<Region> {
        let Some(core) = self.core.as_ref().filter(|_| self.is_live_searched) else {
            return Vec::new();
        };
        let readable = core.segments().iter().filter(|segment| segment.flags & PF_R != 0);
        let mut left = MAX_LATER;
        regions::gaps(readable.map(|segment| segment.range).collect(), held)
            .into_iter()
            .filter(|gap| {
                let fits = gap.len() <= left;
                left = if fits { left.saturating_sub(gap.len()) } else { left };
                fits
            })
            .map(|range| Region { range, origin: Origin::Live })
            .collect()
    }

    /// Adds what files hold of addresses that the core does not hold.
    fn add_files(&self, gap: AddrRange, regions: &mut Vec<Region>) {
        let mut at = gap.start;
        while gap.contains(at) {
            let Some((bytes, origin)) = self.in_file(at).filter(|(bytes, _)| !bytes.is_empty())
            else {
                // What this segment has no bytes for, the next one may have.
                match self.core.as_ref().and_then(|core| core.segment_after(at)) {
                    Some(segment) => at = segment.range.start,
                    None => return,
                }
                continue;
            };
            let end = at.saturating_add(bytes.len() as u64).min(gap.end);
            regions.push(Region { range: AddrRange::new(at, end), origin });
            at = end;
        }
    }

    fn find(&self, at: Addr) -> Result<(&[u8], Origin), Fault> {
        match self.in_core(at) {
            Ok(bytes) => Ok((bytes, self.core_origin())),
            Err(fault) => {
                let elsewhere = self.in_file(at).or_else(|| self.in_process(at));
                elsewhere.ok_or_else(|| self.explain(at, fault))
            }
        }
    }

    fn core_origin(&self) -> Origin {
        self.core.as_ref().map_or(Origin::Core, |core| core.bytes_origin())
    }

    /// A core written by gdb has no segment for what it left out, but its modules tell that
    /// something was there.
    fn explain(&self, at: Addr, fault: Fault) -> Fault {
        match fault {
            Fault::Unmapped(_) if self.modules.at(at).is_some() => Fault::NotDumped(at),
            other => other,
        }
    }
}

impl AddressSpace for ProcessSpace {
    fn target(&self) -> Target {
        self.target
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        self.find(at).map(|(bytes, _)| bytes)
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.find(at).map(|(_, origin)| origin)
    }

    fn first_data(&self, range: AddrRange) -> Option<AddrRange> {
        // Of what it does not hold a core knows nothing.
        self.core.as_ref().map_or(Some(range), |core| core.first_data(range))
    }

    fn regions(&self) -> Vec<Region> {
        let core = self.core.as_ref().map(|core| core.regions()).unwrap_or_default();
        let files = self.modules.all().iter().flat_map(|module| module.ranges()).collect();
        let gaps = regions::gaps(files, &core);
        let mut regions = core;
        for gap in gaps {
            self.add_files(gap, &mut regions);
        }
        regions.sort_by_key(|region| region.range.start);
        regions.extend(self.in_later_memory(&regions));
        regions.sort_by_key(|region| region.range.start);
        regions
    }
}
