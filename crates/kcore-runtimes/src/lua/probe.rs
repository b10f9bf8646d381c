//! How Lua is found: `lua.h`, `lapi.c` (`lua_ident`).

use std::sync::Arc;

use kcore_mem::Endian;

use super::{Lua, layout::Series};
use crate::{Damage, Finding, FrameKind, Host, HostModule, Identity, Probe, StandIn};

/// Looks for Lua.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "lua";

/// What every Lua exports that programs can be linked with, or load libraries into.
const EXPORTED: &str = "lua_newstate";
/// What LuaJIT exports beside that: it is another machine.
const JIT: &str = "luaJIT_setmode";
/// A text with the release.
const IDENT: &str = "lua_ident";
const MAX_IDENT: usize = 128;

fn find(host: &dyn Host) -> Vec<Finding> {
    let with = host
        .modules()
        .into_iter()
        .filter(|module| module.exported(EXPORTED).is_some() && module.exported(JIT).is_none());
    let mut known: Vec<Option<Series>> = Vec::new();
    with.map(|module| match find_in(host, module) {
        Ok(lua) => {
            let is_first = !known.contains(&lua.series) && !known.contains(&None);
            known.push(lua.series);
            Finding::Found(Box::new(Lua { lists_coroutines: is_first, ..lua }))
        }
        Err(damage) => Finding::Damaged(damage),
    })
    .collect()
}

fn find_in(host: &dyn Host, module: &dyn HostModule) -> Result<Lua, Damage> {
    let version = ident(host, module).or_else(|| version_of_name(module.name()));
    let damaged = |why: &str| {
        let stand_in =
            StandIn { module: module.span(), function: "luaV_execute", kind: FrameKind::Lua };
        let version = version.as_deref().map(Arc::from);
        Err(Damage { name: NAME, version, why: why.into(), stand_in: Some(stand_in) })
    };
    let target = host.space().target();
    if target.word_size() != 8 || target.endian != Endian::Little {
        return damaged(
            "its layouts are known on machines with little-endian words of 64 bits only",
        );
    }
    let series = match version.as_deref().map(series) {
        Some(None) => return damaged("its layouts are not known (those of 5.1 to 5.4 are)"),
        Some(series) => series,
        None => None,
    };
    let identity = Identity {
        version: version.map(Arc::from),
        metadata: "table of its version, which the shape of its states tells".into(),
        ..Identity::new(NAME, module.name())
    };
    Ok(Lua::new(identity, module.span(), series))
}

/// The release that a module says of itself: `$LuaVersion: Lua 5.4.4  Copyright ...`.
fn ident(host: &dyn Host, module: &dyn HostModule) -> Option<String> {
    let at = module.addr(module.exported(IDENT)?.0)?;
    let text = host.space().read_cstr(at, MAX_IDENT).ok()?;
    release(&String::from_utf8_lossy(&text))
}

fn release(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(": Lua ")?;
    let end = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(rest.len());
    rest.get(..end).filter(|version| !version.is_empty()).map(str::to_owned)
}

/// The version that the name of a library has: `liblua5.3.so.0.0.0`, `liblua.so.5.4.4`.
fn version_of_name(name: &str) -> Option<String> {
    let rest = name.strip_prefix("liblua")?.trim_start_matches(['-', '.']);
    let rest = rest.strip_prefix("so.").unwrap_or(rest);
    let end = rest.find(".so").unwrap_or(rest.len());
    rest.get(..end).filter(|version| series(version).is_some()).map(str::to_owned)
}

fn series(version: &str) -> Option<Series> {
    let minor = version.strip_prefix("5.")?.split('.').next()?;
    match minor {
        "1" => Some(Series::V51),
        "2" => Some(Series::V52),
        "3" => Some(Series::V53),
        "4" => Some(Series::V54),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_what_modules_say() {
        let new = "$LuaVersion: Lua 5.4.4  Copyright (C) 1994-2022 Lua.org, PUC-Rio $";
        assert_eq!(release(new).as_deref(), Some("5.4.4"));
        assert_eq!(release("$Lua: Lua 5.1.5 Copyright (C)").as_deref(), Some("5.1.5"));
        assert_eq!((release(""), release("$Lua: Lua ")), (None, None));
    }

    #[test]
    fn libraries_say_their_version() {
        assert_eq!(version_of_name("liblua5.3.so.0.0.0").as_deref(), Some("5.3"));
        assert_eq!(version_of_name("liblua.so.5.4.4").as_deref(), Some("5.4.4"));
        assert_eq!(version_of_name("liblua-5.1.so").as_deref(), Some("5.1"));
        assert_eq!((version_of_name("liblua.so"), version_of_name("libc.so.6")), (None, None));
        assert_eq!((series("5.5.0"), series("5.0.3"), series("5")), (None, None, None));
    }
}
