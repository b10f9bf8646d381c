//! What `::print` shows: a type at an address, a type alone, or a variable.

use std::sync::Arc;

use kcore::{
    Addr, BitField, Endian, Object, ObjectPlace, PathPart, Piece, PieceSource, Type,
    coroutine::Coroutines,
};
use kcore_dcmd::{Arg, Args, Cx, DcmdError, Dot, Result};

use super::Options;
use crate::{expression, frame_operand::FrameOperand, symbol_type, type_words, variable};

/// The error of a lookup that found no type.
const NO_TYPE: &str = "no type found corresponding to name";

/// What is printed.
pub struct Subject {
    /// The object; one at address 0 where there is only a type.
    pub object: Object,
    /// The path that leads to it from a variable, if it is only a part of that.
    pub path: Option<String>,
    /// The wanted members; the whole object if the list is empty.
    pub members: Vec<Arg>,
    /// The other elements of an expression with a range of indices.
    pub others: Vec<PathPart>,
    /// Whether it is an object, and not a type alone.
    pub has_value: bool,
    /// Whether it is a variable, or a part of one.
    pub is_variable: bool,
    /// The address that was given, which dot moves on from.
    pub moves_from: Option<Addr>,
}

/// Finds the subject of a call. Its kind decides how it is shown.
///
/// # Errors
/// If there is no subject, or it is not known.
pub fn find(cx: &mut Cx<'_>, args: &Args, options: &Options) -> Result<Subject> {
    let words = args.operands();
    if options.immediate && cx.addr().is_none() {
        return Err(DcmdError::usage("-i needs an address"));
    }
    match type_words::split(words) {
        None => at_symbol(cx, words, options),
        Some((text, _)) if text.starts_with(['+', '-']) && !text.starts_with("->") => {
            signed(cx, words)
        }
        Some((text, rest)) => match variable::named(cx, words, options.immediate)? {
            Some(named) => Ok(of_variable(named)),
            None => match missing_variable(cx, words, &text, options) {
                Some(missing) => Err(missing),
                None => of_type(cx, words, &text, rest, options),
            },
        },
    }
}

/// An expression that begins with a sign: letters behind one would be options.
fn signed(cx: &mut Cx<'_>, words: &[Arg]) -> Result<Subject> {
    match variable::named(cx, words, false)? {
        Some(named) => Ok(of_variable(named)),
        None => Err(expression::error_of(cx, words)
            .unwrap_or_else(|| DcmdError::usage("expected an expression behind the sign"))),
    }
}

/// The error that the frame, thread or task from a pipe has no variable of this name. The words
/// name a type at the address of the frame only if they say so.
fn missing_variable(
    cx: &Cx<'_>,
    words: &[Arg],
    text: &str,
    options: &Options,
) -> Option<DcmdError> {
    let dot = cx.addr().filter(|_| !options.immediate && variable::is_name(words))?;
    let frame = FrameOperand::of_piped(cx, dot).transpose()?;
    Some(match frame {
        Ok(frame) => {
            let frame = frame.in_words(cx.core());
            DcmdError::failed(format!("{frame} has no variable {text}"))
        }
        Err(error) => error,
    })
}

/// A type by its name. A word that is not a type may be a member of the object whose symbol is at the address.
fn of_type(
    cx: &mut Cx<'_>,
    words: &[Arg],
    text: &str,
    rest: &[Arg],
    options: &Options,
) -> Result<Subject> {
    let why = match type_words::named(cx, text) {
        Ok(ty) => {
            type_words::note_choice(cx, text, &ty)?;
            return typed(cx, ty, rest, options);
        }
        Err(why) => why,
    };
    // A misspelled tag or typedef is not a member.
    let at = cx.addr().filter(|_| !options.immediate && !text.contains(' '));
    let by_symbol = at.and_then(|at| known_at(cx, at.addr()).ok());
    if let Some(object) = by_symbol {
        return placed(object, words);
    }
    let named = match variable::of_typed_thread(cx, words)? {
        None if cx.addr().is_none() => expression::last_resort(cx, words)?,
        named => named,
    };
    match named {
        Some(named) => Ok(of_variable(named)),
        None => {
            let unknown = unknown(cx, words, text, why);
            Err(type_words::abort(cx, &unknown))
        }
    }
}

/// The error that nothing has the name, with a similar name that exists. If only a type can stand
/// there, the error says what is wrong with the type.
fn unknown(cx: &Cx<'_>, words: &[Arg], text: &str, why: DcmdError) -> DcmdError {
    if let Some(error) = expression::error_of(cx, words) {
        return error;
    }
    let is_path = text.contains("->") || text.starts_with('*') || text.contains(['.', '[']);
    let is_unknown = is_path || why.to_string().ends_with(NO_TYPE);
    let is_type =
        cx.addr().is_some() || !variable::is_name(words) || text.contains(['`', ' ', '<']);
    if is_type || !is_unknown {
        return why;
    }
    let name = variable::name_in(text);
    let meant = variable::near(cx, &name);
    let meant = meant.map(|meant| format!(" (did you mean '{meant}'?)")).unwrap_or_default();
    DcmdError::failed(format!("no variable or type has the name '{name}'{meant}"))
}

fn of_variable(named: variable::Named) -> Subject {
    let variable::Named { object, path, members, others } = named;
    let is_variable = true;
    Subject { object, path, members, others, has_value: true, is_variable, moves_from: None }
}

fn typed(cx: &Cx<'_>, ty: Type, rest: &[Arg], options: &Options) -> Result<Subject> {
    match cx.addr() {
        Some(value) if options.immediate => {
            let object = immediate(cx, ty, value);
            Ok(Subject { moves_from: Some(value.addr()), ..placed(object, rest)? })
        }
        Some(at) => placed(Object::at(ty, at.addr()), rest),
        None => {
            let object = Object::at(ty, Addr::new(0));
            let nowhere = placed(object, rest)?;
            Ok(Subject { has_value: false, moves_from: None, ..nowhere })
        }
    }
}

/// What lies at an address, by the symbol that is exactly there, or as the frame of a coroutine.
fn known_at(cx: &Cx<'_>, at: Addr) -> Result<Object> {
    symbol_type::at(cx, at).or_else(|why| {
        let core = cx.core().as_ref();
        let found =
            core.tasks().runtimes().of::<Coroutines>().find_map(|all| all.type_at(core, at));
        found.map(|ty| Object::at(ty, at)).ok_or(why)
    })
}

/// What the symbol exactly at the address is.
fn at_symbol(cx: &mut Cx<'_>, words: &[Arg], options: &Options) -> Result<Subject> {
    let at = cx.addr().filter(|_| !options.immediate);
    let at = at.ok_or_else(|| DcmdError::usage("expected the name of a type"))?;
    placed(known_at(cx, at.addr())?, words)
}

fn placed(object: Object, members: &[Arg]) -> Result<Subject> {
    let moves_from = object.address();
    let members = members.to_vec();
    let (path, others) = (None, Vec::new());
    Ok(Subject { object, path, members, others, has_value: true, is_variable: false, moves_from })
}

/// An object whose bytes are those of a number.
fn immediate(cx: &Cx<'_>, ty: Type, value: Dot) -> Object {
    let bytes = match cx.core().target().endian {
        Endian::Little => value.number().to_le_bytes().to_vec(),
        Endian::Big => {
            let bytes = value.number().to_be_bytes();
            let size = ty.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(8).min(8);
            bytes.get(8_usize.saturating_sub(size)..).unwrap_or_default().to_vec()
        }
    };
    let size = (bytes.len() as u64).saturating_mul(8);
    let piece = Piece { size, source: PieceSource::Bytes(Arc::from(bytes)) };
    let pieces: Arc<[Piece]> = Arc::from(vec![piece]);
    Object { ty, place: ObjectPlace::Pieces { pieces, bits: BitField { offset: 0, size } } }
}
