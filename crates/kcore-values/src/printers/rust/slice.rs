//! Pointers with a length beside them: `&str`, `&[T]`, `Box<[T]>`, whatever the pointer is.

use kcore_mem::Addr;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Types of text, and whether it ends with a NUL that counts.
const TEXT: &[(&str, bool)] =
    &[("str", false), ("OsStr", false), ("Path", false), ("ByteStr", false), ("CStr", true)];

/// A slice.
pub struct Slice;

impl Printer for Slice {
    fn families(&self) -> &'static [&'static str] {
        &["rust::[]"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let pointee = pointee(object.ty.name()?);
        if let Some(has_nul) = is_text(pointee) {
            return text(evaluator, object, has_nul);
        }
        let data = evaluator.member(object, "data_ptr")?;
        let count = evaluator.number_in(object, &["length"])?;
        let first = data.target(evaluator.process()).ok()?;
        if !pointee.starts_with('[') {
            return unsized_structure(evaluator, object);
        }
        evaluator.contiguous(&first.ty, first.address()?, count)
    }
}

/// Whether a type is one of text, and if so, whether it ends with a NUL that counts.
pub fn is_text(name: &str) -> Option<bool> {
    let last = name.rsplit("::").next().unwrap_or(name);
    TEXT.iter().find(|(text, _)| *text == last).map(|(_, has_nul)| *has_nul)
}

/// The text that a pointer with a length leads to.
pub fn text(evaluator: &Evaluator<'_>, object: &Object, has_nul: bool) -> Option<Content> {
    let at = evaluator.pointer_in(object, &["data_ptr"])?;
    let len = evaluator.number_in(object, &["length"])?;
    evaluator.text(at, len.checked_sub(u64::from(has_nul))?, 1)
}

/// A structure whose last member is a slice: the pointer says enough.
fn unsized_structure(evaluator: &Evaluator<'_>, object: &Object) -> Option<Content> {
    let at: Addr = evaluator.pointer_in(object, &["data_ptr"])?;
    Some(evaluator.bare(at, Vec::new()))
}

/// What a pointer points to, by its name: `&mut [u8]`, `*const str`, `alloc::boxed::Box<[T], A>`.
pub fn pointee(name: &str) -> &str {
    let signs = ["&mut ", "&", "*const ", "*mut "];
    if let Some(rest) = signs.iter().find_map(|sign| name.strip_prefix(sign)) {
        return rest;
    }
    let inner = name.split_once('<').map_or(name, |(_, inner)| inner);
    inner.split([',', '>']).next().unwrap_or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pointer_points_to_stands_in_its_name() {
        assert_eq!(pointee("&str"), "str");
        assert_eq!(pointee("&mut [i32]"), "[i32]");
        assert_eq!(pointee("*const std::path::Path"), "std::path::Path");
        assert_eq!(pointee("alloc::boxed::Box<str, alloc::alloc::Global>"), "str");
    }
}
