//! How the virtual machine of Java is found.

use std::{collections::BTreeSet, sync::Arc};

use kcore_mem::Arch;

use super::{
    Java,
    blobs::CodeCache,
    layout::Layout,
    native_image,
    version::Version,
    vm_structs::{EXPORTED, VmStructs},
};
use crate::{Damage, Finding, Host, HostModule, Identity, Probe, Undecoded};

/// Looks for HotSpot by what its library exports.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "java";

/// The smallest virtual machine has more code.
const MIN_CODE: u64 = 1 << 20;
/// How its library is called, of all vendors.
const HOTSPOT: &str = "libjvm.so";
/// How the library of another virtual machine is called, OpenJ9.
const OPENJ9: &str = "libj9vm";

fn find(host: &dyn Host) -> Vec<Finding> {
    let mut images = BTreeSet::new();
    // A native image maps its file once more for each isolate.
    let is_new = |module: &&dyn HostModule| {
        let is_image = module.code_size() >= MIN_CODE && native_image::is_one(*module);
        !is_image || images.insert(module.name().to_owned())
    };
    let modules = host.modules().into_iter().filter(is_new);
    modules.filter_map(|module| find_in(host, module)).collect()
}

fn find_in(host: &dyn Host, module: &dyn HostModule) -> Option<Finding> {
    if module.name().starts_with(OPENJ9) {
        return Some(damaged(None, "OpenJ9 is not decoded, only HotSpot is".to_owned()));
    }
    (module.code_size() >= MIN_CODE).then_some(())?;
    if native_image::is_one(module) {
        let why = "a native image of GraalVM is not decoded, only HotSpot is".to_owned();
        return Some(damaged(native_image::version(module), why));
    }
    if module.name() == HOTSPOT && module.image().is_none() && module.exported(EXPORTED).is_none() {
        let why = "its file is needed, which has the names in its tables".to_owned();
        return Some(damaged(None, format!("HotSpot in {HOTSPOT}: {why}")));
    }
    module.exported(EXPORTED)?;
    Some(match load(host, module) {
        Ok(java) => Finding::Found(Box::new(java)),
        Err((version, why)) => damaged(version, format!("HotSpot in {}: {why}", module.name())),
    })
}

fn damaged(version: Option<Arc<str>>, why: String) -> Finding {
    Finding::Damaged(Damage { name: NAME, version, why: why.into(), stand_in: None })
}

/// What is wrong, and the version as far as it is known.
type Refusal = (Option<Arc<str>>, String);

fn load(host: &dyn Host, module: &dyn HostModule) -> Result<Java, Refusal> {
    let space = host.space();
    let unknown = |why: &str| (None, why.to_owned());
    if space.target().arch != Arch::X86_64 {
        return Err(unknown("its frames are known on x86-64 only"));
    }
    let tables = VmStructs::read(module, space)
        .ok_or_else(|| unknown("its tables, gHotSpotVMStructs, cannot be read"))?;
    let version = Version::load(&tables, space)
        .ok_or_else(|| unknown("it does not say which version it is"))?;
    let refused = |why: String| (Some(version.text.clone()), why);
    let Some(major) = version.major else {
        return Err(refused(format!("the layouts of version {} are not known", version.text)));
    };
    let layout = Layout::of(&tables, space, major).map_err(refused)?;
    let cache = CodeCache::read(&tables, space)
        .ok_or_else(|| refused("its code cache is not made yet, or was not dumped".to_owned()))?;
    let undecoded = layout.missing.iter().map(|why| Undecoded::from(why.as_str())).collect();
    let identity = Identity {
        name: NAME,
        version: Some(version.text.clone()),
        instance: module.name().into(),
        metadata: "the tables of the virtual machine, gHotSpotVMStructs".into(),
        undecoded,
    };
    Ok(Java::new(identity, layout, cache, &tables, module.span().start, space))
}
