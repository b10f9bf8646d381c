//! What `--untrusted` takes away from kcore itself, before anything of the core is read.
//!
//! The library keeps to the folders that the user named on its own. The kernel is asked to hold it to that as well,
//! should a core find a fault in kcore: Landlock for files, connections and signals, seccomp for system calls.
//! Both hold for this process for good, and for its threads that begin later: that is why there must be no other
//! thread yet.

mod syscalls;

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// The newest interface of Landlock that is made use of: an older kernel confines less.
const LANDLOCK: ABI = ABI::V6;
/// The terminal, whatever standard input is.
const TERMINAL: &str = "/dev/tty";

/// What stays allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    /// Files and folders that are read.
    pub(crate) read: Vec<PathBuf>,
    /// The folder of temporary files, while a core is unpacked into one.
    pub(crate) unpack: Option<PathBuf>,
    /// Whether a user types.
    pub(crate) terminal: bool,
}

/// Takes away all other files, the network and most system calls. What the kernel cannot take away is told in the
/// lines that are returned: kcore then has nothing but its own checks.
pub(crate) fn confine(allowed: &Allowed) -> Vec<String> {
    let files = files_note(confine_files(allowed));
    let calls = syscalls::confine().err().map(|error| {
        format!("--untrusted: seccomp took no system calls away from kcore ({error})")
    });
    files.into_iter().chain(calls).collect()
}

/// Takes away the folder of temporary files too, once the core is unpacked.
pub(crate) fn after_opening(allowed: &Allowed) {
    if allowed.unpack.is_some() {
        // What the kernel lacks was said already.
        let _ = confine_files(&Allowed { unpack: None, ..allowed.clone() });
    }
}

fn confine_files(allowed: &Allowed) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let terminal = allowed.terminal.then_some(TERMINAL);
    Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?
        .create()?
        .add_rules(path_beneath_rules(&allowed.read, read))?
        .add_rules(path_beneath_rules(terminal, on_terminal()))?
        .add_rules(path_beneath_rules(&allowed.unpack, into_temporary()))?
        .restrict_self()
        .map(|status| status.ruleset)
}

fn on_terminal() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev
}

/// To make a file that has no name, or loses it at once, and to fill it.
fn into_temporary() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::RemoveFile
}

fn files_note(status: Result<RulesetStatus, RulesetError>) -> Option<String> {
    let what = match status {
        Ok(RulesetStatus::FullyEnforced) => return None,
        Ok(RulesetStatus::PartiallyEnforced) => {
            "the Landlock of this kernel is an old one, and confines kcore in part".to_owned()
        }
        Ok(RulesetStatus::NotEnforced) => {
            "this kernel has no Landlock: kcore keeps to the folders that were named on its own"
                .to_owned()
        }
        Err(error) => format!("Landlock does not confine kcore ({error})"),
    };
    Some(format!("--untrusted: {what}"))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::thread;

    use super::*;

    #[test]
    fn what_the_kernel_lacks_is_said() {
        assert_eq!(files_note(Ok(RulesetStatus::FullyEnforced)), None);
        for (status, word) in
            [(RulesetStatus::PartiallyEnforced, "in part"), (RulesetStatus::NotEnforced, "no Land")]
        {
            assert!(files_note(Ok(status)).is_some_and(|note| note.contains(word)), "{word}");
        }
    }

    /// Each thread is confined by itself: others of the test program go on as they are.
    #[test]
    fn files_elsewhere_cannot_be_opened_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        fs::write(&own, "").unwrap();
        let read = vec![folder.path().to_owned()];
        let confined = thread::spawn(move || {
            let status = confine_files(&Allowed { read, ..Allowed::default() });
            let opened = [File::open(&own).is_ok(), File::open("/etc/passwd").is_ok()];
            (status, opened, fs::write(own.with_file_name("new"), "").is_ok())
        });
        let (status, opened, written) = confined.join().unwrap();
        if matches!(status, Ok(RulesetStatus::NotEnforced)) {
            gen_cores::not_tested("this kernel has no Landlock");
            return;
        }
        assert_eq!((opened, written), ([true, false], false), "{status:?}");
    }
}
