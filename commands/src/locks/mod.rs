//! `::locks` — what threads wait for, and who holds it.

mod kernel_row;
mod lock_record;
mod subject;
pub mod walk;
mod words;

use kcore::{Addr, Waits, waits::Lock};
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use self::{kernel_row::KernelRow, lock_record::LockRecord};
use crate::names::Names;

/// Lists what threads wait for.
pub struct Locks;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "also list threads that wait in the kernel for no lock" },
    Opt { flag: 'v', value: None, help: "also say how each lock was recognized" },
];

const HELP: &str = "\
Lists each lock, condition variable, semaphore and other object that a thread waits for. The one \
with the most waiters comes first. Each line says who holds it, and where in the program's own code \
the threads wait.

A holder is named only if memory records it. Mutexes of glibc, read-write locks that are held for \
writing, and streams record their holder. The readers of a lock are only counted. Conditions, \
semaphores and barriers are held by nobody; they wait for an event. Mutexes of Rust do not record \
their holder.

An RLock of Python records its holder, and so does the GIL. A Lock of Python does not. It \
is likely held by the thread that is within `with` of it, if one alone is: acquire() leaves no \
trace. A block whose function calls release(), and one within which the thread waits for a \
condition of the lock, says nothing.

A thread waits if its registers prove that it is blocked in a system call. The words of the futex, \
the function that waits there, or the call of that function tell what it belongs to. Otherwise it \
is a futex word, and no more is claimed.

Only registers of x86-64 and aarch64 prove that. On other machines, it is not known what threads \
wait for.";

const EXAMPLES: &[Example] = &[
    Example { line: "::locks", shows: "every lock that a thread waits for" },
    Example { line: "::locks -a", shows: "also the threads that wait in read, poll and so on" },
    Example { line: "::walk lock | ::walk waiter | ::stack", shows: "the stacks of all waiters" },
];

const UNKNOWN: &str =
    "what threads wait for is not known on this machine: whether one waits for a lock is not told";

impl Dcmd for Locks {
    fn spec(&self) -> Spec {
        Spec::new("locks", Group::Stacks, "list what threads wait for, and who holds it")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let waits = cx.core().waits();
        let verbose = args.has('v');
        if let Some(dot) = cx.addr() {
            let lock = lock_at(waits, dot.addr())?;
            return cx.emit(&LockRecord::new(Names::new(cx), lock, verbose));
        }
        if !waits.knows_blocked {
            cx.note(UNKNOWN)?;
        } else if waits.locks.is_empty() && !args.has('a') {
            cx.note("no thread waits for a lock")?;
        }
        for lock in &waits.locks {
            cx.check_interrupt()?;
            cx.emit(&LockRecord::new(Names::new(cx), lock, verbose))?;
        }
        let kernel = waits.kernel.iter().filter(|_| args.has('a'));
        kernel.clone().try_for_each(|wait| cx.emit(&KernelRow::new(Names::new(cx), wait)))
    }
}

/// The lock that lies at an address, or whose futex word does.
fn lock_at(waits: &Waits, at: Addr) -> Result<&Lock> {
    let found = waits.locks.iter().find(|lock| lock.at == at || lock.word == at);
    found.ok_or_else(|| match waits.knows_blocked {
        true => DcmdError::failed(format!("no thread waits for a lock at {at}")),
        false => DcmdError::failed(UNKNOWN),
    })
}
