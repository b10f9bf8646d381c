//! The words that code states for a function that ends the process with them.
//!
//! The functions are `_Py_FatalErrorFunc(const char *func, const char *msg)` and `Py_FatalError(const char *msg)` (CPython 3.9
//! `Python/pylifecycle.c`), `boost::assertion_failed(char const *expr, char const *function, char const *file, long line)`
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
}

use Argument::{Number, Text};

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
];

/// The name of the library, and the words.
pub fn find(core: &Core, frames: &[DyingFrame]) -> Option<(&'static str, String)> {
    let of_frame = |frame: &DyingFrame| ENDERS.iter().find(|it| it.name == &*frame.function);
    let pairs = frames.iter().zip(frames.get(1..)?);
    let (callee, caller, ender) =
        pairs.filter_map(|(callee, caller)| Some((callee, caller, of_frame(callee)?))).next()?;
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
        Number(index, before) => format!("{before}{}", core.stated_argument(back, *index)?),
    })
}
