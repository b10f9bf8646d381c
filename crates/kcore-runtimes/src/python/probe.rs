//! How CPython is found, and where its layouts are had from.

use kcore_mem::{Addr, AddrRange, Arch};

use super::{
    Python, Version,
    activations::LOOP,
    heap::{DICT, Heap},
    interpreter::is_interpreter,
    layout::{DebugOffsets, Layout},
    search,
};
use crate::{Damage, Finding, FrameKind, Host, HostModule, Identity, Probe, StandIn};

/// Looks for CPython.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "cpython";

/// What CPython exports, and since 3.10 the section that holds nothing else.
const SYMBOL: &str = "_PyRuntime";
const SECTION: &str = ".PyRuntime";
/// CPython alone has more code.
const MIN_CODE: u64 = 512 << 10;

/// Modules without a file whose memory is searched, at most.
const MAX_SEARCHED: usize = 8;

fn find(host: &dyn Host) -> Vec<Finding> {
    let (mut found, mut without_files) = (Vec::new(), Vec::new());
    for (index, module) in host.modules().into_iter().enumerate() {
        if module.code_size() < MIN_CODE {
            continue;
        }
        let candidate = Candidate { host, module };
        // The executable is the first one.
        let may_be = || module.image().is_none() && (index == 0 || search::may_be_python(module));
        match runtime_of(module) {
            Some(runtime) => found.push(candidate.at(runtime)),
            None if may_be() => without_files.push(candidate),
            None => {}
        }
    }
    found.extend(without_files.iter().take(MAX_SEARCHED).filter_map(Candidate::searched));
    found
}

/// Where `_PyRuntime` lies, by the module's file.
fn runtime_of(module: &dyn HostModule) -> Option<Addr> {
    let symbol = || module.exported(SYMBOL).map(|(svma, _)| svma);
    let section = || module.image()?.section(SECTION).map(|section| section.svma);
    // Often behind the module's last mapping of its file: in `.bss`.
    module.addr(symbol().or_else(section)?)
}

/// A module that may hold CPython.
struct Candidate<'a> {
    host: &'a dyn Host,
    module: &'a dyn HostModule,
}

impl Candidate<'_> {
    /// That whose `_PyRuntime` lies at an address.
    fn at(&self, runtime: Addr) -> Finding {
        if self.host.space().target().arch != Arch::X86_64 {
            return self.damaged(None, "its layouts are known on x86-64 only");
        }
        match DebugOffsets::load(self.host.space(), runtime) {
            Some(offsets) => self.by_offsets(&offsets),
            None => self.by_tables(runtime),
        }
    }

    /// That of a module without a file: by the table for debuggers, or by an interpreter.
    fn searched(&self) -> Option<Finding> {
        if let Some(runtime) = search::cookie(self.host, self.module) {
            return Some(self.at(runtime));
        }
        search::may_be_python(self.module).then_some(())?;
        let tables = Layout::MINORS.filter(|minor| *minor < 13).filter_map(Layout::of);
        tables.into_iter().find_map(|layout| {
            let runtime = search::interpreter(self.host, self.module, &layout)?;
            self.by_table(runtime, layout)
        })
    }

    fn by_offsets(&self, offsets: &DebugOffsets) -> Finding {
        let version = offsets.version;
        if offsets.is_free_threaded {
            let why = "a free-threaded build, which has other layouts and no global lock";
            return self.damaged(Some(version), why);
        }
        let Some(layout) = offsets.layout(self.host.space()) else {
            return match Layout::MINORS.contains(&version.minor()) {
                true => self.damaged(Some(version), "its table of offsets is damaged"),
                false => self
                    .damaged(Some(version), "its layouts are not known (those of 3.8 to 3.15 are)"),
            };
        };
        let main = self.main(offsets.at, &layout);
        match main {
            Ok(main) => {
                let identity = self.identity(version, "its table of offsets for debuggers");
                Finding::Found(Box::new(self.python(identity, layout, offsets.at, main)))
            }
            Err(why) => self.damaged(Some(version), why),
        }
    }

    /// That whose layouts fit the interpreter: those of one version do, but for 3.9 and 3.10, which
    /// `sys.hexversion` tells apart.
    fn by_tables(&self, runtime: Addr) -> Finding {
        let tables = Layout::MINORS.filter(|minor| *minor < 13).filter_map(Layout::of);
        let found = tables.into_iter().find_map(|layout| self.by_table(runtime, layout));
        let why = "its interpreter is none of 3.8 to 3.15, was not dumped, or is damaged";
        found.unwrap_or_else(|| self.damaged(None, why))
    }

    fn by_table(&self, runtime: Addr, layout: Layout) -> Option<Finding> {
        let main = self.main(runtime, &layout).ok()?;
        let heap = Heap { space: self.host.space(), layout: &layout };
        let version = hexversion(&heap, main)?;
        (version.minor() == layout.minor).then_some(())?;
        let identity = self.identity(version, "table of its version");
        Some(Finding::Found(Box::new(self.python(identity, layout, runtime, main))))
    }

    /// The first of the interpreters.
    fn main(&self, runtime: Addr, layout: &Layout) -> Result<Addr, &'static str> {
        let heap = Heap { space: self.host.space(), layout };
        let head = runtime.checked_add(layout.runtime.head).ok_or("it has no interpreter")?;
        let main = match heap.space.read_addr(head) {
            Err(_) => return Err("its interpreter was not dumped"),
            Ok(main) if main.get() == 0 => {
                return Err("it has no interpreter: it did not begin, or ended");
            }
            Ok(main) => main,
        };
        match is_interpreter(&heap, main) {
            true => Ok(main),
            false => Err("its interpreter was not dumped, or is damaged"),
        }
    }

    fn python(&self, identity: Identity, layout: Layout, runtime: Addr, main: Addr) -> Python {
        Python::new(identity, layout, self.module.span(), Some(runtime), main)
    }

    fn damaged(&self, version: Option<Version>, why: &str) -> Finding {
        let version = version.map(|version| version.to_string().into());
        let module = self.module.span();
        let stand_in = Some(StandIn { module, function: LOOP, kind: FrameKind::Python });
        Finding::Damaged(Damage { name: NAME, version, why: why.into(), stand_in })
    }

    fn identity(&self, version: Version, metadata: &str) -> Identity {
        Identity {
            name: NAME,
            version: Some(version.to_string().into()),
            instance: self.module.name().into(),
            metadata: metadata.into(),
            undecoded: Vec::new(),
        }
    }
}

/// `sys.hexversion` of an interpreter.
fn hexversion(heap: &Heap<'_>, interpreter: Addr) -> Option<Version> {
    let sys = heap.field_of(interpreter, heap.layout.interpreter.sysdict, DICT)?;
    let number = heap.small_int(heap.lookup(sys, "hexversion")?)?;
    Version::parse(u64::try_from(number).ok()?)
}

/// The writable memory of a module, and what lies right behind it: its `.bss`.
pub fn data_of(host: &dyn Host, module: &dyn HostModule) -> Vec<AddrRange> {
    let span = module.span();
    let ranges = host.ranges().into_iter().filter(|range| range.readable && !range.executable);
    let mut end = span.end;
    let mut found = Vec::new();
    for range in ranges.map(|range| range.range).filter(|range| range.start >= span.start) {
        if range.start > end {
            break;
        }
        end = end.max(range.end);
        found.push(range);
    }
    found
}
