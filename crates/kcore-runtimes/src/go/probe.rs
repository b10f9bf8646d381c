//! How Go is found.

use kcore_elf::SymbolTableKind;
use memchr::memmem;

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

/// What symbols of TinyGo begin with, as `tinygo_startTask` of its scheduler (`src/internal/task/task_stack_amd64.S`, 0.33).
const TINY: &[u8] = b"\0tinygo_";
const PT_INTERP: u32 = 3;

fn find(host: &dyn Host) -> Vec<Finding> {
    let of_gcc = host.modules().into_iter().filter(|module| module.name().starts_with(GCC));
    let of_gcc = of_gcc.map(|module| {
        undecoded(format!(
            "{} is the runtime of gccgo, whose goroutines are not decoded",
            module.name()
        ))
    });
    let tiny = host.modules().into_iter().filter(|module| is_tiny(*module));
    let tiny = tiny.map(|module| {
        undecoded(format!("{} was made by TinyGo, whose goroutines are not decoded", module.name()))
    });
    let others: Vec<Finding> = of_gcc.chain(tiny).collect();
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
    found.chain(others).collect()
}

/// Whether a module is a program of TinyGo, which links all of it into one file on Linux.
fn is_tiny(module: &dyn HostModule) -> bool {
    let Some(image) = module.image() else { return false };
    let is_static = image.segments().iter().all(|segment| segment.kind != PT_INTERP);
    let is_program = image.entry().get() != 0;
    is_program
        && is_static
        && memmem::find(&image.symbol_strings(SymbolTableKind::Full), TINY).is_some()
}

fn undecoded(what: String) -> Finding {
    let why = format!("{what}: frames are shown as those of C");
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
