//! `LazyCell`: a value, once somebody has asked for it (`core::cell::lazy`).

use crate::{Content, Object, VariantValue, eval::Evaluator, printers::Printer};

/// A value that is made once, in one thread.
pub struct LazyCell;

impl Printer for LazyCell {
    fn families(&self) -> &'static [&'static str] {
        &["rust::LazyCell"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let state = evaluator.member(object, "state")?;
        let Content::Variant(state) = evaluator.value(&state).content else { return None };
        let (name, fields) = match state.name.rsplit("::").next()? {
            "Init" => ("Some", state.fields),
            "Uninit" => ("None", Vec::new()),
            "Poisoned" => ("Poisoned", Vec::new()),
            _ => return None,
        };
        Some(Content::Variant(VariantValue { name: name.into(), fields }))
    }
}
