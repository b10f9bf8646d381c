//! Member paths among the words of a command line.

use kcore::{Object, PathEnd, PathError, PathWalker, PathWords, Process, Type};
use kcore_dcmd::{Arg, Cx, DcmdError, Result, digits};

use crate::{operand, type_words::abort};

/// What words in a path mean to the session.
struct Words<'a, 'c>(&'a Cx<'c>);

impl PathWords for Words<'_, '_> {
    fn number(&self, text: &str) -> std::result::Result<u64, String> {
        operand::number(self.0, &Arg::Text(text.to_owned())).map_err(|error| error.to_string())
    }

    fn type_named(&self, text: &str) -> std::result::Result<Type, String> {
        self.0.type_named(text).map_err(|error| error.to_string())
    }
}

/// How far a path is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Pointers lead to what they point to.
    Memory,
    /// Nothing is read: a path leads through types.
    Types,
}

/// The parts of an object that a path leads to; what makes them doubtful is said.
///
/// # Errors
/// When nobody listens any more. Why it leads nowhere is the inner error.
pub fn follow(
    cx: &mut Cx<'_>,
    process: &dyn Process,
    object: &Object,
    path: &str,
    reach: Reach,
) -> Result<std::result::Result<PathEnd, PathError>> {
    let words = Words(cx);
    let walker = PathWalker::new(process, &words);
    let walker = if reach == Reach::Types { walker.without_memory() } else { walker };
    let end = walker.follow(object, path);
    let radix = cx.shell().radix();
    for beyond in end.iter().flat_map(|end| &end.warnings) {
        let (index, last) = (digits(beyond.index, radix), digits(beyond.last, radix));
        cx.note(&format!("index {index} is outside of array bounds [0 .. {last}]"))?;
    }
    Ok(end)
}

/// The same; a path that leads nowhere is reported, and ends the pipeline.
///
/// # Errors
/// When it leads nowhere, or nobody listens any more.
pub fn required(
    cx: &mut Cx<'_>,
    process: &dyn Process,
    object: &Object,
    path: &str,
    reach: Reach,
) -> Result<PathEnd> {
    let end = follow(cx, process, object, path, reach)?;
    end.map_err(|error| abort(cx, &failure(&error)))
}

/// Why a path leads nowhere, with MDB's reason.
pub fn failure(error: &PathError) -> DcmdError {
    let reason = match error {
        PathError::Object(kcore::ObjectError::NoMember { .. }) => {
            ": no such member of structure or union"
        }
        _ => "",
    };
    DcmdError::failed(format!("{error}{reason}"))
}
