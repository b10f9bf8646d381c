//! Variables of Go as its source has them.
//!
//! The compiler moves variables that outlive their function to the heap, and calls the pointers that it keeps to them
//! `&name` (`cmd/compile/internal/{ssagen/ssa.go,walk/closure.go}` of Go 1.27). Scopes do not begin where variables are
//! declared, so that lines say whether one may have a value (as delve's `proc.(*EvalScope).Locals` does).

use kcore_symbols::{BitField, Type, Variable, VariableKind};
use kcore_values::{Absent, Object, ObjectPlace, Piece, PieceSource};

use super::FrameVariable;
use crate::Core;

/// What stands before the name of a variable that was moved.
const MOVED: char = '&';

/// The name that a variable has in the source.
pub fn source_name(variable: &Variable) -> Option<&str> {
    variable.name.as_deref().map(|name| name.strip_prefix(MOVED).unwrap_or(name))
}

/// The lines of a function.
pub struct FunctionLines<F> {
    /// That which runs.
    pub current: Option<u32>,
    /// That at which it begins.
    pub first: F,
}

/// The variables of a function, each with what the debug information says of it.
pub fn as_in_source<'v>(
    core: &Core,
    lines: FunctionLines<impl Fn() -> Option<u32>>,
    found: impl Iterator<Item = (&'v Variable, FrameVariable)>,
) -> Vec<FrameVariable> {
    let mut all: Vec<FrameVariable> = Vec::new();
    for (variable, found) in found {
        let Some(name) = moved_name(variable) else {
            all.push(declared(variable, sound(found), lines.current));
            continue;
        };
        let moved = pointed_to(core, name, found);
        match all.iter_mut().find(|known| is_copy(known, &moved)) {
            Some(parameter) => parameter.object = moved.object,
            None if is_within(&moved, &lines) => all.push(moved),
            None => {}
        }
    }
    all
}

/// Whether the function itself declares a moved variable that it may have by now. What functions that are inlined into it
/// moved has no entry with them, but with it.
fn is_within(moved: &FrameVariable, lines: &FunctionLines<impl Fn() -> Option<u32>>) -> bool {
    let Some(own) = moved.line else { return true };
    lines.current.is_none_or(|current| own <= current)
        && (lines.first)().is_none_or(|first| first <= own)
}

/// Without a piece that stands twice, where pieces have more room than the type: Go 1.19 describes some interfaces and
/// slices of optimized functions so. No two parts of a variable lie at one place of memory; of registers that is not known.
fn sound(found: FrameVariable) -> FrameVariable {
    let room = found.ty.as_ref().and_then(Type::size).map(|size| size.saturating_mul(8));
    let (Some(room), Ok(object)) = (room, &found.object) else { return found };
    let ObjectPlace::Pieces { pieces, .. } = &object.place else { return found };
    if pieces.len() < 2 || bits(pieces) <= room {
        return found;
    }
    let is_memory = |piece: &Piece| matches!(piece.source, PieceSource::Memory(..));
    let mut kept = pieces.to_vec();
    kept.dedup_by(|piece, before| is_memory(piece) && piece == before);
    let place = ObjectPlace::Pieces {
        bits: BitField { offset: 0, size: room },
        pieces: kept.as_slice().into(),
    };
    let object = Object { ty: object.ty.clone(), place };
    let is_sound = bits(&kept) == room;
    let why = || Absent::Unreadable("the pieces of its place are larger than its type".to_owned());
    FrameVariable { object: is_sound.then_some(object).ok_or_else(why), ..found }
}

fn bits(pieces: &[Piece]) -> u64 {
    pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.size))
}

fn moved_name(variable: &Variable) -> Option<&str> {
    variable.name.as_deref()?.strip_prefix(MOVED)
}

/// Whether a parameter or result is the one that was moved to the heap: its own place has an old copy.
fn is_copy(known: &FrameVariable, moved: &FrameVariable) -> bool {
    known.name == moved.name && known.line == moved.line
}

/// What a pointer leads to, under the name that this has in the source.
fn pointed_to(core: &Core, name: &str, pointer: FrameVariable) -> FrameVariable {
    let target = |ty: &Type| ty.target().ok().flatten();
    let ty = pointer.ty.as_ref().and_then(target);
    let object = pointer.object.and_then(|object| {
        object.target(core).map_err(|error| Absent::Unreadable(error.to_string()))
    });
    FrameVariable { name: Some(name.into()), ty, object, ..pointer }
}

/// Without a value where the code has not yet come to its declaration, as far as lines tell. At the line itself what is
/// told for each part of the code counts.
fn declared(variable: &Variable, found: FrameVariable, line: Option<u32>) -> FrameVariable {
    let is_ahead = |(own, line): (u32, u32)| own > line || (own == line && !variable.is_tracked);
    let is_local = found.kind == VariableKind::Local && !variable.is_result;
    match found.line.zip(line).is_some_and(is_ahead) && is_local && found.object.is_ok() {
        true => FrameVariable { object: Err(Absent::NotDeclared), ..found },
        false => found,
    }
}
