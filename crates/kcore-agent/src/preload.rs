//! `LD_PRELOAD`: the agent installs itself before `main` runs.

#![allow(unsafe_code)]

use crate::{Settings, install};

/// What the library's own file is called, wherever it lies.
const FILE: &str = "libkcore_agent.so";

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// Installs the agent where the user wants it in this process: by `LD_PRELOAD`, or by `KCORE_AGENT=1` in a
/// program that is linked with it. `KCORE_AGENT=0` keeps it out.
extern "C" fn loaded() {
    let wanted = std::env::var("KCORE_AGENT").ok();
    let preloaded = || std::env::var("LD_PRELOAD").is_ok_and(|files| files.contains(FILE));
    let is_wanted = match wanted.as_deref() {
        Some("0") => false,
        Some("1") => true,
        _ => preloaded(),
    };
    if is_wanted {
        // Where it cannot be, the program runs as it would have without it.
        let _ = install(Settings::from_environment());
    }
}
