//! The functions of `kcore_agent.h`.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int};

use crate::{AgentError, Settings, Stacks, install, stacks};

/// Installs the agent as environment variables say; see `kcore_agent.h`.
#[unsafe(no_mangle)]
pub extern "C" fn kcore_agent_install() -> c_int {
    match install(Settings::from_environment()) {
        Ok(()) => 0,
        Err(AgentError::Installed) => libc::EALREADY,
        Err(AgentError::SignalInUse(_)) => libc::EBUSY,
        Err(AgentError::System { error, .. }) => error.raw_os_error().unwrap_or(libc::EIO),
        Err(_) => libc::EINVAL,
    }
}

/// The stacks of all threads as text, to be freed by `kcore_agent_free`; null when there are none.
#[unsafe(no_mangle)]
pub extern "C" fn kcore_agent_stacks_text() -> *mut c_char {
    given(|stacks| stacks.text)
}

/// The stacks of all threads as JSON Lines, to be freed by `kcore_agent_free`; null when there are none.
#[unsafe(no_mangle)]
pub extern "C" fn kcore_agent_stacks_json() -> *mut c_char {
    given(|stacks| stacks.json)
}

/// Frees what one of the functions above gave.
///
/// # Safety
/// `text` comes from one of them and was not freed before, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it was made by `CString::into_raw`, and is the caller's.
        drop(unsafe { CString::from_raw(text) });
    }
}

fn given(part: fn(Stacks) -> String) -> *mut c_char {
    let text = stacks().ok().map(part);
    let text = text.and_then(|text| CString::new(text.replace('\0', "?")).ok());
    text.map_or(std::ptr::null_mut(), CString::into_raw)
}
