//! How Perl is found: `perl.h` (`PL_version`), `perlvars.h` and `intrpvar.h`.

use std::sync::Arc;

use kcore_mem::{Addr, Endian};

use super::{
    Perl,
    interpreter::{Interpreter, Storage},
    layout::Layout,
};
use crate::{Damage, Finding, FrameKind, Host, HostModule, Identity, Probe, StandIn};

/// Looks for Perl.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "perl";

/// What every Perl exports: what executes operations.
const MACHINE: &str = "Perl_runops_standard";
/// Its release: three numbers of a byte each.
const RELEASE: [&str; 3] = ["PL_revision", "PL_version", "PL_subversion"];
/// Of one with threads: the key under which a thread has its interpreter, and the variable that has it since 5.36.
const KEY: &str = "PL_thr_key";
const VARIABLE: &str = "PL_current_context";
/// The first interpreter that was made.
const FIRST: &str = "PL_curinterp";
/// What names of programs and libraries begin with that tell their release.
const NAMES: [&str; 2] = ["libperl.so.", "perl"];
/// Characters of a release, at most.
const MAX_VERSION: usize = 16;

fn find(host: &dyn Host) -> Vec<Finding> {
    let with = host.modules().into_iter().filter(|module| module.exported(MACHINE).is_some());
    with.map(|module| match find_in(host, module) {
        Ok(perl) => Finding::Found(Box::new(perl)),
        Err(damage) => Finding::Damaged(damage),
    })
    .collect()
}

fn find_in(host: &dyn Host, module: &dyn HostModule) -> Result<Perl, Damage> {
    let version = release(host, module).or_else(|| release_of_name(module.name()));
    let damaged = |why: &str| {
        let stand_in = StandIn { module: module.span(), function: MACHINE, kind: FrameKind::Perl };
        let version = version.as_deref().map(Arc::from);
        Err(Damage { name: NAME, version, why: why.into(), stand_in: Some(stand_in) })
    };
    let target = host.space().target();
    if target.word_size() != 8 || target.endian != Endian::Little {
        return damaged(
            "its layouts are known on machines with little-endian words of 64 bits only",
        );
    }
    let Some(told) = version.as_deref() else {
        return damaged("its version is not known: what tells it was not dumped");
    };
    let Some(layout) = numbers(told).and_then(Layout::of) else {
        return damaged("its layouts are not known (those of 5.30 to 5.42 are)");
    };
    let Some(storage) = storage(host, module) else {
        return damaged("where it keeps its calls was not dumped");
    };
    let identity = Identity {
        version: version.map(Arc::from),
        metadata: "table of its version, which its own constants tell".into(),
        ..Identity::new(NAME, module.name())
    };
    Ok(Perl::new(identity, layout, module.span(), storage))
}

/// Where a variable lies that Perl exports. A program that uses a variable of a library has the only copy that counts.
fn exported(host: &dyn Host, module: &dyn HostModule, name: &str) -> Option<Addr> {
    let program = host.modules().into_iter().next();
    let copy = program.and_then(|program| program.addr(program.exported(name)?.0));
    copy.or_else(|| module.addr(module.exported(name)?.0))
}

fn storage(host: &dyn Host, module: &dyn HostModule) -> Option<Storage> {
    if module.exported(KEY).is_some() {
        let key = exported(host, module, KEY).and_then(|at| host.space().read_uint(at, 4).ok());
        let variable = module.exported(VARIABLE).map(|(offset, _)| offset);
        let first = exported(host, module, FIRST);
        return Some(Storage::PerThread { variable, key, first });
    }
    let at = |name| exported(host, module, name);
    Some(Storage::Only(Interpreter {
        operation: at("PL_op"),
        position: at("PL_curcop")?,
        stack: at("PL_curstack")?,
        stack_info: at("PL_curstackinfo")?,
        symbols: at("PL_defstash"),
        arenas: at("PL_sv_arenaroot"),
        main: at("PL_main_cv"),
    }))
}

/// The release that a module says of itself.
fn release(host: &dyn Host, module: &dyn HostModule) -> Option<String> {
    let number = |name| {
        let at = module.addr(module.exported(name)?.0)?;
        host.space().read_uint(at, 1).ok().map(|number| number.to_string())
    };
    let numbers: Option<Vec<String>> = RELEASE.into_iter().map(number).collect();
    numbers.map(|numbers| numbers.join("."))
}

/// The release that the name of a program or a library has: `libperl.so.5.36.0`, `perl5.36.0`.
fn release_of_name(name: &str) -> Option<String> {
    let rest = NAMES.iter().find_map(|start| name.strip_prefix(start))?;
    let known = rest.get(..rest.len().min(MAX_VERSION))?;
    numbers(known).is_some().then(|| known.to_owned())
}

/// The first two numbers of a release: `5.36.0`.
fn numbers(version: &str) -> Option<(u8, u8)> {
    let mut parts = version.split('.');
    let mut next = || parts.next()?.parse().ok();
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_numbers_of_a_release_count() {
        assert_eq!(numbers("5.36.0"), Some((5, 36)));
        assert_eq!((numbers("5"), numbers(""), numbers("x.y")), (None, None, None));
    }

    #[test]
    fn names_say_a_release() {
        assert_eq!(release_of_name("libperl.so.5.36.0").as_deref(), Some("5.36.0"));
        assert_eq!(release_of_name("perl5.32.1").as_deref(), Some("5.32.1"));
        assert_eq!((release_of_name("perl"), release_of_name("libc.so.6")), (None, None));
    }
}
