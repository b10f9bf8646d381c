//! The lines of the report: one for each name that other crates see.

use std::collections::{BTreeSet, HashSet};

use super::{
    items::{Item, items, parts, plain},
    paths::imports,
    source::{Definition, Module, Sources},
};

/// What other crates see of a crate, each on a line, in order.
pub fn lines(sources: &Sources, name: &str) -> BTreeSet<String> {
    let mut report = Report { sources, lines: BTreeSet::new(), seen: HashSet::new() };
    report.module(&Module::root(name), name);
    report.lines
}

struct Report<'s> {
    sources: &'s Sources,
    lines: BTreeSet<String>,
    /// Modules that were told of, so that none is told of twice under one path.
    seen: HashSet<(Module, String)>,
}

impl Report<'_> {
    fn module(&mut self, module: &Module, path: &str) {
        if !self.seen.insert((module.clone(), path.to_owned())) {
            return;
        }
        for item in self.sources.items(module).iter().filter(|item| item.is_public()) {
            match item.kind() {
                "use" => self.reexports(module, item, path),
                "mod" => self.inner(module, item, path),
                _ => self.definition(
                    &Definition { module: module.clone(), item: item.clone() },
                    path,
                    None,
                ),
            }
        }
    }

    fn inner(&mut self, module: &Module, item: &Item, path: &str) {
        let Some(name) = item.name() else { return };
        let path = format!("{path}::{name}");
        self.lines.insert(format!("pub mod {path}"));
        self.module(&module.child(name), &path);
    }

    fn reexports(&mut self, module: &Module, item: &Item, path: &str) {
        for import in imports(item) {
            match self.sources.follow(module, &import) {
                Some(found) if found.item.kind() == "mod" => {
                    self.inner(&found.module, &found.item, path);
                }
                Some(found) => self.definition(&found, path, Some(&import.name)),
                None => self.elsewhere(&import.path, path, &import.name),
            }
        }
    }

    /// What the reader cannot see: a whole crate, or what a macro makes.
    fn elsewhere(&mut self, from: &[String], path: &str, name: &str) {
        if let [whole] = from {
            let root = Module::root(whole);
            if !self.sources.items(&root).is_empty() {
                self.lines.insert(format!("pub mod {path}::{name}"));
                return self.module(&root, &format!("{path}::{name}"));
            }
        }
        self.lines.insert(format!("pub use {path}::{name} = {}", from.join("::")));
    }

    /// A definition, under another name if it is brought under one.
    fn definition(&mut self, found: &Definition, path: &str, renamed: Option<&str>) {
        let Some(own) = found.item.name() else { return };
        let path = format!("{path}::{}", renamed.unwrap_or(own));
        let head = signature(&found.item.head, own, &path);
        let open = if found.item.has("non_exhaustive") { "#[non_exhaustive] " } else { "" };
        let body = found.item.body.as_deref().unwrap_or_default();
        match found.item.kind() {
            "struct" | "union" => self.structure(&format!("{open}{head}"), body, &path),
            "enum" => self.enumeration(&format!("{open}{head}"), body, &path),
            "trait" => self.interface(&head, body, &path),
            "const" | "static" => self.put(head.split(" = ").next().unwrap_or(&head)),
            _ => self.put(&head),
        }
        self.derives(&found.item, &path);
        if matches!(found.item.kind(), "struct" | "union" | "enum" | "trait") {
            self.implementations(found, own, &path);
        }
    }

    fn put(&mut self, line: &str) {
        self.lines.insert(plain(line));
    }

    /// A structure: its public fields, and whether there are others.
    fn structure(&mut self, head: &str, body: &str, path: &str) {
        let fields: Vec<Item> = parts(body).iter().map(|field| field_of(field)).collect();
        let hidden = fields.iter().any(|field| !field.is_public());
        let (before, tuple) = tuple_of(head);
        self.put(&format!("{before}{tuple}{}", if hidden { " { .. }" } else { "" }));
        for field in fields.iter().filter(|field| field.is_public()) {
            let field = field.head.trim_start_matches("pub ");
            self.put(&format!("pub {path}::{field}"));
        }
    }

    fn enumeration(&mut self, head: &str, body: &str, path: &str) {
        self.put(head);
        for variant in parts(body).iter().map(|variant| field_of(variant)) {
            let open = if variant.has("non_exhaustive") { "#[non_exhaustive] " } else { "" };
            self.put(&format!("{open}{path}::{}", without_attributes(&variant.head)));
        }
    }

    fn interface(&mut self, head: &str, body: &str, path: &str) {
        self.put(head);
        for item in items(body) {
            let provided = if item.body.is_some() { " { .. }" } else { "" };
            let Some(name) = item.name() else { continue };
            let member = signature(&item.head, name, &format!("{path}::{name}"));
            self.put(&format!("{member}{provided}"));
        }
    }

    fn derives(&mut self, item: &Item, path: &str) {
        let derives = item.attributes.iter().filter_map(|attribute| {
            attribute.strip_prefix("derive(")?.strip_suffix(')').map(parts)
        });
        let lines = derives.flatten().map(|name| format!("impl {name} for {path}"));
        self.lines.extend(lines.collect::<Vec<_>>());
    }

    /// What is implemented for a type, anywhere in its crate.
    fn implementations(&mut self, found: &Definition, own: &str, path: &str) {
        let mut modules = self.sources.modules(&found.module.in_crate);
        modules.retain(|module| self.means(module, own, found));
        for module in modules {
            for item in self.sources.items(&module).iter().filter(|item| item.kind() == "impl") {
                self.implementation(item, own, path);
            }
        }
    }

    /// Whether a name stands for a definition in a module of its crate.
    fn means(&self, module: &Module, own: &str, found: &Definition) -> bool {
        self.sources.find(module, own).is_some_and(|it| it.module == found.module)
    }

    fn implementation(&mut self, item: &Item, own: &str, path: &str) {
        let head = item.head.strip_prefix("impl").unwrap_or_default();
        let head = head.strip_prefix('<').map_or(head, behind_generics).trim();
        let (of_trait, of_type) =
            head.split_once(" for ").map_or((None, head), |(a, b)| (Some(a), b));
        if !begins_with_name(of_type, own) {
            return;
        }
        if let Some(of_trait) = of_trait {
            return self.put(&format!("impl {of_trait} for {path}"));
        }
        for member in items(item.body.as_deref().unwrap_or_default()) {
            let Some(name) = member.name().filter(|_| member.is_public()) else { continue };
            let line = signature(&member.head, name, &format!("{path}::{name}"));
            self.put(line.split(" = ").next().unwrap_or(&line));
        }
    }
}

/// A head with the whole path in the place of the name.
fn signature(head: &str, name: &str, path: &str) -> String {
    let mut words = head.match_indices(name).map(|(at, _)| at).filter(|at| {
        let is_word =
            |letter: Option<char>| letter.is_some_and(|it| it.is_alphanumeric() || it == '_');
        let (before, after) = (&head[..*at], &head[*at + name.len()..]);
        !is_word(before.chars().next_back()) && !is_word(after.chars().next())
    });
    match words.next() {
        Some(at) => format!("{}{path}{}", &head[..at], &head[at + name.len()..]),
        None => head.to_owned(),
    }
}

/// A field or a variant as an item: its attributes, and all the rest as its head.
fn field_of(text: &str) -> Item {
    let mut item = items(&format!("{text};")).into_iter().next().unwrap_or_default();
    if let Some(body) = &item.body {
        item.head = format!("{} {{ {} }}", item.head, parts(body).join(", "));
    }
    item
}

/// The attributes in a variant are of its fields: `#[from]`.
fn without_attributes(head: &str) -> String {
    let mut plain = head.to_owned();
    while let Some((before, rest)) = plain.split_once("#[") {
        let Some((_, after)) = rest.split_once(']') else { break };
        plain = format!("{before}{}", after.trim_start());
    }
    plain
}

/// The head of a structure, and its fields if they have no names: `_` is one that is not public.
fn tuple_of(head: &str) -> (String, String) {
    let Some((before, fields)) = head.split_once('(').filter(|_| head.ends_with(')')) else {
        return (head.to_owned(), String::new());
    };
    let fields = parts(fields.strip_suffix(')').unwrap_or(fields));
    let shown = fields.iter().map(|field| if field.starts_with("pub ") { field } else { "_" });
    (before.to_owned(), format!("({})", shown.collect::<Vec<_>>().join(", ")))
}

/// What stands behind the parameters of an `impl`, whose `<` was read.
fn behind_generics(head: &str) -> &str {
    let mut depth = 1_usize;
    for (at, letter) in head.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if head[..at].ends_with('-') => (),
            '>' => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            return &head[at + 1..];
        }
    }
    head
}

fn begins_with_name(head: &str, name: &str) -> bool {
    let rest = head.strip_prefix("dyn ").unwrap_or(head).strip_prefix(name);
    rest.is_some_and(|rest| {
        !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_have_the_whole_path() {
        let head = signature("pub fn run(&self, runs: u8)", "run", "a::B::run");
        assert_eq!(head, "pub fn a::B::run(&self, runs: u8)");
    }

    #[test]
    fn hidden_fields_of_tuples_are_blanks() {
        let told = tuple_of("pub struct a::B(u8, pub u16)");
        assert_eq!(told, ("pub struct a::B".to_owned(), "(_, pub u16)".to_owned()));
    }

    #[test]
    fn parameters_of_impl_are_left_out() {
        assert_eq!(behind_generics("'a, F: Fn(u8) -> u8> A<'a> for B").trim(), "A<'a> for B");
        assert!(begins_with_name("Core<'_>", "Core") && !begins_with_name("CoreFile", "Core"));
    }
}
