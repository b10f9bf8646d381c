//! Signals in words.

use kcore_elf::core_file::{SignalDetail, SignalInfo};

/// Name and text of each signal (Linux `arch/x86/include/uapi/asm/signal.h`, which aarch64 shares;
/// texts of `strsignal`).
const SIGNALS: &[(u16, &str, &str)] = &[
    (1, "SIGHUP", "Hangup"),
    (2, "SIGINT", "Interrupt"),
    (3, "SIGQUIT", "Quit"),
    (4, "SIGILL", "Illegal instruction"),
    (5, "SIGTRAP", "Trace/breakpoint trap"),
    (6, "SIGABRT", "Aborted"),
    (7, "SIGBUS", "Bus error"),
    (8, "SIGFPE", "Floating point exception"),
    (9, "SIGKILL", "Killed"),
    (10, "SIGUSR1", "User defined signal 1"),
    (11, "SIGSEGV", "Segmentation fault"),
    (12, "SIGUSR2", "User defined signal 2"),
    (13, "SIGPIPE", "Broken pipe"),
    (14, "SIGALRM", "Alarm clock"),
    (15, "SIGTERM", "Terminated"),
    (16, "SIGSTKFLT", "Stack fault"),
    (17, "SIGCHLD", "Child exited"),
    (18, "SIGCONT", "Continued"),
    (19, "SIGSTOP", "Stopped (signal)"),
    (20, "SIGTSTP", "Stopped"),
    (21, "SIGTTIN", "Stopped (tty input)"),
    (22, "SIGTTOU", "Stopped (tty output)"),
    (23, "SIGURG", "Urgent I/O condition"),
    (24, "SIGXCPU", "CPU time limit exceeded"),
    (25, "SIGXFSZ", "File size limit exceeded"),
    (26, "SIGVTALRM", "Virtual timer expired"),
    (27, "SIGPROF", "Profiling timer expired"),
    (28, "SIGWINCH", "Window changed"),
    (29, "SIGIO", "I/O possible"),
    (30, "SIGPWR", "Power failure"),
    (31, "SIGSYS", "Bad system call"),
    // Of MIPS, SPARC and Alpha alone, by the number that kcore gives it.
    (135, "SIGEMT", "EMT trap"),
];

/// Codes by signal (Linux `include/uapi/asm-generic/siginfo.h`), with what each means.
const CODES: &[(u16, i32, &str, &str)] = &[
    (4, 1, "ILL_ILLOPC", "illegal opcode"),
    (4, 2, "ILL_ILLOPN", "illegal operand"),
    (4, 3, "ILL_ILLADR", "illegal addressing mode"),
    (4, 4, "ILL_ILLTRP", "illegal trap"),
    (4, 5, "ILL_PRVOPC", "privileged opcode"),
    (4, 6, "ILL_PRVREG", "privileged register"),
    (4, 7, "ILL_COPROC", "coprocessor error"),
    (4, 8, "ILL_BADSTK", "internal stack error"),
    (5, 1, "TRAP_BRKPT", "breakpoint"),
    (5, 2, "TRAP_TRACE", "trace trap"),
    (5, 3, "TRAP_BRANCH", "branch trap"),
    (5, 4, "TRAP_HWBKPT", "hardware breakpoint or watchpoint"),
    (7, 1, "BUS_ADRALN", "invalid alignment"),
    (7, 2, "BUS_ADRERR", "nonexistent physical address"),
    (7, 3, "BUS_OBJERR", "object error of the hardware"),
    (7, 4, "BUS_MCEERR_AR", "memory error consumed"),
    (7, 5, "BUS_MCEERR_AO", "memory error found"),
    (8, 1, "FPE_INTDIV", "integer division by zero"),
    (8, 2, "FPE_INTOVF", "integer overflow"),
    (8, 3, "FPE_FLTDIV", "division by zero"),
    (8, 4, "FPE_FLTOVF", "overflow"),
    (8, 5, "FPE_FLTUND", "underflow"),
    (8, 6, "FPE_FLTRES", "inexact result"),
    (8, 7, "FPE_FLTINV", "invalid operation"),
    (8, 8, "FPE_FLTSUB", "subscript out of range"),
    (11, 1, "SEGV_MAPERR", "not mapped"),
    (11, 2, "SEGV_ACCERR", "access not permitted"),
    (11, 3, "SEGV_BNDERR", "failed bound checks"),
    (11, 4, "SEGV_PKUERR", "denied by a protection key"),
    (11, 8, "SEGV_MTEAERR", "asynchronous memory tag fault"),
    (11, 9, "SEGV_MTESERR", "memory tag fault"),
    (11, 10, "SEGV_CPERR", "control protection fault"),
    (31, 1, "SYS_SECCOMP", "refused by seccomp"),
];

/// Codes that any signal may have.
const COMMON_CODES: &[(i32, &str, &str)] = &[
    (0, "SI_USER", "sent by kill"),
    (-1, "SI_QUEUE", "sent by sigqueue"),
    (-2, "SI_TIMER", "a timer expired"),
    (-3, "SI_MESGQ", "a message queue changed"),
    (-4, "SI_ASYNCIO", "asynchronous I/O completed"),
    (-6, "SI_TKILL", "sent by tgkill"),
    (0x80, "SI_KERNEL", "sent by the kernel"),
];

/// The name of a signal, such as `SIGSEGV`; `SIGRTMIN+n` for real-time ones.
pub fn name(number: u16) -> String {
    /// First real-time signal that the C library leaves to programs.
    const SIGRTMIN: u16 = 34;
    match SIGNALS.iter().find(|(known, ..)| *known == number) {
        Some((_, name, _)) => (*name).to_owned(),
        None if (SIGRTMIN..=64).contains(&number) => {
            format!("SIGRTMIN+{}", number.saturating_sub(SIGRTMIN))
        }
        None => format!("signal {number}"),
    }
}

/// What `strsignal` says of a signal.
pub fn text(number: u16) -> Option<&'static str> {
    SIGNALS.iter().find(|(known, ..)| *known == number).map(|(.., text)| *text)
}

/// The name of a signal's code, such as `SEGV_MAPERR`.
pub fn code_name(info: &SignalInfo) -> Option<&'static str> {
    code(info).map(|(name, _)| name)
}

/// What a signal's code means.
pub fn code_text(info: &SignalInfo) -> Option<&'static str> {
    code(info).map(|(_, text)| text)
}

fn code(info: &SignalInfo) -> Option<(&'static str, &'static str)> {
    let own = CODES
        .iter()
        .find(|(signal, code, ..)| i32::from(*signal) == info.number && *code == info.code);
    let common = || COMMON_CODES.iter().find(|(code, ..)| *code == info.code);
    own.map(|(.., name, text)| (*name, *text))
        .or_else(|| common().map(|(_, name, text)| (*name, *text)))
}

/// The process that sent a signal, if one did.
pub fn sender(info: &SignalInfo) -> Option<(u32, u32)> {
    match info.detail {
        SignalDetail::Sender { pid, uid } => Some((pid, uid)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(number: i32, code: i32) -> SignalInfo {
        SignalInfo { number, errno: 0, code, detail: SignalDetail::None }
    }

    #[test]
    fn a_code_is_read_together_with_its_signal() {
        assert_eq!(code_name(&info(11, 1)), Some("SEGV_MAPERR"));
        assert_eq!(code_name(&info(7, 1)), Some("BUS_ADRALN"));
        assert_eq!(code_name(&info(11, -6)), Some("SI_TKILL"));
        assert_eq!(code_name(&info(11, 0x80)), Some("SI_KERNEL"));
        assert_eq!(code_name(&info(11, 77)), None);
    }

    #[test]
    fn real_time_signals_count_from_the_first() {
        assert_eq!(name(35), "SIGRTMIN+1");
        assert_eq!(name(11), "SIGSEGV");
        assert_eq!(name(99), "signal 99");
    }
}
