//! Iterators over nodes: of lists, trees and hash tables.
//!
//! The end of a hash table and of a list that is linked one way is a null pointer. That of other containers is a
//! part of the container that stands for a node. Nothing but its neighbours tells it from an element: where they
//! leave a doubt, the iterator is an address alone.

use kcore_mem::Addr;
use kcore_symbols::Type;

use super::{
    function::template_arguments,
    iterator::{Pointed, Which},
};
use crate::{Object, eval::Evaluator, printers::find::aligned};

/// Nodes that are looked at to find out which of a list is its end.
const MAX_NODES: u64 = 1 << 20;

/// What nodes of libc++'s maps hold around their pairs.
const WRAPPED: [&str; 2] = ["__value_type<", "__hash_value_type<"];

/// Levels of a balanced tree that has as many nodes as there are addresses.
const MAX_LEVELS: u64 = 128;

/// What an iterator over nodes leads to; `name` is its type's without arguments.
pub fn pointed(
    evaluator: &Evaluator<'_>,
    object: &Object,
    (ty, name): (&Type, &str),
    which: Which,
) -> Option<Pointed> {
    let node = evaluator.pointer_in(object, &["_M_node", "_M_cur", "__ptr_", "__node_"])?;
    let words = |count: u64| evaluator.word().checked_mul(count);
    match name {
        "_List_iterator" | "_List_const_iterator" | "__list_iterator" | "__list_const_iterator" => {
            let (is_libcxx, of) = (name.starts_with("__"), node);
            let previous = if is_libcxx { 0 } else { evaluator.word() };
            let node = match which {
                Which::This => node,
                Which::Before => evaluator.pointer_at(node, previous)?,
            };
            let next = if is_libcxx { evaluator.word() } else { 0 };
            if which == Which::Before && evaluator.pointer_at(node, next)? != of {
                return None;
            }
            match list_end(evaluator, node, (next, previous)) {
                Some(true) => Some(Pointed::End),
                Some(false) => element(evaluator, &argument(evaluator, ty)?, node, words(2)?),
                None => Some(Pointed::Node(node)),
            }
        }
        "_Rb_tree_iterator" | "_Rb_tree_const_iterator" => {
            let node = match which {
                Which::This => node,
                Which::Before => before_in_tree(evaluator, node)?,
            };
            match is_header(evaluator, node)? {
                true => Some(Pointed::End),
                false if !is_linked(evaluator, node)? => Some(Pointed::Node(node)),
                false => element(evaluator, &argument(evaluator, ty)?, node, words(4)?),
            }
        }
        "__tree_iterator" | "__tree_const_iterator" => {
            let node = match which {
                Which::This => node,
                Which::Before => before_in_libcxx_tree(evaluator, node)?,
            };
            let value = pair_of_libcxx(evaluator, argument(evaluator, ty)?);
            match libcxx_tree_end(evaluator, node) {
                Some(true) => Some(Pointed::End),
                Some(false) => element(evaluator, &value, node, words(3)?.checked_add(1)?),
                None => Some(Pointed::Node(node)),
            }
        }
        _ if which == Which::Before => None,
        _ if node.get() == 0 => Some(Pointed::End),
        "_Node_iterator"
        | "_Node_const_iterator"
        | "_Fwd_list_iterator"
        | "_Fwd_list_const_iterator" => {
            element(evaluator, &argument(evaluator, ty)?, node, words(1)?)
        }
        // The argument of these iterators is a pointer to a node, and the first argument of the node is the element's type.
        name if name.starts_with("__hash_") || name.starts_with("__forward_list_") => {
            let links = if name.starts_with("__hash_") { words(2)? } else { words(1)? };
            let pointer = evaluator.complete(&argument(evaluator, ty)?)?;
            let held = evaluator.complete(&pointer.target().ok()??)?;
            let held = pair_of_libcxx(evaluator, evaluator.argument(&held, 0)?);
            element(evaluator, &held, node, links)
        }
        _ => None,
    }
}

/// What the nodes of an iterator hold. gcc leaves the argument out of some, and has it in their names.
fn argument(evaluator: &Evaluator<'_>, ty: &Type) -> Option<Type> {
    evaluator.argument(ty, 0).or_else(|| {
        let name = template_arguments(ty.name()?).into_iter().next()?;
        evaluator.process().type_spelled(ty, &name)
    })
}

/// What a node holds behind its links.
fn element(evaluator: &Evaluator<'_>, ty: &Type, node: Addr, links: u64) -> Option<Pointed> {
    let at = node.checked_add(aligned(links, evaluator.alignment(ty)))?;
    Some(Pointed::Element(Object::at(ty.clone(), at)))
}

/// The pair within what nodes of libc++'s maps hold.
fn pair_of_libcxx(evaluator: &Evaluator<'_>, ty: Type) -> Type {
    let object = Object::at(ty, Addr::new(0));
    let pair = evaluator.dig(&object, &["__cc_", "__cc"]).map(|pair| pair.ty);
    let is_wrapped = evaluator.complete(&object.ty).is_some_and(|ty| {
        ty.name().is_some_and(|name| WRAPPED.iter().any(|start| name.starts_with(start)))
    });
    pair.filter(|_| is_wrapped).unwrap_or(object.ty)
}

/// Whether a node of a circle of links is the list itself, behind whose links stands how many other nodes there are.
/// `None` where several could be it, or the circle is broken: no other node leads to one that was erased. `links` are
/// the offsets of those to the next node and to the previous one.
fn list_end(evaluator: &Evaluator<'_>, node: Addr, links: (u64, u64)) -> Option<bool> {
    let (next, previous) = links;
    let count_at = evaluator.word().checked_mul(2)?;
    let mut all = Vec::new();
    let mut at = node;
    loop {
        all.push((at, evaluator.pointer_at(at, count_at).map(Addr::get)));
        let before = at;
        at = evaluator.pointer_at(at, next)?;
        if evaluator.pointer_at(at, previous)? != before {
            return None;
        }
        if at == node {
            break;
        }
        if all.len() as u64 >= MAX_NODES {
            return None;
        }
    }
    let others = (all.len() as u64).checked_sub(1)?;
    let mut ends = all.iter().filter(|(_, count)| *count == Some(others));
    let end = ends.next()?;
    match ends.next() {
        None => Some(end.0 == node),
        // Others may be the end as well, but this one is not.
        Some(_) if all.first().is_some_and(|(_, count)| *count != Some(others)) => Some(false),
        Some(_) => None,
    }
}

/// `_Rb_tree_node_base`: colour, parent, left, right. The header is red, and the parent of its parent; the root,
/// of which the latter is true as well, is black.
fn is_header(evaluator: &Evaluator<'_>, node: Addr) -> Option<bool> {
    const RED: u8 = 0;
    let parent = evaluator.pointer_at(node, evaluator.word())?;
    let colour = *evaluator.process().space().read_held(node, 1).first()?;
    if parent.get() == 0 {
        return Some(true);
    }
    let above = evaluator.pointer_at(parent, evaluator.word())?;
    Some(colour == RED && above == node)
}

/// Whether the node above leads to a node, or it is the root: to one that was erased, nothing does.
fn is_linked(evaluator: &Evaluator<'_>, node: Addr) -> Option<bool> {
    let word = evaluator.word();
    let parent = evaluator.pointer_at(node, word)?;
    let sides = [1_u64, 2, 3].map(|side| evaluator.pointer_at(parent, word.checked_mul(side)?));
    Some(sides.contains(&Some(node)))
}

/// As `_Rb_tree_decrement` finds the node before.
fn before_in_tree(evaluator: &Evaluator<'_>, node: Addr) -> Option<Addr> {
    let word = evaluator.word();
    let (left, right) = (word.checked_mul(2)?, word.checked_mul(3)?);
    if is_header(evaluator, node)? {
        return evaluator.pointer_at(node, right);
    }
    let mut below = evaluator.pointer_at(node, left)?;
    if below.get() != 0 {
        for _ in 0..MAX_LEVELS {
            match evaluator.pointer_at(below, right)? {
                next if next.get() == 0 => return Some(below),
                next => below = next,
            }
        }
        return None;
    }
    let mut at = node;
    for _ in 0..MAX_LEVELS {
        let parent = evaluator.pointer_at(at, word)?;
        // Before the first node stands what rend() points to: the end, whose left link leads to that node.
        if evaluator.pointer_at(parent, left)? != at || is_header(evaluator, parent)? {
            return Some(parent);
        }
        at = parent;
    }
    None
}

/// The node before one of libc++'s tree; `None` where nothing leads to that node.
fn before_in_libcxx_tree(evaluator: &Evaluator<'_>, node: Addr) -> Option<Addr> {
    let word = evaluator.word();
    let is_end = libcxx_tree_end(evaluator, node)?;
    let mut below = evaluator.pointer_at(node, 0)?;
    if is_end && below.get() == 0 {
        return Some(node);
    }
    if below.get() != 0 {
        for _ in 0..MAX_LEVELS {
            match evaluator.pointer_at(below, word)? {
                next if next.get() == 0 => return Some(below),
                next => below = next,
            }
        }
        return None;
    }
    let mut at = node;
    for _ in 0..MAX_LEVELS {
        let parent = evaluator.pointer_at(at, word.checked_mul(2)?)?;
        let is_left = evaluator.pointer_at(parent, 0)? == at;
        // Before the first node stands what rend() points to: the end.
        if !is_left || libcxx_tree_end(evaluator, parent) == Some(true) {
            return Some(parent);
        }
        at = parent;
    }
    None
}

/// Whether a node of libc++'s tree is the end, which has a link to the left alone and lies in the tree behind the
/// pointer to the first node. `None` where it looks like both or neither.
fn libcxx_tree_end(evaluator: &Evaluator<'_>, node: Addr) -> Option<bool> {
    let word = evaluator.word();
    let parent = evaluator.pointer_at(node, word.checked_mul(2)?).filter(|it| it.get() != 0);
    let child = |side| Some(evaluator.pointer_at(parent?, side)? == node);
    let is_node = child(0) == Some(true) || child(word) == Some(true);
    let before = Addr::new(node.get().checked_sub(word)?);
    let is_end = evaluator.pointer_at(before, 0) == leftmost(evaluator, node);
    match (is_node, is_end) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    }
}

/// The last node to the left of a node.
fn leftmost(evaluator: &Evaluator<'_>, node: Addr) -> Option<Addr> {
    let mut at = node;
    for _ in 0..MAX_LEVELS {
        match evaluator.pointer_at(at, 0)? {
            next if next.get() == 0 => return Some(at),
            next => at = next,
        }
    }
    None
}
