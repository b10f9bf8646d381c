//! `std::tuple`: a base class for each element.

use kcore_symbols::Type;

use crate::{Content, Field, Object, eval::Evaluator, printers::Printer};

/// Elements that a tuple shows.
const MAX_ELEMENTS: usize = 256;

/// Elements by their numbers.
pub struct Tuple;

impl Printer for Tuple {
    fn families(&self) -> &'static [&'static str] {
        &["std::tuple"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let mut elements = match evaluator.member(object, "__base_") {
            Some(leaves) => bases(evaluator, &leaves)?,
            None => heads(evaluator, object)?,
        };
        elements.truncate(MAX_ELEMENTS);
        if elements.is_empty() {
            return Some(Content::Empty);
        }
        evaluator
            .nested(|evaluator| {
                let fields = elements.iter().enumerate().map(|(index, element)| Field {
                    name: Some(index.to_string().into()),
                    is_base: false,
                    value: evaluator.value(element),
                });
                Ok(Content::Fields(fields.collect()))
            })
            .ok()
    }
}

/// Of libc++: every leaf is a base class of one structure, and has the value as its member, or as
/// its own base class when that is empty.
fn bases(evaluator: &Evaluator<'_>, leaves: &Object) -> Option<Vec<Object>> {
    let ty = evaluator.complete(&leaves.ty)?;
    let parts = base_objects(evaluator, leaves, &ty);
    parts
        .iter()
        .map(|leaf| own_member(evaluator, leaf, "__value_").or_else(|| first_base(evaluator, leaf)))
        .collect()
}

/// Of libstdc++: `_Tuple_impl<0>` has `_Tuple_impl<1>` and `_Head_base<0>` as its bases.
fn heads(evaluator: &Evaluator<'_>, object: &Object) -> Option<Vec<Object>> {
    let mut rest = first_base(evaluator, object);
    let mut elements = Vec::new();
    while let Some(part) = rest.take().filter(|_| elements.len() < MAX_ELEMENTS) {
        let ty = evaluator.complete(&part.ty)?;
        for base in base_objects(evaluator, &part, &ty) {
            let class = evaluator.complete(&base.ty)?;
            let name = class.name()?.to_owned();
            if name.starts_with("_Tuple_impl") {
                rest = Some(base);
            } else if name.starts_with("_Head_base") {
                let head = own_member(evaluator, &base, "_M_head_impl");
                elements.push(head.or_else(|| first_base(evaluator, &base))?);
            }
        }
    }
    Some(elements)
}

fn base_objects(evaluator: &Evaluator<'_>, object: &Object, ty: &Type) -> Vec<Object> {
    let bases = ty.composite().map(|composite| composite.bases.as_slice()).unwrap_or_default();
    let part = |base: &kcore_symbols::BaseClass| {
        object.part(evaluator.process(), ty, &base.ty, &base.place).ok()
    };
    bases.iter().filter_map(part).collect()
}

fn first_base(evaluator: &Evaluator<'_>, object: &Object) -> Option<Object> {
    let ty = evaluator.complete(&object.ty)?;
    base_objects(evaluator, object, &ty).into_iter().next()
}

/// A member of the class itself: a base class may have one of the same name.
fn own_member(evaluator: &Evaluator<'_>, object: &Object, name: &str) -> Option<Object> {
    let ty = evaluator.complete(&object.ty)?;
    let mut members = ty.composite()?.members.iter();
    let member = members.find(|member| member.name.as_deref() == Some(name))?;
    object.member_object(evaluator.process(), &ty, member).ok()
}
