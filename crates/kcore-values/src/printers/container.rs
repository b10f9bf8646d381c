//! Which types own memory for what they hold: containers, and owners of text.

use kcore_symbols::Type;

use super::{by_last_name, family};

/// How a container keeps what it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeping {
    /// In one piece of memory.
    Buffer,
    /// In several.
    Nodes,
}

/// The families of containers.
const CONTAINERS: &[(&str, Keeping)] = &[
    ("rust::BTreeMap", Keeping::Nodes),
    ("rust::BTreeSet", Keeping::Nodes),
    ("rust::CString", Keeping::Buffer),
    ("rust::HashMap", Keeping::Buffer),
    ("rust::HashSet", Keeping::Buffer),
    ("rust::LinkedList", Keeping::Nodes),
    ("rust::OsString", Keeping::Buffer),
    ("rust::PathBuf", Keeping::Buffer),
    ("rust::String", Keeping::Buffer),
    ("rust::Vec", Keeping::Buffer),
    ("rust::VecDeque", Keeping::Buffer),
    ("std::basic_string", Keeping::Buffer),
    ("std::deque", Keeping::Nodes),
    ("std::forward_list", Keeping::Nodes),
    ("std::list", Keeping::Nodes),
    ("std::map", Keeping::Nodes),
    ("std::multimap", Keeping::Nodes),
    ("std::multiset", Keeping::Nodes),
    ("std::set", Keeping::Nodes),
    ("std::unordered_map", Keeping::Nodes),
    ("std::unordered_multimap", Keeping::Nodes),
    ("std::unordered_multiset", Keeping::Nodes),
    ("std::unordered_set", Keeping::Nodes),
    ("std::vector", Keeping::Buffer),
];

/// A pointer of Rust with a length beside it, which may own a slice.
const SLICE: &str = "rust::[]";

/// How a type, behind aliases, keeps what it holds; `None` of what is no container.
pub fn keeping(ty: &Type) -> Option<Keeping> {
    let family = family::of(ty, &|last| by_last_name().contains_key(last))?;
    if family == SLICE {
        // A reference to a slice owns none.
        let is_owner = ty.name().is_some_and(|name| !name.starts_with(['&', '*']));
        return is_owner.then_some(Keeping::Buffer);
    }
    CONTAINERS.iter().find(|(name, _)| *name == family).map(|(_, keeping)| *keeping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_container_has_a_printer() {
        let known = |family: &str| {
            let last = family.rsplit("::").next().unwrap_or(family);
            by_last_name()
                .get(last)
                .is_some_and(|list| list.iter().any(|(name, _)| *name == family))
        };
        assert!(CONTAINERS.iter().map(|(name, _)| *name).chain([SLICE]).all(known));
    }
}
