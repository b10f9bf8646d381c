//! Types and members, for the dcmds that take them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use kcore::{Addr, Core, Keyword, Object, PathWalker, PathWords, Type, TypeIdentity, TypeKind};
use kcore_dcmd::Spec;

use super::locals::{self, Chosen, Local};

/// Dcmds that take a type, and whether members of it follow.
const DCMDS: &[(&str, bool)] = &[
    ("print", true),
    ("printf", true),
    ("offsetof", true),
    ("list", true),
    ("sizeof", false),
    ("array", false),
    ("enum", false),
];

/// Names that are gathered, at most.
const MAX_NAMES: usize = 1 << 16;
/// Structures without names, and base classes, within one another.
const MAX_DEPTH: usize = 16;

/// What can take the place of the word behind a dcmd that takes a type: names of types, then of members.
/// `None` for other dcmds, and for options.
pub(super) fn names(
    core: &Core,
    chosen: Option<Chosen>,
    spec: &Spec,
    words: &[&str],
    word: &str,
    go_on: &dyn Fn() -> bool,
) -> Option<Vec<String>> {
    let (_, has_members) = DCMDS.iter().find(|(name, _)| *name == spec.name)?;
    let is_option = |word: &str| word.starts_with('-') && !word.starts_with("->");
    if is_option(word) {
        return None;
    }
    let mut words = words.iter().copied().peekable();
    while let Some(option) = words.next_if(|word| is_option(word)) {
        if takes_value(spec, option) {
            words.next();
        }
    }
    if spec.name == "printf" {
        words.next()?;
    }
    let words: Vec<&str> = words.collect();
    let takes_variables = spec.name == "print";
    let locals = chosen.filter(|_| takes_variables).map(|chosen| locals::of(core, chosen));
    let variables = Variables { core, takes_variables, locals: locals.unwrap_or_default() };
    match words.as_slice() {
        [] => Some(variables.types_or_members(word, go_on)),
        [tag] if is_tag(tag) => Some(tagged(core, tag, word, go_on)),
        _ if !has_members => Some(Vec::new()),
        words => Some(members(core, &variables.subject(words)?, word)),
    }
}

/// Whether the word behind an option belongs to it.
fn takes_value(spec: &Spec, option: &str) -> bool {
    let last = option.chars().next_back();
    spec.options.iter().any(|opt| Some(opt.flag) == last && opt.value.is_some())
}

fn is_tag(word: &str) -> bool {
    matches!(word, "struct" | "union" | "enum" | "class")
}

/// Where a dcmd takes the names of variables: none, unless it is `::print`.
struct Variables<'c> {
    core: &'c Core,
    takes_variables: bool,
    /// Those of the chosen frame.
    locals: Vec<Local>,
}

impl Variables<'_> {
    /// Names of types and variables, or the members of a variable that the word begins with.
    fn types_or_members(&self, word: &str, go_on: &dyn Fn() -> bool) -> Vec<String> {
        let (path, delimiter, _) = split(word);
        if self.takes_variables && !delimiter.is_empty() {
            return self.members_of_variable(word, path);
        }
        let tags = ["struct", "union", "enum"].into_iter().filter(|tag| tag.starts_with(word));
        let mut names: Vec<String> = tags.map(str::to_owned).collect();
        names.extend(gathered(self.core, word, |_| true, go_on));
        if self.takes_variables {
            let locals = self.locals.iter().map(|local| &local.name);
            names.extend(locals.filter(|name| name.starts_with(word)).cloned());
            let globals =
                self.core.symbols().complete(None, word, crate::limits::COMPLETIONS, go_on);
            names.extend(globals.unwrap_or_default());
        }
        names
    }

    /// What can take the place of a word that begins with `path` and a delimiter.
    fn members_of_variable(&self, word: &str, path: &str) -> Vec<String> {
        let name = path.split(['.', '-', '[']).next().unwrap_or_default();
        let rest = path.get(name.len()..).unwrap_or_default();
        let Some(object) = self.variable(name) else { return Vec::new() };
        let inner = format!("{rest}{}", word.get(path.len()..).unwrap_or_default());
        let found = members(self.core, &object, &inner);
        found.into_iter().map(|found| format!("{name}{found}")).collect()
    }

    /// An object of the type, or the variable, that words name; it lies nowhere.
    fn subject(&self, words: &[&str]) -> Option<Object> {
        let (first, rest) = words.split_first()?;
        let name = match rest.first() {
            Some(second) if is_tag(first) => format!("{first} {second}"),
            _ => first.trim_matches(['\'', '"']).to_owned(),
        };
        let of_variable = || self.variable(&name).filter(|_| self.takes_variables);
        of_variable().or_else(|| {
            let (scope, text) = match name.rsplit_once('`') {
                Some((scope, text)) => (Some(scope), text),
                None => (None, name.as_str()),
            };
            let ty = self.core.types().named(scope, text).ok()?;
            Some(Object::at(ty, Addr::new(0)))
        })
    }

    /// A local of the chosen frame, else a global.
    fn variable(&self, name: &str) -> Option<Object> {
        if let Some(local) = self.locals.iter().find(|local| local.name == name) {
            return local.object.clone();
        }
        let found = self.core.variables().find(None, None, name).ok()?;
        found.ty.map(|ty| Object::at(ty, Addr::new(0)))
    }
}

fn tagged(core: &Core, tag: &str, word: &str, go_on: &dyn Fn() -> bool) -> Vec<String> {
    let fits = |ty: &Type| match ty.kind() {
        TypeKind::Enumeration(_) => tag == "enum",
        TypeKind::Composite(composite) => match composite.keyword {
            Keyword::Union => tag == "union",
            Keyword::Struct | Keyword::Class => tag != "union" && tag != "enum",
        },
        _ => false,
    };
    gathered(core, word, fits, go_on)
}

/// The names of types that begin so, over all modules.
fn gathered(
    core: &Core,
    prefix: &str,
    fits: impl Fn(&Type) -> bool,
    go_on: &dyn Fn() -> bool,
) -> Vec<String> {
    let mut names = Vec::new();
    for module in core.modules().in_scope_order() {
        let Some(info) = module.symbols().debug_info() else { continue };
        info.each_type(|id, name| {
            let is_one = || info.type_at(id).is_ok_and(|ty| fits(&ty));
            if name.starts_with(prefix) && is_one() {
                names.push(name.to_owned());
            }
            match go_on() && names.len() < MAX_NAMES {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
    }
    names
}

/// The path before its last delimiter, the delimiter, and the name that is begun.
fn split(word: &str) -> (&str, &str, &str) {
    let arrow = word.rfind("->").map(|at| (at, "->"));
    let dot = word.rfind('.').map(|at| (at, "."));
    match arrow.max(dot) {
        Some((at, delimiter)) => {
            let (path, rest) = word.split_at(at);
            (path, delimiter, rest.get(delimiter.len()..).unwrap_or_default())
        }
        None => ("", "", word),
    }
}

/// Paths to members that begin with the word.
fn members(core: &Core, object: &Object, word: &str) -> Vec<String> {
    let (path, delimiter, begun) = split(word);
    let words = Words(core);
    let walker = PathWalker::new(core, &words).without_memory();
    let object = match path {
        "" => Some(object.clone()),
        path => walker
            .follow(object, path)
            .ok()
            .and_then(|end| end.parts.into_iter().next())
            .map(|part| part.object),
    };
    let Some(object) = object else { return Vec::new() };
    // Before the first name a pointer leads on by itself.
    let leads_on = delimiter == "->" || delimiter.is_empty();
    let object = match pointed(core, &object).filter(|_| leads_on) {
        Some(target) => target,
        None => object,
    };
    let mut names = Vec::new();
    gather_members(core, &object, MAX_DEPTH, &mut HashSet::new(), &mut names);
    names.retain(|name| name.starts_with(begun));
    names.into_iter().map(|name| format!("{path}{delimiter}{name}")).collect()
}

fn pointed(core: &Core, object: &Object) -> Option<Object> {
    let ty = object.complete_type(core).ok()?;
    let TypeKind::Pointer(_) = ty.kind() else { return None };
    Some(Object::at(ty.target().ok()??, Addr::new(0)))
}

/// The names of members, those of anonymous ones and of base classes as well.
/// `seen` are the types whose names are there already.
fn gather_members(
    core: &Core,
    object: &Object,
    depth: usize,
    seen: &mut HashSet<TypeIdentity>,
    names: &mut Vec<String>,
) {
    let (Some(depth), Ok(ty)) = (depth.checked_sub(1), object.complete_type(core)) else { return };
    let Some(composite) = ty.composite().filter(|_| seen.insert(ty.identity())) else { return };
    let bases = composite.bases.iter().map(|base| (None, &base.ty));
    let members = composite.members.iter().map(|member| (member.name.as_ref(), &member.ty));
    for (name, link) in bases.chain(members) {
        match (name, ty.follow(link)) {
            (Some(name), _) => names.push(name.to_string()),
            (None, Ok(inner)) => {
                gather_members(core, &Object::at(inner, Addr::new(0)), depth, seen, names);
            }
            (None, Err(_)) => {}
        }
        if names.len() >= MAX_NAMES {
            return;
        }
    }
}

/// What words in a path mean where nothing is evaluated: any index is as good as another.
struct Words<'c>(&'c Core);

impl PathWords for Words<'_> {
    fn number(&self, _text: &str) -> Result<u64, String> {
        Ok(0)
    }

    fn type_named(&self, text: &str) -> Result<Type, String> {
        self.0.types().named(None, text).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_delimiter_divides_a_path() {
        assert_eq!(split("n_next->n_"), ("n_next", "->", "n_"));
        assert_eq!(split("a.b[2].c"), ("a.b[2]", ".", "c"));
        assert_eq!(split("->n_"), ("", "->", "n_"));
        assert_eq!(split("n_"), ("", "", "n_"));
        assert_eq!(split("a->b.c"), ("a->b", ".", "c"));
    }
}
