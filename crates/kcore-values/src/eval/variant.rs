//! Enumerations of Rust that have data: the variant that the discriminant chooses.

use std::sync::Arc;

use kcore_symbols::{Composite, Member, Type};

use super::Evaluator;
use crate::{Content, Field, Object, ObjectError, VariantValue, object::complete};

/// Enumerations whose variants everybody uses without the name of the type.
const PRELUDE: &[&str] = &["Option", "Result"];

impl Evaluator<'_> {
    /// A type with variants; `ty` is its type behind aliases.
    pub(super) fn variant(
        &mut self,
        object: &Object,
        ty: &Type,
        composite: &Composite,
    ) -> Result<Content, ObjectError> {
        let variant = object.active_variant(self.process, ty)?;
        let members = variant.map(|variant| variant.members.as_slice()).unwrap_or_default();
        let Some(name) = variant_name(ty, members) else {
            return Ok(Content::Other("a variant without a name".to_owned()));
        };
        self.nested(|evaluator| {
            let mut fields = evaluator.members(object, ty, &composite.members);
            let is_state = named_state(ty, members).is_some();
            for member in members {
                let data = evaluator.data(object, ty, member)?;
                fields.extend(if is_state { each_once(data) } else { data });
            }
            Ok(Content::Variant(VariantValue { name, fields }))
        })
    }

    /// The members of the structure that holds a variant's data.
    fn data(
        &mut self,
        object: &Object,
        ty: &Type,
        member: &Member,
    ) -> Result<Vec<Field>, ObjectError> {
        let data = object.member_object(self.process, ty, member)?;
        let inner = complete(&data.ty, self.process)?;
        Ok(match inner.composite() {
            Some(composite) => self.members(&data, &inner, &composite.members),
            None => {
                let value = self.value(&data);
                vec![Field { name: None, is_base: false, value }]
            }
        })
    }
}

/// The name of the variant that has these members; `ty` is the type behind aliases. `None` where the debug
/// information names none.
pub(crate) fn variant_name(ty: &Type, members: &[Member]) -> Option<Arc<str>> {
    let name = members.iter().find_map(|member| member.name.as_ref())?;
    Some(named_state(ty, members).unwrap_or_else(|| qualified(ty, name)))
}

/// `Some`, `Shape::Circle`: as a program writes it.
fn qualified(ty: &Type, name: &Arc<str>) -> Arc<str> {
    let own = ty.name().unwrap_or_default();
    let own = own.split('<').next().unwrap_or(own);
    match own.is_empty() || own.starts_with('{') || PRELUDE.contains(&own) {
        true => Arc::clone(name),
        false => format!("{own}::{name}").into(),
    }
}

/// The members of a state without those whose names other members had before: behind the variables that
/// live on, a state lists all arguments, be they among these or gone.
fn each_once(fields: Vec<Field>) -> Vec<Field> {
    let mut once: Vec<Field> = Vec::new();
    for field in fields {
        let is_known = |known: &Field| known.name == field.name && known.value.at == field.value.at;
        if !once.iter().any(is_known) {
            once.push(field);
        }
    }
    once
}

/// `Suspend0`: the states of a function of async are numbers, and their structures have names.
fn named_state(ty: &Type, members: &[Member]) -> Option<Arc<str>> {
    let [member] = members else { return None };
    let is_number = member.name.as_deref()?.bytes().all(|byte| byte.is_ascii_digit());
    let data = ty.follow(&member.ty).ok().filter(|_| is_number)?;
    Some(data.name()?.into())
}
