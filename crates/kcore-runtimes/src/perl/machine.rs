//! Which native frames execute operations of Perl: activations of `Perl_runops_standard` of `run.c`.

use std::ops::RangeInclusive;

use kcore_unwind::Frame;

use super::{
    Perl,
    plumbing::{catches, is_machine},
};
use crate::Host;

/// An activation, and the one that began it for an eval, are not further from each other.
const MAX_DISTANCE: usize = 3;

/// The activations on a stack for so many groups of calls, innermost first. Where that is not told by names, two functions
/// without one between two activations are taken for those of an eval if the numbers agree then.
pub fn activations(
    perl: &Perl,
    host: &dyn Host,
    frames: &[Frame],
    groups: usize,
) -> Vec<RangeInclusive<usize>> {
    let fits = |all: &Vec<RangeInclusive<usize>>| are_enough(groups, all.len());
    let named = merged(perl, host, frames, false);
    match fits(&named) {
        true => named,
        false => Some(merged(perl, host, frames, true)).filter(fits).unwrap_or(named),
    }
}

/// Whether activations execute all groups of calls: nothing may execute the last, which has the program.
pub const fn are_enough(groups: usize, activations: usize) -> bool {
    groups == activations || groups == activations.saturating_add(1)
}

/// The activations on a stack. One that was begun for an eval goes on with what follows the eval, and is one with the
/// activation that it was begun in: from the first to the last native frame.
fn merged(
    perl: &Perl,
    host: &dyn Host,
    frames: &[Frame],
    is_nameless: bool,
) -> Vec<RangeInclusive<usize>> {
    let own = |frame: &Frame| perl.is_own_code(frame.pc.lookup());
    let name = |place: usize| {
        let frame = frames.get(place).filter(|frame| own(frame))?;
        host.function_at(frame.pc)
    };
    let all: Vec<usize> = (0..frames.len())
        .filter(|place| name(*place).is_some_and(|name| is_machine(&name)))
        .collect();
    let is_for_eval = |place: usize, next: usize| {
        let (first, second) = (place.saturating_add(1), place.saturating_add(2));
        let is_own = |place: usize| frames.get(place).is_some_and(own);
        let distance = next.saturating_sub(place);
        let (function, caller) = (name(first), name(second));
        let has_no_names =
            distance == MAX_DISTANCE && is_own(second) && function.is_none() && caller.is_none();
        is_own(first)
            && distance <= MAX_DISTANCE
            && (catches(function.as_deref(), caller.as_deref()) || is_nameless && has_no_names)
    };
    let mut merged: Vec<RangeInclusive<usize>> = Vec::new();
    let mut is_open = false;
    for (index, place) in all.iter().enumerate() {
        match merged.last_mut().filter(|_| is_open) {
            Some(last) => *last = *last.start()..=*place,
            None => merged.push(*place..=*place),
        }
        let next = index.checked_add(1).and_then(|next| all.get(next));
        is_open = next.is_some_and(|next| is_for_eval(*place, *next));
    }
    merged
}
