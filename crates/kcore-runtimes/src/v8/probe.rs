//! How V8 is found, and where its layouts are had from.

use std::ops::ControlFlow;

use kcore_elf::Image;
use kcore_mem::{AddrRange, Arch, Svma};

use super::{
    V8, Version, embedded,
    layout::{Column, Layout},
    owner::Homes,
};
use crate::{Damage, Finding, Host, HostModule, Identity, Probe, Undecoded};

/// Looks for V8.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "v8";

/// A constant for debuggers that every V8 has which exports any.
const TOLD: &str = "HeapObjectTag";

/// V8 alone has some 20 MiB of code; what has less than this is not asked.
const MIN_CODE: u64 = 2 << 20;

fn find(host: &dyn Host) -> Vec<Finding> {
    let modules = host.modules();
    let big = modules.into_iter().filter(|module| module.code_size() >= MIN_CODE);
    let holders: Vec<&dyn HostModule> = big.filter(|module| holds_v8(*module)).collect();
    if holders.is_empty() {
        return embedded::find(host).into_iter().collect();
    }
    let homes: Vec<AddrRange> = holders.iter().map(|module| module.span()).collect();
    holders.into_iter().map(|module| find_in(host, module, &homes)).collect()
}

/// Whether a module holds V8. V8 may map its builtins a second time, which is a mapping of the file, and no
/// other V8.
fn holds_v8(module: &dyn HostModule) -> bool {
    let version = module.exported(Version::SYMBOLS[0]).and_then(|(at, _)| module.addr(at));
    version.is_some_and(|version| module.span().contains(version))
}

/// The V8 that a module holds.
fn find_in(host: &dyn Host, module: &dyn HostModule, homes: &[AddrRange]) -> Finding {
    let exports = Exports { host, module, homes };
    let version = exports.version();
    match exports.obstacle(version) {
        ControlFlow::Break(why) => Finding::Damaged(Damage {
            name: NAME,
            version: version.map(|version| version.to_string().into()),
            why: why.into(),
            stand_in: None,
        }),
        ControlFlow::Continue(version) => Finding::Found(Box::new(exports.v8(version))),
    }
}

/// What a module exports.
struct Exports<'a> {
    host: &'a dyn Host,
    module: &'a dyn HostModule,
    /// Where V8s lie in the process.
    homes: &'a [AddrRange],
}

impl Exports<'_> {
    fn version(&self) -> Option<Version> {
        let mut parts = [0; 4];
        for (part, symbol) in parts.iter_mut().zip(Version::SYMBOLS) {
            *part = self.number(symbol)?;
        }
        Some(Version::new(parts))
    }

    /// Why nothing can be decoded, if that is so; else the version.
    fn obstacle(&self, version: Option<Version>) -> ControlFlow<String, Version> {
        let Some(version) = version else {
            return ControlFlow::Break("its version was not dumped".to_owned());
        };
        if self.host.space().target().arch != Arch::X86_64 {
            return ControlFlow::Break("its frames are known on x86-64 only".to_owned());
        }
        if self.metadata("TaggedSize").is_some_and(|size| size != 8) {
            let why = "its pointers are compressed, which is not supported".to_owned();
            return ControlFlow::Break(why);
        }
        ControlFlow::Continue(version)
    }

    fn v8(&self, version: Version) -> V8 {
        let column = Column::of(version);
        let is_told = self.metadata(TOLD).is_some();
        let undecoded = match column {
            None => Some(unknown(version)),
            Some(_) => (!is_told).then(|| self.untold(version)),
        };
        let metadata = |name: &str| self.metadata(name);
        let layout = Layout::load(column.unwrap_or_else(|| Column::nearest(version)), &metadata);
        let identity = Identity {
            name: NAME,
            version: Some(version.to_string().into()),
            instance: self.module.name().into(),
            metadata: self.source().into(),
            undecoded: undecoded.into_iter().collect(),
        };
        let homes = Homes::new(self.module.span(), self.homes);
        V8::new(identity, layout, column.is_some() && is_told, homes)
    }

    fn source(&self) -> String {
        let name = self.module.name();
        match self.metadata(TOLD) {
            Some(_) => format!("v8dbg_ symbols of {name}, table of its version"),
            None => "table of its version".to_owned(),
        }
    }

    /// Why a V8 that exports nothing for debuggers is not decoded: it may have been built in other ways.
    fn untold(&self, version: Version) -> Undecoded {
        let name = self.module.name();
        let why = format!(
            "{name} exports no v8dbg_ symbols, so whether its pointers are compressed is not known: JavaScript \
             frames are addresses, values are not decoded"
        );
        let nearest = format!("Node.js with V8 {}.{}", version.major, version.minor);
        Undecoded { why: why.into(), nearest: Some(nearest.into()) }
    }

    /// A constant for debuggers.
    fn metadata(&self, name: &str) -> Option<u64> {
        self.number(&format!("v8dbg_{name}"))
    }

    /// The number, four bytes, that a symbol names. One that lies behind what its segment has in the
    /// file is 0.
    fn number(&self, symbol: &str) -> Option<u64> {
        let (svma, _) = self.module.exported(symbol)?;
        number_at(self.host, self.module, svma)
    }
}

/// The number, four bytes, that a module has at an address of its file: as it is in memory, or else in
/// the file.
pub fn number_at(host: &dyn Host, module: &dyn HostModule, svma: Svma) -> Option<u64> {
    let in_memory = || host.space().read_uint(module.addr(svma)?, 4).ok();
    in_memory().or_else(|| in_file(module.image()?, svma))
}

fn in_file(image: &Image, svma: Svma) -> Option<u64> {
    if let Some(bytes) = image.bytes_at(svma).and_then(<[u8]>::first_chunk) {
        return Some(u64::from(u32::from_le_bytes(*bytes)));
    }
    let is_zero = image.segments().iter().any(|segment| segment.may_have_changed(svma));
    is_zero.then_some(0)
}

/// Why a V8 of a version is not decoded whose layouts are not known.
pub fn unknown(version: Version) -> Undecoded {
    let known: Vec<String> = Column::all().map(Column::name).collect();
    let why = format!(
        "layouts of V8 {}.{} are not known (those of {} are): JavaScript frames are addresses, values are not decoded",
        version.major,
        version.minor,
        known.join(", "),
    );
    let nearest = format!("V8 {}", Column::nearest(version).name());
    Undecoded { why: why.into(), nearest: Some(nearest.into()) }
}
