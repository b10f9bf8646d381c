//! Interfaces: a value with what tells its type.

use kcore_mem::Addr;
use kcore_symbols::{Type, TypeKind};

use crate::{Content, Field, Object, VariantValue, eval::Evaluator, printers::Printer};

/// Structures within structures that may be nothing but one pointer.
const MAX_NESTED: usize = 8;

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
        let Some(ty) = evaluator.process().type_of_descriptor(descriptor) else {
            // The linker leaves out types that no variable has.
            let name = type_of_table(evaluator, object)?;
            return Some(held_as(evaluator, &name, &data));
        };
        let held = match is_pointer(evaluator, &ty, MAX_NESTED) {
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

/// The type that the symbol of a table of methods names: `go.itab.main.Square,main.Shape`, since Go 1.20
/// `go:itab.`.
fn type_of_table(evaluator: &Evaluator<'_>, object: &Object) -> Option<String> {
    let table = evaluator.number(&evaluator.member(object, "tab")?).map(Addr::new)?;
    let symbol = evaluator.symbol(Some(table))?.name;
    let types = symbol.strip_prefix("go.itab.").or_else(|| symbol.strip_prefix("go:itab."))?;
    Some(types.rsplit_once(',')?.0.to_owned())
}

/// The descriptor of the type of what an interface holds: in the table of its methods, where it has any,
/// behind that of the interface.
fn descriptor(evaluator: &Evaluator<'_>, object: &Object) -> Option<Addr> {
    if let Some(descriptor) = evaluator.member(object, "_type") {
        return evaluator.number(&descriptor).map(Addr::new);
    }
    let table = evaluator.number(&evaluator.member(object, "tab")?).map(Addr::new)?;
    match table.get() {
        0 => Some(table),
        _ => evaluator.pointer_at(table, evaluator.word()),
    }
}

/// Whether values of a type are nothing but one pointer: these an interface holds itself.
fn is_pointer(evaluator: &Evaluator<'_>, ty: &Type, nested: usize) -> bool {
    let (Some(nested), Some(ty)) = (nested.checked_sub(1), evaluator.complete(ty)) else {
        return false;
    };
    let of = |link| ty.follow(link).is_ok_and(|ty| is_pointer(evaluator, &ty, nested));
    match ty.kind() {
        TypeKind::Pointer(_) | TypeKind::Function(_) => true,
        TypeKind::Composite(composite) => match composite.members.as_slice() {
            [only] => of(&only.ty),
            _ => false,
        },
        TypeKind::Array(array) => ty.size() == Some(evaluator.word()) && of(&array.element),
        _ => false,
    }
}
