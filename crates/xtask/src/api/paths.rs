//! What `use` brings into a module.

use super::items::{Item, parts};

/// A name that `use` brings, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The name.
    pub name: String,
    /// The path of what it stands for.
    pub path: Vec<String>,
}

/// What an item brings, if it is a `use`.
pub fn imports(item: &Item) -> Vec<Import> {
    let mut found = Vec::new();
    if let Some((_, tree)) = item.head.split_once("use ").filter(|_| item.kind() == "use") {
        collect(&[], tree, &mut found);
    }
    found
}

fn collect(before: &[String], tree: &str, found: &mut Vec<Import>) {
    let tree = tree.trim();
    if let Some(inner) = tree.strip_prefix('{').and_then(|tree| tree.strip_suffix('}')) {
        parts(inner).iter().for_each(|part| collect(before, part, found));
        return;
    }
    match tree.split_once("::") {
        Some((first, rest)) => collect(&joined(before, first), rest, found),
        None => found.push(leaf(before, tree)),
    }
}

/// The end of a path: `name`, `name as other`, `self`.
fn leaf(before: &[String], tree: &str) -> Import {
    let (own, name) = tree.split_once(" as ").unwrap_or((tree, tree));
    let path = if own == "self" { before.to_vec() } else { joined(before, own) };
    let name = if name == "self" { path.last().map_or("", String::as_str) } else { name };
    Import { name: name.to_owned(), path }
}

fn joined(before: &[String], name: &str) -> Vec<String> {
    before.iter().cloned().chain([name.trim().to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::items::items_of;

    #[test]
    fn trees_of_use_are_laid_flat() {
        let item = items_of("pub use a::{b, c::{self, D as E}};").remove(0);
        let told =
            imports(&item).into_iter().map(|it| format!("{}={}", it.name, it.path.join("/")));
        assert_eq!(told.collect::<Vec<_>>(), ["b=a/b", "c=a/c", "E=a/c/D"]);
    }
}
