//! Small types that are named after what they hold: threads, places in the source, types, coroutines.

use crate::{Content, Object, VariantValue, eval::Evaluator, printers::Printer};

/// `std::thread` and its id: what pthreads call it.
pub struct Thread;

impl Printer for Thread {
    fn families(&self) -> &'static [&'static str] {
        &["std::thread", "std::jthread", "std::thread::id", "std::__thread_id"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let thread = evaluator.dig(object, &["_M_thread", "__t_", "__id_"])?;
        match evaluator.dig_number(&thread)? {
            0 => {
                let name = "no thread".into();
                Some(Content::Variant(VariantValue { name, fields: Vec::new() }))
            }
            number => Some(evaluator.bare(kcore_mem::Addr::new(number), Vec::new())),
        }
    }
}

/// `std::source_location`.
pub struct SourceLocation;

impl Printer for SourceLocation {
    fn families(&self) -> &'static [&'static str] {
        &["std::source_location"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let pointer = evaluator.dig(object, &["_M_impl", "__ptr_"])?;
        let place = pointer.target(evaluator.process()).ok()?;
        if place.address()?.get() == 0 {
            return Some(Content::Empty);
        }
        let text = |evaluator: &mut Evaluator<'_>, name| {
            let part = evaluator.member(&place, name)?;
            match evaluator.value(&part).content {
                Content::Pointer(pointer) => pointer.text.map(|text| text.text),
                _ => None,
            }
        };
        let (file, function) =
            (text(evaluator, "_M_file_name")?, text(evaluator, "_M_function_name")?);
        let line = evaluator.number_in(&place, &["_M_line"])?;
        let column = evaluator.number_in(&place, &["_M_column"])?;
        let of = if function.is_empty() { String::new() } else { format!(" in {function}") };
        let ty = evaluator.complete(&place.ty)?;
        let content = evaluator.raw(&place, &ty).ok()?;
        Some(content.meaning(format!("{file}:{line}:{column}{of}")))
    }
}

/// `std::type_index`.
pub struct TypeIndex;

impl Printer for TypeIndex {
    fn families(&self) -> &'static [&'static str] {
        &["std::type_index"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let described = evaluator.dig_pointer(object)?;
        Some(evaluator.value(&described).content)
    }
}

/// `std::coroutine_handle`: the frame, and the function with which it goes on. A coroutine that came to its end
/// has none.
pub struct CoroutineHandle;

impl Printer for CoroutineHandle {
    fn families(&self) -> &'static [&'static str] {
        &["std::coroutine_handle"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let frame = evaluator.pointer_in(object, &["_M_fr_ptr", "__handle_"])?;
        let content = evaluator.bare(frame, Vec::new());
        if frame.get() == 0 {
            return Some(content);
        }
        let words = match evaluator.pointer_at(frame, 0)? {
            resume if resume.get() == 0 => "done".to_owned(),
            resume => {
                evaluator.symbol(Some(resume)).filter(|symbol| symbol.offset == 0)?.to_string()
            }
        };
        Some(content.meaning(words))
    }
}
