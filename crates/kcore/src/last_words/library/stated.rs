//! The words that code states for a function that ends the process with them.
//!
//! The functions are `_Py_FatalErrorFunc(const char *func, const char *msg)` and `Py_FatalError(const char *msg)` (CPython 3.9
//! `Python/pylifecycle.c`), Qt's `qt_assert(const char *assertion, const char *file, int line)`, `qt_assert_x(const char *where,
//! const char *what, const char *file, int line)` and `QMessageLogger::fatal(const char *msg, ...)` (Qt 5.15
//! `corelib/global/qlogging.cpp`), LLVM's `report_fatal_error(const char *reason, bool)` and
//! `llvm_unreachable_internal(const char *msg, const char *file, unsigned line)` (LLVM 14 `Support/ErrorHandling.h`), `boost::assertion_failed(char const *expr, char const *function, char const *file, long line)`
//! and `boost::assertion_failed_msg`, which has a message behind the expression (Boost 1.74 `boost/assert.hpp`): the
//! program defines these two.

use kcore_mem::Addr;

use super::{DyingFrame, text};
use crate::{Core, arch::facts};

/// A function that is told why it ends the process, and which arguments say so.
struct Ender {
    name: &'static str,
    library: &'static str,
    words: &'static [Argument],
}

/// An argument by its index, and what stands before it in the words.
enum Argument {
    Text(usize, &'static str),
    Number(usize, &'static str),
    /// A format, into which values are put if it has a `%`.
    Format(usize),
}

use Argument::{Format, Number, Text};

const ENDERS: &[Ender] = &[
    Ender {
        name: "_Py_FatalErrorFunc",
        library: "Python",
        words: &[Text(0, "Fatal Python error: "), Text(1, ": ")],
    },
    Ender { name: "Py_FatalError", library: "Python", words: &[Text(0, "Fatal Python error: ")] },
    Ender {
        name: "boost::assertion_failed",
        library: "Boost",
        words: &[Text(2, ""), Number(3, ":"), Text(0, ": assertion failed: ")],
    },
    Ender {
        name: "boost::assertion_failed_msg",
        library: "Boost",
        words: &[Text(3, ""), Number(4, ":"), Text(0, ": assertion failed: "), Text(1, ": ")],
    },
    Ender {
        name: "qt_assert",
        library: "Qt",
        words: &[Text(0, "ASSERT: "), Text(1, " in file "), Number(2, ", line ")],
    },
    Ender {
        name: "qt_assert_x",
        library: "Qt",
        words: &[
            Text(0, "ASSERT failure in "),
            Text(1, ": "),
            Text(2, ", file "),
            Number(3, ", line "),
        ],
    },
    Ender { name: "QMessageLogger::fatal", library: "Qt", words: &[Format(1)] },
    Ender { name: "llvm::report_fatal_error", library: "LLVM", words: &[Text(0, "LLVM ERROR: ")] },
    Ender {
        name: "llvm::llvm_unreachable_internal",
        library: "LLVM",
        words: &[Text(0, ""), Text(1, ": unreachable at "), Number(2, ":")],
    },
];

/// The name of the library, and the words.
pub fn find(core: &Core, frames: &[DyingFrame]) -> Option<(&'static str, String)> {
    // One may call another, as Qt's assertions do.
    let pairs = frames.iter().zip(frames.get(1..)?);
    pairs.filter_map(|(callee, caller)| told(core, callee, caller)).last()
}

fn told(core: &Core, callee: &DyingFrame, caller: &DyingFrame) -> Option<(&'static str, String)> {
    let ender = ENDERS.iter().find(|it| it.name == &*callee.function)?;
    let back = caller.frame.pc.addr();
    let called = (facts(core.target()).calls.as_ref()?.callee)(back, core.space())?;
    // Who called it may have been called by another that is not on the stack any more.
    let is_it = core.symbols().at(called).is_some_and(|it| it.name == callee.function);
    (is_it && !callee.frame.guess && !caller.frame.guess).then_some(())?;
    let words = ender.words.iter().map(|argument| spelled(core, back, argument));
    Some((ender.library, words.collect::<Option<String>>()?))
}

fn spelled(core: &Core, back: Addr, argument: &Argument) -> Option<String> {
    Some(match argument {
        Text(index, before) => {
            let words = text(core, Addr::new(core.stated_argument(back, *index)?))?;
            format!("{before}{words}")
        }
        Format(index) => {
            let words = text(core, Addr::new(core.stated_argument(back, *index)?))?;
            match words.contains('%') {
                true => format!("a message of the form \"{words}\""),
                false => words,
            }
        }
        Number(index, before) => format!("{before}{}", core.stated_argument(back, *index)?),
    })
}
