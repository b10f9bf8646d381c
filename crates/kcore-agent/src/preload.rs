//! `LD_PRELOAD`: the agent installs itself before `main` runs.

#![allow(unsafe_code)]

use std::{
    env,
    ffi::{CStr, OsStr, OsString},
    fs,
    mem::zeroed,
    os::unix::ffi::OsStrExt,
    path::Path,
};

use crate::{Settings, install, output};

/// What is preloaded into every program (ld.so(8)).
const FOR_ALL: &str = "/etc/ld.so.preload";

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// Installs the agent where the user wants it in this process: by `LD_PRELOAD`, or by `KCORE_AGENT=1` in a
/// program that is linked with it. `KCORE_AGENT=0` keeps it out. Where it cannot be, that is said, and the program
/// runs as it would have without it.
extern "C" fn loaded() {
    let wanted = env::var_os("KCORE_AGENT").unwrap_or_default();
    let is_wanted = match wanted.as_bytes() {
        b"0" => false,
        b"1" => true,
        b"" => is_preloaded(),
        other => {
            let other = String::from_utf8_lossy(other).escape_debug().to_string();
            return output::say(&format!(
                "KCORE_AGENT is {other}, and has to be 0 or 1: not installed"
            ));
        }
    };
    if !is_wanted {
        return;
    }
    if let Err(error) = Settings::from_environment().and_then(install) {
        output::say(&format!("not installed: {error}"));
    }
}

/// Whether a user had this file loaded before the program's own.
fn is_preloaded() -> bool {
    let Some(own) = own_file() else { return false };
    let is_own = |file: &[u8]| Path::new(OsStr::from_bytes(file)).file_name() == Some(&own);
    let names =
        |text: &[u8]| text.split(|byte| *byte == b':' || byte.is_ascii_whitespace()).any(is_own);
    let given = env::var_os("LD_PRELOAD").unwrap_or_default();
    names(given.as_bytes()) || fs::read(FOR_ALL).is_ok_and(|text| names(&text))
}

/// The name of the file that has this code.
fn own_file() -> Option<OsString> {
    // SAFETY: the call only reads the address, and fills `found`, for which zeros are valid. The name stays for as
    // long as the file is loaded.
    let path = unsafe {
        let mut found: libc::Dl_info = zeroed();
        let is_found = libc::dladdr(loaded as *const libc::c_void, &raw mut found) != 0;
        (is_found && !found.dli_fname.is_null()).then(|| CStr::from_ptr(found.dli_fname))?
    };
    Path::new(OsStr::from_bytes(path.to_bytes())).file_name().map(OsStr::to_owned)
}
