//! V8 in a program that exports nothing of it: Deno, Electron, Chromium, whoever links V8 into itself.
//!
//! Its version is text among the constants of the program. That its objects are laid out as those of this version
//! without compressed pointers is believed only when its read-only heap says so, see `read_only`.

use std::collections::BTreeSet;

use kcore_elf::Section;
use kcore_mem::{AddrRange, Arch};

use super::{
    V8, Version,
    builtins::Builtins,
    heap::Heap,
    layout::{Column, Layout},
    owner::Homes,
    probe::{NAME, unknown},
    read_only::{self, MapOfMaps, Pointers},
};
use crate::{Damage, Finding, Host, HostModule, Identity, Undecoded};

/// V8 alone has so much code, at least.
const MIN_CODE: u64 = 16 << 20;
/// Where constants lie that a program prints.
const SECTION: &str = ".rodata";
/// What every V8 can say: a message of `src/builtins/base.tq` and `src/execution/messages.cc`, in all
/// versions from 9.4 to 15.8.
const MESSAGE: &[u8] = b"Fatal JavaScript invalid size error";

/// The module that V8 is linked into, recognized by the messages of V8 among its constants. Only processes that make code at
/// run time are looked at.
pub fn find(host: &dyn Host) -> Option<Finding> {
    let ranges = host.ranges();
    let makes_code = ranges.iter().any(|range| range.executable && !range.is_file);
    let modules = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    let mut big = modules.filter(|_| makes_code);
    let (module, constants) = big.find_map(|module| Some((module, constants(module)?)))?;
    let versions = Version::in_constants(&constants);
    Some(Embedded { host, module, versions }.finding())
}

/// The constants of a module, if V8's message is among them.
fn constants(module: &dyn HostModule) -> Option<Section> {
    let constants = module.image()?.section_data(SECTION)?;
    memchr::memmem::find(&constants, MESSAGE)?;
    Some(constants)
}

/// What is not decoded of a version.
fn undecoded(version: Version, layout: &Layout, is_known: bool) -> Vec<Undecoded> {
    let of_heap = || Undecoded {
        why: "objects are not counted, only followed: the pages of its heap are not known".into(),
        nearest: None,
    };
    match is_known {
        false => vec![unknown(version)],
        true => (!layout.has_known_pages()).then(of_heap).into_iter().collect(),
    }
}

/// V8 in a module that exports nothing of it.
struct Embedded<'a> {
    host: &'a dyn Host,
    module: &'a dyn HostModule,
    /// The versions that may be its own, by its constants.
    versions: BTreeSet<Version>,
}

impl Embedded<'_> {
    fn finding(&self) -> Finding {
        if self.host.space().target().arch != Arch::X86_64 {
            return self.damaged("its frames are known on x86-64 only".to_owned());
        }
        let known = read_only::find(self.host);
        if known.is_empty() {
            return self.damaged(self.unproven("no read-only heap of V8 was found in memory"));
        }
        if known.iter().all(|map| map.pointers == Pointers::Compressed) {
            let why = "its pointers are compressed, which is not supported: JavaScript frames are addresses";
            return self.damaged(why.to_owned());
        }
        let Some(version) = self.version() else {
            return self.damaged(self.unproven("its constants do not tell its version"));
        };
        match Column::of(version) {
            None => Finding::Found(Box::new(self.v8(version, Column::nearest(version), false))),
            Some(column) if self.fits(column, &known) => {
                Finding::Found(Box::new(self.v8(version, column, true)))
            }
            Some(_) => self.damaged(self.unproven(&format!(
                "its read-only heap is not that of V8 {}.{}",
                version.major, version.minor
            ))),
        }
    }

    /// The one version that its constants may have.
    fn version(&self) -> Option<Version> {
        self.versions.first().copied().filter(|_| self.versions.len() == 1)
    }

    /// Whether the read-only heap is laid out as a column says.
    fn fits(&self, column: Column, known: &[MapOfMaps]) -> bool {
        let layout = Layout::load(column, &|_| None);
        let heap = Heap { space: self.host.space(), layout: &layout, maps: None };
        known.iter().any(|map| map.fits(&heap))
    }

    fn v8(&self, version: Version, column: Column, is_known: bool) -> V8 {
        let layout = Layout::load(column, &|_| None);
        let name = self.module.name();
        let identity = Identity {
            name: NAME,
            version: Some(version.to_string().into()),
            instance: name.into(),
            metadata: self.source(is_known).into(),
            undecoded: undecoded(version, &layout, is_known),
        };
        let home: AddrRange = self.module.span();
        let builtins = Builtins::find(self.host, self.module);
        V8::new(identity, layout, is_known, Homes::new(home, &[home])).with_builtins(builtins)
    }

    fn source(&self, is_known: bool) -> String {
        let name = self.module.name();
        match is_known {
            true => format!(
                "table of its version, which constants of {name} tell and its read-only heap fits"
            ),
            false => format!("table of another version: its own is told by constants of {name}"),
        }
    }

    fn unproven(&self, what: &str) -> String {
        let name = self.module.name();
        format!(
            "{name} exports nothing that tells its layouts, and {what}: JavaScript frames are addresses"
        )
    }

    fn damaged(&self, why: String) -> Finding {
        Finding::Damaged(Damage {
            name: NAME,
            version: self.version().map(|version| version.to_string().into()),
            why: why.into(),
            stand_in: None,
        })
    }
}
