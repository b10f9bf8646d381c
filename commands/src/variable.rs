//! Variables by the names that users type: locals of a frame, globals, those of a thread.

use kcore::{Absent, NamedFrame, Object, ObjectPlace, PathPart, PathWalker, Process, Tid, Type};
use kcore_dcmd::{Arg, Cx, Dot, NameScope, Result, near};

use crate::enumerator;
use crate::expression;
use crate::frame_operand::FrameOperand;
use crate::member_path::{self, Reach};
use crate::session_process::SessionProcess;
use crate::type_words;

/// Symbols with the same beginning as an unknown name that are searched for the intended one, at most.
const MAX_NEAR: usize = 65_536;
/// Dots in a name, at most.
const MAX_DOTS: usize = 16;

/// A variable or a part of one, the path to it that was typed in the same word, and members of it.
pub struct Named {
    /// What was named.
    pub object: Object,
    /// The path, unless it is the variable itself.
    pub path: Option<String>,
    /// The wanted members; all of them if the list is empty.
    pub members: Vec<Arg>,
    /// The other elements of an expression with a range of indices, each with its label.
    pub others: Vec<PathPart>,
}

impl Named {
    fn new(object: Object, path: Option<String>, members: Vec<Arg>) -> Self {
        Self { object, path, members, others: Vec::new() }
    }
}

/// The variable that the first word names, with a path of members behind it, unless an address says that
/// it must be a type. A thread or frame from a pipe says whose variable it is.
///
/// # Errors
/// When the path leads nowhere.
pub fn named(cx: &mut Cx<'_>, words: &[Arg], immediate: bool) -> Result<Option<Named>> {
    match cx.addr() {
        _ if immediate => Ok(None),
        Some(Dot::Number(_) | Dot::Addr(_)) => Ok(None),
        owner => find(cx, owner, words),
    }
}

/// Whether the first word can only be a variable: it is a name, or a path that begins with one, and
/// not a type of several words.
pub fn is_name(words: &[Arg]) -> bool {
    const KINDS: [&str; 4] = ["struct", "union", "enum", "class"];
    let words = type_words::paths(words);
    let Some(Arg::Text(word)) = words.first() else { return false };
    let is_followed =
        |next: Option<&Arg>| matches!(next, Some(Arg::Text(next)) if next.starts_with('*'));
    !KINDS.contains(&word.as_str()) && !word.ends_with('*') && !is_followed(words.get(1))
}

/// The name at the beginning of a word, after stars and parentheses.
pub fn name_in(word: &str) -> String {
    PathWalker::first_name(word)
        .unwrap_or_else(|| names_and_paths(word).next().map_or(word, |(name, _)| name).to_owned())
}

/// The variable that a user may have meant by an unknown name: one of the frame, or a global whose type is known.
pub fn near(cx: &Cx<'_>, name: &str) -> Option<String> {
    let locals = names_in_frame(cx);
    if let Some(meant) = near::nearest(name, locals.iter().map(String::as_str)) {
        return Some(meant.to_owned());
    }
    let first: String = name.chars().take(1).collect();
    let go_on = || !cx.shell().interrupted();
    let globals = cx.core().symbols().complete(None, &first, MAX_NEAR, &go_on)?;
    let meant = near::nearest(name, globals.iter().map(String::as_str))?;
    let scope = NameScope { owner: None, ..cx.names() };
    lookup(scope, false, meant).is_some().then(|| meant.to_owned())
}

/// The names of the variables of the frame that a dcmd is about.
pub fn names_in_frame(cx: &Cx<'_>) -> Vec<String> {
    let Ok(meant) = FrameOperand::of(cx) else { return Vec::new() };
    let core = cx.core();
    let stack = meant.stack(core, None);
    let known = core.stacks().known_frames(&stack, meant.index.saturating_add(1));
    let frames = meant.named(core, &stack).into_iter();
    let variables = frames.filter_map(|frame| known.variables(&frame)).flatten();
    variables.filter_map(|variable| variable.name.map(|name| name.to_string())).collect()
}

/// The same in the thread whose id was typed as the address.
///
/// # Errors
/// As [`named`].
pub fn of_typed_thread(cx: &mut Cx<'_>, words: &[Arg]) -> Result<Option<Named>> {
    let typed = cx.addr().map(Dot::number).and_then(|number| u32::try_from(number).ok());
    let tid = typed.map(Tid::new).filter(|tid| cx.core().thread(*tid).is_some());
    match tid {
        Some(tid) => find(cx, Some(Dot::Thread(tid)), words),
        None => Ok(None),
    }
}

fn find(cx: &mut Cx<'_>, owner: Option<Dot>, words: &[Arg]) -> Result<Option<Named>> {
    let words = type_words::paths(words);
    if let Some(named) = expression::named(cx, owner, &words)? {
        return Ok(Some(named));
    }
    let Some((Arg::Text(word), rest)) = words.split_first() else { return Ok(None) };
    let members = rest.to_vec();
    if word.starts_with(['*', '(']) {
        return from_name(cx, owner, word, members);
    }
    let mut splits = names_and_paths(word);
    let scope = NameScope { owner, ..cx.names() };
    let found =
        splits.find_map(|(name, path)| Some((lookup(scope, cx.input().first, name)?, path)));
    let Some((looked_up, path)) = found else { return Ok(None) };
    let object = looked_up.noted(cx)?;
    if path.is_empty() {
        return Ok(Some(Named::new(object, None, members)));
    }
    let process = SessionProcess::new(cx);
    let end = member_path::in_variable(cx, &process, &object, path, Reach::Memory)?;
    let mut parts = end.parts;
    match (parts.pop(), parts.is_empty()) {
        (Some(part), true) => Ok(Some(Named::new(part.object, Some(word.clone()), members))),
        // Several parts are members of the whole.
        _ => {
            let path = path.trim_start_matches(['.', '-', '>']).to_owned();
            Ok(Some(Named::new(object, None, vec![Arg::Text(path)])))
        }
    }
}

/// The object that an expression leads to which begins with an asterisk or a parenthesis and names a variable.
fn from_name(
    cx: &mut Cx<'_>,
    owner: Option<Dot>,
    word: &str,
    members: Vec<Arg>,
) -> Result<Option<Named>> {
    let Some(name) = PathWalker::first_name(word) else { return Ok(None) };
    let scope = NameScope { owner, ..cx.names() };
    let Some(looked_up) = lookup(scope, cx.input().first, &name) else { return Ok(None) };
    let object = looked_up.noted(cx)?;
    let process = SessionProcess::new(cx);
    let mut parts = member_path::from_name(cx, &process, &object, &name, word)?.parts;
    let Some(part) = parts.pop().filter(|_| parts.is_empty()) else { return Ok(None) };
    Ok(Some(match word.starts_with('*') {
        // A whole object has its dynamic type, unless a cast gives another type.
        true if word.contains('(') => Named::new(part.object, None, members),
        true => Named::new(part.object.whole(&process), None, members),
        false => Named::new(part.object, Some(word.to_owned()), members),
    }))
}

/// The variable's name, with its module before a backquote and its scopes, and what follows it. A dot
/// begins a path of members, or is a part of the name: names of Go have dots and slashes.
fn names_and_paths(word: &str) -> impl Iterator<Item = (&str, &str)> {
    let scope = word.rfind('`').map_or(0, |at| at.saturating_add(1));
    let name = word.get(scope..).unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | ':');
    let ends = name.match_indices(move |c| !is_name(c)).map(|(at, _)| at).chain([name.len()]);
    let is_go = move |end: &usize| {
        let before = name.get(..*end).unwrap_or_default();
        before.chars().all(|c| is_name(c) || matches!(c, '.' | '/' | '-'))
    };
    let splits = ends.take_while(is_go).take(MAX_DOTS);
    splits.map(move |end| word.split_at_checked(scope.saturating_add(end)).unwrap_or((word, "")))
}

/// A variable, and what to tell of the choice where its name could mean others.
struct LookedUp {
    object: Object,
    note: Option<String>,
}

impl LookedUp {
    fn noted(self, cx: &mut Cx<'_>) -> Result<Object> {
        if let Some(note) = self.note.filter(|_| cx.input().first) {
            cx.note(&note)?;
        }
        Ok(self.object)
    }
}

/// The variable of this name, with its module or file before a backquote.
pub fn object(scope: NameScope<'_>, word: &str) -> Option<Object> {
    lookup(scope, false, word).map(|looked_up| looked_up.object)
}

/// The variable of a module that has this name, whatever the code in which names are used has.
pub fn global(scope: NameScope<'_>, name: &str) -> Option<Object> {
    let found = scope.core.variables().find(scope.shell.current_thread(), None, name).ok()?;
    found.object().ok()
}

/// The variable, and the others of its name if they are wanted.
fn lookup(names: NameScope<'_>, with_others: bool, word: &str) -> Option<LookedUp> {
    let (scope, name) = match word.rsplit_once('`') {
        Some((scope, name)) => (Some(scope), name),
        None => (None, word),
    };
    if name.is_empty() {
        return None;
    }
    let nearest = || local(names, name).or_else(|| member_of_this(names, name));
    if let Some(object) = scope.is_none().then(nearest).flatten() {
        return Some(LookedUp { object, note: None });
    }
    let core = names.core;
    let thread = match names.owner {
        Some(Dot::Thread(tid) | Dot::Frame { tid, .. }) => Some(tid),
        _ => names.shell.current_thread(),
    };
    let found = core.variables().find_from(names.code(), thread, scope, name).ok()?;
    let is_far = scope.is_none() && core.variables().is_of_other_library(names.code(), &found);
    let is_hidden = || match is_far {
        true => !matches!(enumerator::object(names, name), Ok(None)),
        false => enumerator::is_near(names, name),
    };
    if found.is_private && scope.is_none() && is_hidden() {
        return None;
    }
    let others =
        if with_others { core.variables().others(&found, scope, name) } else { Vec::new() };
    let note = match others.is_empty() {
        false => Some(type_words::choice(word, &found.source, &others)),
        true => (with_others && is_far).then(|| format!("{word} is that of {}", found.source)),
    };
    Some(LookedUp { object: placed(found.ty?, found.place), note })
}

/// A member of the object that a method of C++ was called for.
fn member_of_this(scope: NameScope<'_>, name: &str) -> Option<Object> {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let this = if is_plain { local(scope, "this")? } else { return None };
    let process: &dyn Process = &**scope.core;
    this.target(process).ok()?.member(process, name).ok()
}

/// A local or argument of the frame that a pipe hands on, or of the current one; what is in an inner block
/// or an inlined call hides what is around it. Where `::frame` chose a call, those inlined into it are left
/// out.
fn local(scope: NameScope<'_>, name: &str) -> Option<Object> {
    let from = match scope.owner {
        None => scope.shell.current_named_frame(),
        Some(Dot::Thread(_) | Dot::Task(_) | Dot::Frame { .. } | Dot::TaskFrame { .. }) => None,
        Some(Dot::Number(_) | Dot::Addr(_)) => return None,
    };
    let meant = FrameOperand::within(scope).ok()?;
    let (core, index) = (scope.core, meant.index);
    let stack = meant.stack(core, None);
    let known = core.stacks().known_frames(&stack, index.saturating_add(1));
    let is_meant = |frame: &NamedFrame| from.is_none_or(|from| from <= frame.index);
    let frames = meant.named(core, &stack).into_iter().filter(is_meant);
    let mut found = frames.filter_map(|frame| known.variable(&frame, name));
    let found = found.next()?;
    let ty = found.ty?;
    Some(placed(ty, found.object.map(|object| object.place)))
}

/// The object at its place, or the reason why it is nowhere.
fn placed(ty: Type, place: std::result::Result<ObjectPlace, Absent>) -> Object {
    Object { ty, place: place.unwrap_or_else(ObjectPlace::nowhere) }
}

#[cfg(test)]
mod tests {
    use super::names_and_paths;

    #[test]
    fn a_dot_may_be_a_part_of_the_name() {
        let splits: Vec<_> = names_and_paths("exe`main.gAges[3].x").collect();
        assert_eq!(splits, [("exe`main", ".gAges[3].x"), ("exe`main.gAges", "[3].x")]);
        assert_eq!(names_and_paths("ns::g->x").next(), Some(("ns::g", "->x")));
        assert_eq!(names_and_paths("g").collect::<Vec<_>>(), [("g", "")]);
        assert_eq!(names_and_paths("a.b.c").last(), Some(("a.b.c", "")));
    }
}
