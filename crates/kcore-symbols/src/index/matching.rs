//! Whether a name that was typed means an entry.

use super::spelled::{Component, Part, Spelled};

/// How well an entry fits what was typed, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// The same name in the same scope.
    Exact,
    /// The same name in a scope of which only the last part was typed.
    InAnyScope,
    /// The same within a type.
    InAnyType,
    /// A template or generic type whose arguments were not typed.
    AnyArguments,
}

/// How well `entry` in `scope`, the outermost first, fits what was typed. Scopes of arguments may be
/// cut short in any case.
pub fn fit(typed: &Spelled, scope: Vec<Component>, entry: Spelled) -> Option<Fit> {
    let entry = in_scope(scope, entry);
    if ends_with(&entry, typed, false) {
        let same_length = scopes(&entry) == scopes(typed);
        return Some(if same_length { Fit::Exact } else { Fit::InAnyScope });
    }
    ends_with(&entry, typed, true).then_some(Fit::AnyArguments)
}

fn in_scope(mut scope: Vec<Component>, mut entry: Spelled) -> Spelled {
    if let [Part::Path(path)] = entry.0.as_mut_slice() {
        scope.append(path);
        *path = scope;
    }
    entry
}

fn scopes(name: &Spelled) -> Option<usize> {
    name.last_path().map(<[_]>::len)
}

/// Whether each path of `entry` ends with that of `typed`.
fn ends_with(entry: &Spelled, typed: &Spelled, any_arguments: bool) -> bool {
    let same_part = |(typed, entry): (&Part, &Part)| match (typed, entry) {
        (Part::Sign(typed), Part::Sign(entry)) => typed == entry,
        (Part::Path(typed), Part::Path(entry)) => path_ends_with(entry, typed, any_arguments),
        _ => false,
    };
    typed.0.len() == entry.0.len() && typed.0.iter().zip(&entry.0).all(same_part)
}

fn path_ends_with(entry: &[Component], typed: &[Component], any_arguments: bool) -> bool {
    let Some(skipped) = entry.len().checked_sub(typed.len()) else { return false };
    let last = typed.len().checked_sub(1);
    typed.iter().zip(entry.iter().skip(skipped)).enumerate().all(|(at, (typed, entry))| {
        let may_lack = any_arguments || Some(at) != last;
        typed.word == entry.word && arguments_fit(entry, typed, may_lack)
    })
}

fn arguments_fit(entry: &Component, typed: &Component, may_lack: bool) -> bool {
    match (&entry.arguments, &typed.arguments) {
        (None, None) => true,
        (Some(_), None) => may_lack,
        (None, Some(_)) => false,
        (Some(entry), Some(typed)) => {
            let mut pairs = entry.iter().zip(typed);
            entry.len() == typed.len() && pairs.all(|(entry, typed)| ends_with(entry, typed, false))
        }
    }
}
