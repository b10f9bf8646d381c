//! Iterators, shown as what they point to.
//!
//! Those over elements one behind the other are pointers, and know no end: what lies there is shown. Those over
//! nodes tell their end from an element where the nodes around them do (`node_iterator`).

use kcore_mem::Addr;
use kcore_symbols::{BitField, Type};

use super::node_iterator;
use crate::{
    Content, Object, ObjectPlace, VariantValue,
    eval::Evaluator,
    printers::{Printer, made::bool_type},
};

/// Something that points to an element of a container.
pub struct ElementIterator;

/// Where an iterator leads.
pub enum Pointed {
    /// To an element.
    Element(Object),
    /// Behind the last element.
    End,
    /// To a node of which nothing tells whether it is an element.
    Node(Addr),
}

/// Which element an iterator stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// That to which the iterator points.
    This,
    /// The element before that: a reverse iterator stands for it.
    Before,
}

impl Printer for ElementIterator {
    fn families(&self) -> &'static [&'static str] {
        &[
            "__gnu_cxx::__normal_iterator",
            "std::__wrap_iter",
            "std::_Deque_iterator",
            "std::__deque_iterator",
            "std::_Bit_iterator",
            "std::_Bit_const_iterator",
            "std::__bit_iterator",
            "std::reverse_iterator",
            "std::move_iterator",
            "std::_List_iterator",
            "std::_List_const_iterator",
            "std::__list_iterator",
            "std::__list_const_iterator",
            "std::_Fwd_list_iterator",
            "std::_Fwd_list_const_iterator",
            "std::__forward_list_iterator",
            "std::__forward_list_const_iterator",
            "std::_Rb_tree_iterator",
            "std::_Rb_tree_const_iterator",
            "std::__tree_iterator",
            "std::__tree_const_iterator",
            "std::__map_iterator",
            "std::__map_const_iterator",
            "std::_Node_iterator",
            "std::_Node_const_iterator",
            "std::__hash_iterator",
            "std::__hash_const_iterator",
            "std::__hash_map_iterator",
            "std::__hash_map_const_iterator",
        ]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        match pointed(evaluator, object, Which::This)? {
            Pointed::Element(element) if element.place.bits().is_some() => {
                Some(evaluator.value(&element).content)
            }
            Pointed::Element(element) => evaluator.owner(&element, Vec::new()),
            Pointed::End => {
                Some(Content::Variant(VariantValue { name: "end".into(), fields: Vec::new() }))
            }
            Pointed::Node(at) => Some(evaluator.bare(at, Vec::new())),
        }
    }
}

/// What an iterator of any container leads to.
fn pointed(evaluator: &Evaluator<'_>, object: &Object, which: Which) -> Option<Pointed> {
    let ty = evaluator.complete(&object.ty)?;
    let inner = |names: &[&str]| evaluator.dig(object, names);
    let (name, _) = ty.name()?.split_once('<').unwrap_or((ty.name()?, ""));
    match name {
        "__normal_iterator" | "__wrap_iter" => {
            contiguous(evaluator, &inner(&["_M_current", "__i_", "__i"])?, which)
        }
        "_Deque_iterator" => in_blocks(evaluator, object, &ty, which),
        "__deque_iterator" => in_blocks_of_libcxx(evaluator, object, which),
        "_Bit_iterator" | "_Bit_const_iterator" | "__bit_iterator" => {
            bit(evaluator, object).filter(|_| which == Which::This)
        }
        // A reverse iterator of a reverse iterator is left as it is.
        "reverse_iterator" if which == Which::This => {
            let base = evaluator.member(object, "current")?;
            match evaluator.member(&base, "current") {
                Some(_) => None,
                None => pointed_or_pointer(evaluator, &base, Which::Before),
            }
        }
        "move_iterator" => {
            pointed_or_pointer(evaluator, &inner(&["_M_current", "__current_"])?, which)
        }
        "__map_iterator"
        | "__map_const_iterator"
        | "__hash_map_iterator"
        | "__hash_map_const_iterator" => pointed(evaluator, &inner(&["__i_"])?, which),
        name => node_iterator::pointed(evaluator, object, (&ty, name), which),
    }
}

/// What an adaptor adapts: an iterator, or a pointer.
fn pointed_or_pointer(evaluator: &Evaluator<'_>, base: &Object, which: Which) -> Option<Pointed> {
    let is_class = evaluator.complete(&base.ty)?.composite().is_some();
    match is_class {
        true => pointed(evaluator, base, which),
        false => contiguous(evaluator, base, which),
    }
}

/// The element that a pointer leads to, or the one before.
fn contiguous(evaluator: &Evaluator<'_>, pointer: &Object, which: Which) -> Option<Pointed> {
    let process = evaluator.process();
    let target = match which {
        Which::This => pointer.target(process),
        Which::Before => pointer.index(process, -1),
    };
    Some(Pointed::Element(target.ok()?))
}

/// Of `std::deque`: within a block, or the last of the block before.
fn in_blocks(
    evaluator: &Evaluator<'_>,
    object: &Object,
    ty: &Type,
    which: Which,
) -> Option<Pointed> {
    let pointer = |name| evaluator.pointer_in(object, &[name]);
    let current = evaluator.dig(object, &["_M_cur"])?;
    let (first, last) = (pointer("_M_first")?, pointer("_M_last")?);
    if which == Which::This || pointer("_M_cur")? != first {
        return contiguous(evaluator, &current, which);
    }
    let block = Addr::new(pointer("_M_node")?.get().checked_sub(evaluator.word())?);
    let element = evaluator.argument(ty, 0)?;
    let into = last.offset_from(first)?.checked_sub(evaluator.complete(&element)?.size()?)?;
    let at = evaluator.pointer_at(block, 0)?.checked_add(into)?;
    Some(Pointed::Element(Object::at(element, at)))
}

/// The same of libc++, whose blocks have a fixed size. The element before the first of a block is not looked for.
fn in_blocks_of_libcxx(
    evaluator: &Evaluator<'_>,
    object: &Object,
    which: Which,
) -> Option<Pointed> {
    let current = evaluator.dig(object, &["__ptr_"])?;
    let block = evaluator.pointer_in(object, &["__m_iter_"])?;
    let is_first = evaluator.pointer_at(block, 0)? == current.pointer(evaluator.process()).ok()?;
    match which == Which::Before && is_first {
        true => None,
        false => contiguous(evaluator, &current, which),
    }
}

/// One bit of `std::vector<bool>`.
fn bit(evaluator: &Evaluator<'_>, object: &Object) -> Option<Pointed> {
    let at = evaluator.pointer_in(object, &["_M_p", "__seg_"])?;
    let offset = evaluator.number_in(object, &["_M_offset", "__ctz_"])?;
    let place = ObjectPlace::Bits(at, BitField { offset, size: 1 });
    Some(Pointed::Element(Object { ty: bool_type(), place }))
}
