//! How Go is found.

use super::{
    Go,
    fatal::Backlog,
    roots,
    version::{SECTION, Version},
};
use crate::{Damage, Finding, Host, HostModule, Identity, Probe};

/// Looks for modules that Go's linker made.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "go";

/// Go's runtime alone has more code.
const MIN_CODE: u64 = 256 << 10;

/// The runtime of gcc's compiler of Go, a library. Its goroutines are contexts of C's library, and its tables those of C.
const GCC: &str = "libgo.so.";

fn find(host: &dyn Host) -> Vec<Finding> {
    let of_gcc = host.modules().into_iter().filter(|module| module.name().starts_with(GCC));
    let of_gcc: Vec<Finding> = of_gcc.map(by_gcc).collect();
    let large = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    let mut has_goroutines = false;
    let found = large.filter_map(|module| find_in(host, module)).map(|found| match found {
        Ok(go) => {
            let by_address = has_goroutines;
            has_goroutines |= go.has_goroutines();
            Finding::Found(Box::new(Go { by_address, ..go }))
        }
        Err(damage) => Finding::Damaged(damage),
    });
    found.chain(of_gcc).collect()
}

fn by_gcc(module: &dyn HostModule) -> Finding {
    let why = format!(
        "{} is the runtime of gccgo, whose goroutines are not decoded: frames are shown as those of C",
        module.name()
    );
    Finding::Damaged(Damage { name: NAME, version: None, why: why.into(), stand_in: None })
}

fn find_in(host: &dyn Host, module: &dyn HostModule) -> Option<Result<Go, Damage>> {
    let image = module.image()?;
    let tables = roots::tables_section(image);
    (tables.is_some() || image.section(SECTION).is_some()).then_some(())?;
    let lies_at = tables.and_then(|tables| roots::section(module, tables));
    let version = roots::section(module, SECTION);
    let version = version.and_then(|section| Version::load(host.space(), section.start));
    let version = version.or_else(|| Version::of_variable(host, module));
    let damaged = |why: String| {
        let why = format!("Go in {}: {why}", module.name()).into();
        let version = version.as_ref().map(|version| version.text.clone());
        Some(Err(Damage { name: NAME, version, why, stand_in: None }))
    };
    let Some(known) = &version else {
        return damaged("it does not say which version made it".to_owned());
    };
    let Some(minor) = known.minor else {
        return damaged(format!("the layouts of Go {} are not known", known.text));
    };
    let Some(at) = roots::module_data(host, module, lies_at.map(|range| range.start)) else {
        return damaged("its runtime.moduledata is not found, or was not dumped".to_owned());
    };
    let goroutines = roots::all_goroutines(host, module);
    let go = match Go::with_roots(host, minor, at, goroutines) {
        Ok(go) => go,
        Err(why) => return damaged(why),
    };
    let identity = Identity {
        name: NAME,
        version: Some(known.text.clone()),
        instance: module.name().into(),
        metadata: match tables {
            Some(section) => format!("the tables of functions in {section}").into(),
            None => "the tables of functions that runtime.moduledata names".into(),
        },
        undecoded: Vec::new(),
    };
    Some(Ok(Go { identity, backlog: Backlog::of(module), ..go }))
}
