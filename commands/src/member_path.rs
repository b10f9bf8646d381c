//! Member paths among the words of a command line.

use kcore::{Object, OutOfBounds, PathEnd, PathError, PathWalker, PathWords, Process, Type};
use kcore_dcmd::{Arg, Cx, DcmdError, Result};

use crate::{expression, frame_operand::FrameOperand, operand, type_words::abort};

/// The meaning of words of a path in the session.
struct Words<'a, 'c>(&'a Cx<'c>);

impl PathWords for Words<'_, '_> {
    fn number(&self, text: &str) -> std::result::Result<u64, String> {
        // As in the language whose path it is, a subscript is decimal, and a name that of a variable.
        let word = Arg::Text(text.to_owned());
        let of_variable = || expression::index(self.0.names(), text);
        let number = operand::as_decimal(&word).map(|index| index as u64).or_else(of_variable);
        number.map_or_else(|| operand::count(self.0, &word), Ok).map_err(|error| error.to_string())
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
    /// Nothing is read, and no pointer leads anywhere.
    Within,
}

/// The parts of an object that a path leads to. Notes say what makes them doubtful.
///
/// # Errors
/// The errors of the sink. The inner error says why the path leads nowhere.
pub fn follow(
    cx: &mut Cx<'_>,
    process: &dyn Process,
    object: &Object,
    path: &str,
    reach: Reach,
) -> Result<std::result::Result<PathEnd, PathError>> {
    let words = Words(cx);
    let walker = PathWalker::new(process, &words);
    let walker = match reach {
        Reach::Memory => walker,
        Reach::Types => walker.without_memory(),
        Reach::Within => walker.within(),
    };
    let end = walker.follow(object, path);
    warn(cx, end.as_ref().map_or(&[], |end| &end.warnings))?;
    Ok(end)
}

/// The parts of a variable that an expression leads to, which names it: `*p`, `((struct foo *)p)->x`.
///
/// # Errors
/// As [`in_variable`].
pub fn from_name(
    cx: &mut Cx<'_>,
    process: &dyn Process,
    object: &Object,
    name: &str,
    expression: &str,
) -> Result<PathEnd> {
    let words = Words(cx);
    let end = PathWalker::new(process, &words).from_name(name).follow(object, expression);
    warn(cx, end.as_ref().map_or(&[], |end| &end.warnings))?;
    end.map_err(|error| misfit(cx, &error))
}

/// Notes which indices are outside of their array, once for a whole range.
pub fn warn(cx: &mut Cx<'_>, all: &[OutOfBounds]) -> Result<()> {
    for beyond in all.chunk_by(|a, b| a.last == b.last && a.index.checked_add(1) == Some(b.index)) {
        let ([first, .., last] | [first @ last]) = beyond else { continue };
        // An index is decimal where it is typed.
        let (bound, first, last) = (first.last, first.index, last.index);
        let which = match first == last {
            true => format!("index {first} is"),
            false => format!("indices {first} .. {last} are"),
        };
        cx.note(&format!("{which} outside of array bounds [0 .. {bound}]"))?;
    }
    Ok(())
}

/// The same. A path that leads nowhere is reported and ends the pipeline.
///
/// # Errors
/// If it leads nowhere, and the errors of the sink.
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

/// The same from a variable. Variables of one name may have different types in the frames of a pipe: a path that leads
/// nowhere in one of them does not end the pipeline.
///
/// # Errors
/// If it leads nowhere, and the errors of the sink.
pub fn in_variable(
    cx: &mut Cx<'_>,
    process: &dyn Process,
    object: &Object,
    path: &str,
    reach: Reach,
) -> Result<PathEnd> {
    let end = follow(cx, process, object, path, reach)?;
    end.map_err(|error| misfit(cx, &error))
}

/// The error that a path does not fit a variable, with the frame from the pipe.
fn misfit(cx: &mut Cx<'_>, error: &PathError) -> DcmdError {
    let why = failure(error);
    let frame = cx.addr().and_then(|dot| FrameOperand::of_piped(cx, dot).ok().flatten());
    match frame {
        Some(frame) => DcmdError::failed(format!("{}: {why}", frame.in_words(cx.core()))),
        None => abort(cx, &why),
    }
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
