//! `std::exception_ptr`: what was thrown lies behind a header that says of what type it is
//! (`__cxa_exception` of libsupc++ and libc++abi, the same but for what stands before it).

use kcore_mem::Addr;

use super::names::typed_name;
use crate::{Content, Field, Object, VariantValue, eval::Evaluator, printers::Printer};

/// Words from the description of the type to the end of the header: that, four pointers, two counts in
/// one word, four pointers, and the four words of the unwinder's header.
const TYPE_BEFORE: u64 = 14;

/// What stands before a type in the demangled name of its description.
const TYPE_INFO: &str = "typeinfo for ";

/// Somebody who keeps what was thrown.
pub struct ExceptionPtr;

impl Printer for ExceptionPtr {
    fn families(&self) -> &'static [&'static str] {
        &[
            "std::exception_ptr",
            "std::__exception_ptr::exception_ptr",
            "std::exception_ptr::exception_ptr",
        ]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let at = evaluator.pointer_in(object, &["_M_exception_object", "__ptr_"])?;
        if at.get() == 0 {
            let name = "nullptr".into();
            return Some(Content::Variant(VariantValue { name, fields: Vec::new() }));
        }
        let Some(name) = thrown_type(evaluator, at) else {
            return Some(evaluator.bare(at, Vec::new()));
        };
        let Some(ty) = evaluator.process().type_named(&object.ty, &name) else {
            return Some(Content::Other(name));
        };
        let value = evaluator.value(&Object::at(ty, at));
        let fields = vec![Field { name: None, is_base: false, value }];
        Some(Content::Variant(VariantValue { name: typed_name(&name).into(), fields }))
    }
}

/// The name of the type of what was thrown.
fn thrown_type(evaluator: &Evaluator<'_>, thrown: Addr) -> Option<String> {
    let before = evaluator.word().checked_mul(TYPE_BEFORE)?;
    let described = evaluator.pointer_at(Addr::new(thrown.get().checked_sub(before)?), 0)?;
    let symbol = evaluator.symbol(Some(described)).filter(|symbol| symbol.offset == 0)?.name;
    symbol.strip_prefix(TYPE_INFO).map(str::to_owned)
}
