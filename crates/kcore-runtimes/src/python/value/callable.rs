//! Functions, methods, code and modules.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    super::heap::{Object, STR},
    ValueKind,
    reader::Reader,
};

impl Reader<'_> {
    pub(super) fn function(&self, object: Object) -> Option<ValueKind> {
        let [code, name] = self.heap.layout.objects.function;
        let name = self.heap.field_of(object.at, name, STR).and_then(|name| self.heap.name(name));
        let code =
            self.heap.pointer(object.at, code).and_then(|code| self.python.code(&self.heap, code));
        Some(ValueKind::Function {
            name: name.map(Arc::from),
            file: code.as_ref().map(|code| code.file.clone()),
            line: code.and_then(|code| u32::try_from(code.first_line).ok()),
        })
    }

    /// `PyCFunctionObject`: `ml_name` of its `PyMethodDef` lies in constant memory.
    pub(super) fn builtin(&self, object: Object) -> Option<ValueKind> {
        let definition = Addr::new(self.heap.word(object.at, 16)?);
        let name = self.heap.word(definition, 0).and_then(|name| {
            let name = self.heap.space.read_cstr(Addr::new(name), 256).ok()?;
            String::from_utf8(name).ok()
        });
        Some(ValueKind::Function { name: name.map(Arc::from), file: None, line: None })
    }

    pub(super) fn code(&self, object: Object) -> Option<ValueKind> {
        let code = self.python.code(&self.heap, object.at)?;
        Some(ValueKind::Function {
            name: Some(code.name.clone()),
            file: Some(code.file.clone()),
            line: u32::try_from(code.first_line).ok(),
        })
    }

    pub(super) fn module(&self, object: Object) -> ValueKind {
        let name = self.heap.field_of(object.at, self.heap.layout.objects.module_name, STR);
        ValueKind::Module(name.and_then(|name| self.heap.name(name)).map(Arc::from))
    }
}
