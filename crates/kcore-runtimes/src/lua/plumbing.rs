//! Functions by which Lua calls: what they do says nothing of the program.

/// Each of them, or what its name begins with where a star ends it: `ldo.c`, `lvm.c`, `ltm.c`, `lapi.c` of 5.1 to 5.4.
const NAMES: &[&str] = &[
    "auxresume",
    "callTM*",
    "call_binTM",
    "call_orderTM",
    "ccall",
    "f_call",
    "finishCcall",
    "finishccall",
    "luaD_call*",
    "luaD_pcall",
    "luaD_precall",
    "luaD_pretailcall",
    "luaD_rawrunprotected",
    "luaT_*",
    "luaV_*",
    "lua_call*",
    "lua_pcall*",
    "lua_resume",
    "precallC",
    "resume",
    "unroll",
];

/// Those of the programs' interface, which are exported: what calls them is no more of Lua's own.
const OUTERMOST: &[&str] = &["lua_call", "lua_pcall", "lua_resume", "lua_cpcall"];

/// Whether a function of Lua's module is one of them.
pub fn is_plumbing(function: &str) -> bool {
    // What a compiler made of a function has its name with a dot and more behind.
    let function = function.split('.').next().unwrap_or_default();
    NAMES.iter().any(|name| match name.strip_suffix('*') {
        None => function == *name,
        Some(start) => function.starts_with(start),
    })
}

/// Whether a program calls Lua by a function.
pub fn is_outermost(function: &str) -> bool {
    OUTERMOST.iter().any(|name| function.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_is_told_from_what_does() {
        let plumbing =
            ["luaV_execute", "luaD_call.part.0", "lua_pcallk", "luaT_callTMres", "ccall"];
        assert!(plumbing.into_iter().all(is_plumbing));
        let others = ["luaB_pcall", "str_gsub", "sort", "pmain", "luaH_get", "luaG_runerror"];
        assert!(!others.into_iter().any(is_plumbing));
        assert!(is_outermost("lua_callk") && !is_outermost("luaD_call"));
    }
}
