//! The trees of values that kcore gives as JSON.

use serde_json::Value as Json;

/// The parts of a value.
pub fn children(tree: &Json) -> &[Json] {
    tree["children"].as_array().map_or(&[], Vec::as_slice)
}

/// The member of this name: of the structure itself, or else of one of its bases and anonymous members.
/// gcc writes two underscores before the names of what a lambda holds.
pub fn member<'t>(tree: &'t Json, name: &str) -> Option<&'t Json> {
    let is_it = |child: &&Json| {
        let own = child["name"].as_str().unwrap_or_default();
        own == name || own.strip_prefix("__") == Some(name)
    };
    let own = children(tree).iter().find(is_it);
    own.or_else(|| {
        children(tree).iter().filter(|child| is_transparent(child)).find_map(|c| member(c, name))
    })
}

/// An anonymous member, or a base class, which is named as its type.
fn is_transparent(child: &Json) -> bool {
    match child["name"].as_str() {
        None => true,
        Some(name) => {
            let ty = child["type"].as_str().unwrap_or_default();
            name.contains("::") || last(ty) == last(name)
        }
    }
}

/// What a path leads to from the tree of its first word; `None` where it follows a pointer, or leads
/// beyond what the tree shows.
pub fn walk<'t>(root: &'t Json, path: &str) -> Option<&'t Json> {
    let start = path.find(['.', '[', '-'])?;
    let mut at = root;
    for step in path[start..].split_inclusive(['.', '[', ']', '-']).map(str::trim) {
        let word = step.trim_end_matches(['.', '[', ']']);
        if step.ends_with(']') {
            at = children(at).get(word.parse::<usize>().ok()?)?;
        } else if step.contains(['-', '>', '*']) {
            return None;
        } else if !word.is_empty() {
            at = member(at, word)?;
        }
    }
    Some(at)
}

/// The last word of a name, without its scopes.
pub fn last(name: &str) -> &str {
    let cut = name.find(['<', '{']).unwrap_or(name.len());
    let start = name[..cut].rfind("::").map_or(0, |at| at + 2);
    &name[start..]
}
