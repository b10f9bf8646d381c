//! `std::any`: its type is known by the function that manages it.

use crate::{Content, Field, Object, VariantValue, eval::Evaluator, printers::Printer};

use super::{function::template_arguments, names::typed_name};

/// A value of any type.
pub struct Any;

impl Printer for Any {
    fn families(&self) -> &'static [&'static str] {
        &["std::any"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let manager = evaluator.pointer_in(object, &["_M_manager", "__h_", "__h"])?;
        if manager.get() == 0 {
            return Some(Content::Empty);
        }
        let manager = evaluator.symbol(Some(manager))?.name;
        let class = manager.rsplit_once("::")?.0;
        let name = template_arguments(class).into_iter().next()?;
        // Pointers have no names of their own.
        let process = evaluator.process();
        let ty = process.type_named(&object.ty, &name);
        let ty = ty.or_else(|| process.type_spelled(&object.ty, &name))?;
        let storage = evaluator.dig(object, &["_M_storage", "__s_", "__s"])?;
        let is_inside = class.contains("_Manager_internal<") || class.contains("_SmallHandler<");
        let value = match is_inside {
            true => storage.cast(ty),
            false => {
                Object::at(ty, evaluator.pointer_in(&storage, &["_M_ptr", "__ptr", "__ptr_"])?)
            }
        };
        let value = evaluator.value(&value);
        let field = Field { name: None, is_base: false, value };
        Some(Content::Variant(VariantValue { name: typed_name(&name).into(), fields: vec![field] }))
    }
}
