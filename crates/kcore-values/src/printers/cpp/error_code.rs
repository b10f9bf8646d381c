//! `std::error_code` and `std::error_condition`: the category and the number, and of numbers of the system their name.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Classes of categories, as parts of their mangled names, and what `name()` of each says.
const CATEGORIES: &[(&str, &str)] = &[
    ("generic_error_category", "generic"),
    ("system_error_category", "system"),
    ("future_error_category", "future"),
    ("io_error_category", "iostream"),
    ("iostream_category", "iostream"),
];

/// Characters of a mangled name that are read.
const MAX_NAME: u64 = 256;

/// An error of a category.
pub struct ErrorCode;

impl Printer for ErrorCode {
    fn families(&self) -> &'static [&'static str] {
        &["std::error_code", "std::error_condition"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let value = evaluator.member(object, "_M_value");
        let value = value.or_else(|| evaluator.member(object, "__val_"))?;
        let number = value.number(evaluator.process()).ok()?.value()?;
        let category = category(evaluator, object)?;
        let name = i32::try_from(number)
            .ok()
            .filter(|_| ["generic", "system"].contains(&category.as_str()))
            .and_then(|number| evaluator.process().error_name(number));
        let words = match name {
            Some(name) => format!("{category}:{number} {name}"),
            None => format!("{category}:{number}"),
        };
        let ty = evaluator.complete(&object.ty)?;
        Some(evaluator.raw(object, &ty).ok()?.meaning(words))
    }
}

/// The name of a category: what is known of its class, or the class. The word before those of its table of virtual
/// functions leads to the description of the class, whose second word is its mangled name (C++ ABI of Itanium, 2.9).
fn category(evaluator: &Evaluator<'_>, object: &Object) -> Option<String> {
    let category = evaluator.pointer_in(object, &["_M_cat", "__cat_"])?;
    let table = evaluator.pointer_at(category, 0)?;
    let before = kcore_mem::Addr::new(table.get().checked_sub(evaluator.word())?);
    let described = evaluator.pointer_at(before, 0)?;
    let name = evaluator.pointer_at(described, evaluator.word())?;
    let bytes = evaluator.process().space().read_held(name, MAX_NAME);
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let mangled = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let known = CATEGORIES.iter().find(|(class, _)| mangled.contains(class));
    match known {
        Some((_, name)) => Some((*name).to_owned()),
        None => evaluator.process().type_of_vtable(table)?.qualified_name(),
    }
}
