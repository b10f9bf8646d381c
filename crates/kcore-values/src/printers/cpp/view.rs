//! Views of `std::ranges`: what they are of, and what they do to it. Their elements are computed by the program when
//! it asks for them, and are not shown.

use crate::{
    Content, Field, Object,
    eval::Evaluator,
    printers::{Printer, made::unbounded},
};

/// Names of a part in libstdc++ and libc++, and what it is called here.
const PARTS: &[(&[&str], &str)] = &[
    (&["_M_base", "__base_"], "base"),
    (&["_M_fun", "__func_"], "function"),
    (&["_M_pred", "__pred_"], "predicate"),
    (&["_M_count", "__count_"], "count"),
    (&["_M_begin", "__begin_"], "begin"),
    (&["_M_end", "__end_"], "end"),
    (&["_M_pattern", "__pattern_"], "pattern"),
];

/// Something that has elements of others.
pub struct View;

impl Printer for View {
    fn families(&self) -> &'static [&'static str] {
        &[
            "std::ranges::ref_view",
            "std::ranges::owning_view",
            "std::ranges::single_view",
            "std::ranges::iota_view",
            "std::ranges::transform_view",
            "std::ranges::filter_view",
            "std::ranges::take_view",
            "std::ranges::take_while_view",
            "std::ranges::drop_view",
            "std::ranges::drop_while_view",
            "std::ranges::reverse_view",
            "std::ranges::elements_view",
            "std::ranges::common_view",
            "std::ranges::join_view",
            "std::ranges::split_view",
            "std::ranges::lazy_split_view",
            "std::ranges::subrange",
        ]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let name = object.ty.name()?.split('<').next()?.to_owned();
        match name.as_str() {
            "ref_view" => {
                let range = evaluator.member(object, "_M_r");
                let range = range.or_else(|| evaluator.member(object, "__range_"))?;
                evaluator.owner(&range.target(evaluator.process()).ok()?, Vec::new())
            }
            "owning_view" => held(evaluator, object, &["_M_r", "__r_"]),
            "single_view" => held(evaluator, object, &["_M_value", "__value_"]),
            "iota_view" => iota(evaluator, object),
            _ => parts(evaluator, object),
        }
    }
}

/// What a view holds itself, without the box around it.
fn held(evaluator: &mut Evaluator<'_>, object: &Object, names: &[&str]) -> Option<Content> {
    let part = evaluator.dig(object, names)?;
    Some(evaluator.value(&unboxed(evaluator, part)).content)
}

/// What lies in `__box` of libstdc++ or `__movable_box` of libc++.
fn unboxed(evaluator: &Evaluator<'_>, part: Object) -> Object {
    let is_box = evaluator.complete(&part.ty).is_some_and(|ty| {
        ty.name()
            .is_some_and(|name| name.starts_with("__box<") || name.starts_with("__movable_box<"))
    });
    let inner = is_box.then(|| evaluator.dig(&part, &["_M_value", "__val_"])).flatten();
    inner.unwrap_or(part)
}

/// Numbers from one on, up to another or without end.
fn iota(evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
    let first = evaluator.dig(object, &["_M_value", "__value_"])?;
    let bound = evaluator.dig(object, &["_M_bound", "__bound_sentinel_", "__bound_"])?;
    let is_endless =
        evaluator.complete(&bound.ty)?.name().is_some_and(|name| name == "unreachable_sentinel_t");
    evaluator
        .nested(|evaluator| {
            let value = evaluator.value(&first);
            let first = Field { name: Some("first".into()), is_base: false, value };
            let bound = match is_endless {
                true => unbounded("bound"),
                false => {
                    let value = evaluator.value(&bound);
                    Field { name: Some("bound".into()), is_base: false, value }
                }
            };
            Ok(Content::Fields(vec![first, bound]))
        })
        .ok()
}

/// The parts that tell what a view does; what it keeps to be faster is left out.
fn parts(evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
    let found: Vec<(&str, Object)> = PARTS
        .iter()
        .filter_map(|(names, shown)| {
            let part = names.iter().find_map(|name| evaluator.member(object, name))?;
            Some((*shown, unboxed(evaluator, part)))
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    evaluator
        .nested(|evaluator| {
            let field = |(name, part): &(&str, Object)| Field {
                name: Some((*name).into()),
                is_base: false,
                value: evaluator.value(part),
            };
            Ok(Content::Fields(found.iter().map(field).collect()))
        })
        .ok()
}
