//! Pointers and references: what lies there is named, and not followed unless it stands for the value.

use kcore_mem::Addr;
use kcore_symbols::{ArrayType, Dimension, Language, PointerKind, PointerType, Type, TypeKind};

use super::{Evaluator, text};
use crate::{
    Content, Object, ObjectError, Pointee, Pointer, Text,
    object::{complete, dynamic_object},
};

impl Pointer {
    /// A pointer of which nothing is known but where it leads.
    pub(crate) const fn to(to: Option<Addr>) -> Self {
        Self { to, symbol: None, text: None, dynamic: None, pointee: None, counts: Vec::new() }
    }
}

impl Evaluator<'_> {
    /// A pointer or a reference; `ty` is its type behind aliases.
    pub(super) fn pointer(
        &mut self,
        object: &Object,
        ty: &Type,
        pointer: &PointerType,
    ) -> Result<Content, ObjectError> {
        if let Some(target) = object.place.implicit_target() {
            let value = self.value(&target.clone());
            let pointee = Some(Pointee::Value(Box::new(value)));
            return Ok(Content::Pointer(Pointer { pointee, ..Pointer::to(None) }));
        }
        let at = object.pointer(self.process)?;
        let target = ty.follow(&pointer.to).map(|to| Object::at(to, at));
        let mut shown = self.pointer_to(at, target.as_ref().ok());
        let is_followed = match pointer.kind {
            PointerKind::Pointer => !self.limits.raw && is_reference_of_rust(ty),
            PointerKind::Reference | PointerKind::RvalueReference => true,
        };
        if let (true, Ok(target)) = (is_followed, &target) {
            let whole = dynamic_object(target, self.process);
            shown.pointee = self.followed(whole.as_ref().unwrap_or(target));
        }
        Ok(Content::Pointer(shown))
    }

    /// A function, or a value of Go that is one: a pointer to where its address stands, before what it
    /// has captured.
    pub(super) fn function(&self, object: &Object, ty: &Type) -> Result<Content, ObjectError> {
        if ty.language() != Some(Language::Go) {
            return Ok(Content::Function(self.symbol(object.address())));
        }
        let target = self.process.space().target();
        let bytes = object.place.read(self.process, u64::from(target.word))?;
        let captured = Addr::new(target.uint(&bytes));
        if captured.get() == 0 {
            return Ok(Content::Pointer(Pointer::to(Some(captured))));
        }
        let code = self.process.space().read_addr(captured)?;
        Ok(Content::Function(self.symbol(Some(code))))
    }

    /// A pointer with all that is known of what it points to, without its value.
    pub(crate) fn pointer_to(&self, at: Addr, target: Option<&Object>) -> Pointer {
        let symbol = self.symbol(Some(at));
        let text = target.and_then(|target| self.text_behind(target));
        let dynamic = target.and_then(|target| dynamic_object(target, self.process));
        Pointer { symbol, text, dynamic: dynamic.map(|object| object.ty), ..Pointer::to(Some(at)) }
    }

    fn text_behind(&self, target: &Object) -> Option<Text> {
        let ty = complete(&target.ty, self.process).ok()?;
        let at = target.address().filter(|at| at.get() != 0)?;
        let (unit, count) = match ty.kind() {
            TypeKind::Array(array) => self.characters(&ty, array)?,
            _ => (text::unit_of(&ty)?, None),
        };
        text::up_to_nul(self.process, at, unit, count, text::MAX_BEHIND_POINTER)
    }

    /// For a pointer to characters of Fortran: the bytes of one character, and how many characters there are.
    fn characters(&self, ty: &Type, array: &ArrayType) -> Option<(u64, Option<u64>)> {
        let [Dimension::Count(count)] = array.dimensions.as_slice() else { return None };
        array.layout.as_ref()?;
        let element = complete(&ty.follow(&array.element).ok()?, self.process).ok()?;
        Some((text::unit_of(&element)?, Some(*count)))
    }
}

/// Whether a type is a reference or a `Box`, which have names in Rust as pointers have.
fn is_reference_of_rust(ty: &Type) -> bool {
    ty.name().is_some_and(|name| name.starts_with('&') || name.starts_with("alloc::boxed::Box<"))
}
