//! Lines that depend on where the session stands: frames and functions.

use super::operand;
use super::place::GdbContext;
use super::shape::Bound;

/// `up`, `up N`.
pub fn up(bound: &Bound<'_>, place: &GdbContext<'_>) -> Option<String> {
    let frame = place.frame().checked_add(steps(bound)?)?;
    Some(format!("::frame {frame}"))
}

/// `down`, `down N`: as far as there are frames.
pub fn down(bound: &Bound<'_>, place: &GdbContext<'_>) -> Option<String> {
    let frame = place.frame().checked_sub(steps(bound)?)?;
    Some(format!("::frame {frame}"))
}

fn steps(bound: &Bound<'_>) -> Option<usize> {
    if bound.word.is_empty() { Some(1) } else { bound.word.parse().ok() }
}

/// `disassemble` of the current frame's function.
pub fn disassemble_here(_bound: &Bound<'_>, place: &GdbContext<'_>) -> Option<String> {
    place.current_function().map(|function| format!("{function}::dis"))
}

/// `disassemble FUNC`: of the whole function, wherever in it the address lies.
pub fn disassemble(bound: &Bound<'_>, place: &GdbContext<'_>) -> Option<String> {
    let at = operand::address(bound.word, place)?;
    place.function(&at).map(|function| format!("{function}::dis"))
}

/// `shell CMD`.
pub fn shell(bound: &Bound<'_>, _place: &GdbContext<'_>) -> Option<String> {
    (!bound.word.is_empty()).then(|| format!("! {}", bound.word))
}
