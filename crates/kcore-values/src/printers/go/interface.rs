//! Interfaces: a value with what tells its type.

use kcore_mem::Addr;

use super::descriptor::Descriptor;
use crate::{Content, Field, Object, VariantValue, eval::Evaluator, printers::Printer};

/// A value of any type that has some methods, or none.
pub struct Interface;

impl Printer for Interface {
    fn families(&self) -> &'static [&'static str] {
        &["go::eface", "go::iface"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let descriptor = descriptor(evaluator, object)?;
        if descriptor.get() == 0 {
            let name = "nil".into();
            return Some(Content::Variant(VariantValue { name, fields: Vec::new() }));
        }
        let data = evaluator.member(object, "data")?;
        let descriptor = Descriptor::at(evaluator, descriptor);
        let (ty, is_direct) = (descriptor.ty()?, descriptor.is_direct()?);
        let held = match is_direct {
            true => data.cast(ty.clone()),
            false => Object::at(ty.clone(), Addr::new(evaluator.number(&data)?)),
        };
        Some(held_as(evaluator, ty.name()?, &held))
    }
}

/// A value as one of its type.
fn held_as(evaluator: &mut Evaluator<'_>, name: &str, held: &Object) -> Content {
    let value = evaluator.value(held);
    let fields = vec![Field { name: None, is_base: false, value }];
    Content::Variant(VariantValue { name: name.into(), fields })
}

/// The descriptor of the type of what an interface holds: in the table of its methods, where it has any,
/// behind that of the interface. 0 where it holds nothing. `None` where its table has no type and so is none: the compiler
/// uses the place of a variable again that is not needed any more, and still says that it lies there.
fn descriptor(evaluator: &Evaluator<'_>, object: &Object) -> Option<Addr> {
    if let Some(descriptor) = evaluator.member(object, "_type") {
        return evaluator.number(&descriptor).map(Addr::new);
    }
    let table = evaluator.number(&evaluator.member(object, "tab")?).map(Addr::new)?;
    match table.get() {
        0 => Some(table),
        _ => evaluator.pointer_at(table, evaluator.word()).filter(|found| found.get() != 0),
    }
}
