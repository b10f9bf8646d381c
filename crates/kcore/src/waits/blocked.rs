//! The system call that a thread is blocked in.

use crate::{
    Core, Tid,
    arch::{CallRegisters, facts},
};

/// A call that goes on after the thread was stopped or had to take a signal.
const RESTART: &str = "restart_syscall";

/// Calls whose first argument is the descriptor that is waited for.
const OF_DESCRIPTOR: [&str; 32] = [
    "accept",
    "accept4",
    "connect",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "fallocate",
    "fcntl",
    "fdatasync",
    "flock",
    "fsync",
    "ftruncate",
    "getdents64",
    "io_uring_enter",
    "ioctl",
    "pread64",
    "preadv",
    "preadv2",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "sendfile",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "write",
    "writev",
];

/// Calls with a limit of time in an argument: its index, and the value that stands for none.
const LIMITS: [(&str, usize, u64); 8] = [
    ("epoll_pwait", 3, u32::MAX as u64),
    ("epoll_pwait2", 3, 0),
    ("epoll_wait", 3, u32::MAX as u64),
    ("poll", 2, u32::MAX as u64),
    ("ppoll", 2, 0),
    ("pselect6", 4, 0),
    ("recvmmsg", 4, 0),
    ("select", 4, 0),
];

/// What says to `waitid` that it is given the pid of one child (Linux `include/uapi/linux/wait.h`).
const P_PID: u32 = 1;

/// Calls that wait for a time.
const SLEEPS: [&str; 2] = ["clock_nanosleep", "nanosleep"];

/// A thread that waits in the kernel for something else than a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelWait {
    /// The thread.
    pub tid: Tid,
    /// The name of the system call, or `syscall N`.
    pub call: String,
    /// The descriptor that it waits for, if the call has one as its first argument.
    pub fd: Option<i32>,
    /// The pid of the child whose end it waits for, if the call names one.
    pub child: Option<u32>,
    /// Whether the wait ends by itself; `None` if that is not known.
    pub has_limit: Option<bool>,
}

impl KernelWait {
    /// The call with its descriptor or the child's pid: `read(fd 3)`, `wait4(pid 17)`.
    pub fn spelled(&self) -> String {
        match (self.fd, self.child) {
            (Some(fd), _) => format!("{}(fd {fd})", self.call),
            (None, Some(pid)) => format!("{}(pid {pid})", self.call),
            (None, None) => self.call.clone(),
        }
    }
}

/// The system call that a thread is blocked in, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedCall {
    /// Its name; `None` if kcore knows none for the number.
    pub name: Option<&'static str>,
    /// The name of what goes on as `restart_syscall`, if the code tells it.
    pub restarted: Option<String>,
    /// Its registers.
    pub registers: CallRegisters,
}

impl BlockedCall {
    /// The call that the registers of a thread prove it to be blocked in.
    pub fn of(core: &Core, tid: Tid) -> Option<Self> {
        let facts = facts(core.target());
        let blocked = facts.calls.as_ref()?.blocked;
        let registers = blocked(&core.registers().user(tid), core.space())?;
        let name = facts.system_call(registers.number);
        let is_restart = name == Some(RESTART);
        let restarted = is_restart.then(|| core.waits_in(tid)).flatten();
        let restarted = restarted.filter(|name| name != RESTART);
        Some(Self { name, restarted, registers })
    }

    /// The name of the call, or the number.
    pub fn spelled(&self) -> String {
        let named = self.restarted.as_deref().or(self.name);
        named.map_or_else(|| format!("syscall {}", self.registers.number), str::to_owned)
    }

    /// Whether it goes on, and the code does not tell as what.
    pub fn is_unknown_restart(&self) -> bool {
        self.name == Some(RESTART) && self.restarted.is_none()
    }

    /// Argument `index`, if its register still holds it.
    pub fn argument(&self, index: usize) -> Option<u64> {
        self.registers.arguments.get(index).copied().flatten()
    }

    /// The same as what a thread waits in for no lock.
    pub fn as_kernel_wait(&self, tid: Tid) -> KernelWait {
        let call = self.spelled();
        let fd = OF_DESCRIPTOR.contains(&&*call).then(|| self.argument(0)).flatten();
        // A descriptor is an int: the upper half of the register is not part of it.
        let fd = fd.map(|fd| (fd & u64::from(u32::MAX)) as u32).map(u32::cast_signed);
        KernelWait {
            tid,
            fd: fd.filter(|fd| *fd >= 0),
            child: self.child(&call),
            has_limit: self.has_limit(&call),
            call,
        }
    }

    /// The pid of the child that the call names; `None` of one that waits for any child, or any of a group (waitpid(2)).
    fn child(&self, call: &str) -> Option<u32> {
        let int = |index| Some((self.argument(index)? & u64::from(u32::MAX)) as u32);
        let pid = match call {
            "wait4" | "waitpid" => int(0)?,
            "waitid" => int(1).filter(|_| int(0) == Some(P_PID))?,
            _ => return None,
        };
        (pid.cast_signed() > 0).then_some(pid)
    }

    fn has_limit(&self, call: &str) -> Option<bool> {
        if SLEEPS.contains(&call) {
            return Some(true);
        }
        let Some((_, index, none)) = LIMITS.iter().find(|(name, ..)| *name == call) else {
            return (self.name.is_some() && self.name != Some(RESTART)).then_some(false);
        };
        let argument = self.argument(*index)?;
        let is_int = *none != 0;
        let argument = if is_int { argument & u64::from(u32::MAX) } else { argument };
        Some(argument != *none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(name: &'static str, arguments: [Option<u64>; 6]) -> KernelWait {
        let registers = CallRegisters { number: 1, arguments };
        let call = BlockedCall { name: Some(name), restarted: None, registers };
        call.as_kernel_wait(Tid::new(7))
    }

    #[test]
    fn a_descriptor_is_told_only_of_calls_that_wait_for_one() {
        let arguments = [Some(0xdead_0000_0003), Some(1), Some(2), Some(u64::MAX), None, None];
        assert_eq!(wait("read", arguments).spelled(), "read(fd 3)");
        assert_eq!(wait("pause", arguments).spelled(), "pause");
        assert_eq!(wait("read", [None; 6]).fd, None);
        assert_eq!(wait("read", [Some(u64::MAX); 6]).fd, None);
    }

    #[test]
    fn a_child_is_told_only_where_one_is_waited_for() {
        let with = |first: u64, second: u64| {
            [Some(first), Some(second), Some(0), Some(0), Some(0), Some(0)]
        };
        assert_eq!(wait("wait4", with(17, 0)).spelled(), "wait4(pid 17)");
        assert_eq!(wait("wait4", with(0xffff_ffff, 0)).spelled(), "wait4", "any child");
        assert_eq!(wait("wait4", with(0xffff_fff0, 0)).spelled(), "wait4", "of a group");
        assert_eq!(wait("waitid", with(1, 17)).spelled(), "waitid(pid 17)");
        assert_eq!(wait("waitid", with(0, 17)).spelled(), "waitid", "any child");
    }

    #[test]
    fn a_limit_of_time_is_known_or_said_to_be_unknown() {
        let with = |index: usize, value: u64| {
            let mut arguments = [Some(1); 6];
            arguments[index] = Some(value);
            arguments
        };
        assert_eq!(wait("poll", with(2, 0xffff_ffff)).has_limit, Some(false));
        assert_eq!(wait("poll", with(2, 100)).has_limit, Some(true));
        assert_eq!(wait("ppoll", with(2, 0)).has_limit, Some(false));
        assert_eq!(wait("ppoll", [None; 6]).has_limit, None);
        assert_eq!(wait("nanosleep", [None; 6]).has_limit, Some(true));
        assert_eq!(wait("read", [None; 6]).has_limit, Some(false));
    }
}
