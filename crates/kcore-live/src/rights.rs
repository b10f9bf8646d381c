//! Which right is missing to trace a process: ptrace(2), "Ptrace access mode checking".

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use crate::{
    Process,
    proc::{self, Status},
};

/// `CAP_SYS_PTRACE`, Linux `include/uapi/linux/capability.h`.
const CAP_SYS_PTRACE: u32 = 19;
const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// What is missing, in words, once the system has refused.
pub fn missing(process: &Process) -> String {
    let own = proc::read(Path::new("/proc/self/status")).unwrap_or_default();
    let own = Status::parse(&own);
    let scope = proc::read(Path::new(YAMA)).ok();
    let scope = scope.and_then(|text| std::str::from_utf8(&text).ok()?.trim().parse().ok());
    // The folder itself belongs to the user in any case (`task_dump_owner`, Linux `fs/proc/base.c`).
    let owner = fs::metadata(process.folder().join("mem")).map(|file| file.uid()).ok();
    explain(&own, process.status(), owner, scope.unwrap_or(0))
}

/// `owner` is to whom the files of the process in `/proc` belong: the kernel gives that of one that must not
/// be dumped to root.
fn explain(own: &Status, target: &Status, owner: Option<u32>, scope: u32) -> String {
    let [_, user, _, _] = own.users;
    let has_right = own.capabilities >> CAP_SYS_PTRACE & 1 != 0;
    if scope == 3 {
        return format!("{YAMA} is 3: nobody may trace, until the next start of the system");
    }
    if has_right {
        return "kcore has CAP_SYS_PTRACE, but not in the user namespace of the process, or a \
                security module refuses"
            .to_owned();
    }
    let [real, effective, saved, _] = target.users;
    if [real, effective, saved] != [user; 3] {
        return format!(
            "it runs as user {effective} and kcore as user {user}: that takes root, or CAP_SYS_PTRACE"
        );
    }
    if owner.is_some_and(|owner| owner != effective) {
        return "it may not be dumped (it changed its user, has a file of capabilities, or called \
                prctl(PR_SET_DUMPABLE)): that takes root, or CAP_SYS_PTRACE"
            .to_owned();
    }
    match scope {
        1 => format!(
            "{YAMA} is 1: only a parent may trace without CAP_SYS_PTRACE (run as root, or write 0 to it)"
        ),
        2 => format!("{YAMA} is 2: only root, or who has CAP_SYS_PTRACE, may trace"),
        _ => {
            "it has capabilities that kcore lacks, or a security module refuses: that takes root, \
              or CAP_SYS_PTRACE"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(id: u32) -> Status {
        Status { users: [id; 4], ..Status::default() }
    }

    #[test]
    fn the_right_that_is_missing_is_named() {
        let said = |own: &Status, target: &Status, owner, scope| explain(own, target, owner, scope);
        let other = said(&user(1001), &user(1000), Some(1000), 0);
        assert!(other.contains("user 1000") && other.contains("CAP_SYS_PTRACE"), "{other}");
        let scope = said(&user(1000), &user(1000), Some(1000), 1);
        assert!(scope.contains("ptrace_scope is 1"), "{scope}");
        let dumpable = said(&user(1000), &user(1000), Some(0), 0);
        assert!(dumpable.contains("PR_SET_DUMPABLE"), "{dumpable}");
        let root = Status { capabilities: 1 << CAP_SYS_PTRACE, ..user(0) };
        assert!(said(&root, &user(1), Some(1), 3).contains("is 3"));
        assert!(said(&root, &user(1), Some(1), 0).contains("user namespace"));
    }
}
