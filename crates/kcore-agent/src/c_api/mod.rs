//! The functions of `kcore_agent.h`.

#![allow(unsafe_code)]

mod collection;
mod strings;

use std::{
    ffi::{CString, c_char, c_int},
    ptr::null_mut,
};

use crate::{AgentError, Settings, Stacks, install, stacks};

use strings::c_string;

/// Installs the agent as environment variables say; see `kcore_agent.h`.
#[unsafe(no_mangle)]
pub extern "C" fn kcore_agent_install() -> c_int {
    Settings::from_environment().and_then(install).map_or_else(|error| number_of(&error), |()| 0)
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
    stacks().map_or(null_mut(), |stacks| c_string(&part(stacks)).into_raw())
}

/// The error number that `errno.h` has for it.
fn number_of(error: &AgentError) -> c_int {
    match error {
        AgentError::NotInstalled => libc::ENOSYS,
        AgentError::Installed => libc::EALREADY,
        AgentError::Setting { .. } => libc::EINVAL,
        AgentError::SignalInUse(_) | AgentError::SignalBlocked(_) => libc::EBUSY,
        AgentError::System { error, .. } => {
            error.raw_os_error().filter(|number| *number != 0).unwrap_or(libc::EIO)
        }
        AgentError::Late(_) => libc::ETIMEDOUT,
        AgentError::GivenUp => libc::ENOTRECOVERABLE,
        AgentError::Look(_) | AgentError::Failed => libc::EIO,
    }
}
