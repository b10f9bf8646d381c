//! Which types are contexts, and where their fields lie.

use std::{cell::RefCell, sync::Arc};

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::ContextKind;
use crate::{
    Host,
    go::{
        Go,
        heap::TypeReader,
        type_shape::{Field, Shape},
        types::GoType,
    },
};

/// Structures within structures that are looked at.
const MAX_NESTED: usize = 4;
/// Bytes of an interface.
const INTERFACE: u64 = 16;
/// The field that an embedded context is.
const EMBEDDED: &str = "Context";

/// Where the fields of a context lie, in bytes; those with a type are interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextShape {
    /// Its type.
    pub ty: GoType,
    /// Its kind.
    pub kind: ContextKind,
    /// The interface that holds its parent.
    pub parent: u64,
    /// The interface that holds its channel.
    pub done: Option<u64>,
    /// The map of what ends with it.
    pub children: Option<u64>,
    /// The error with which it ended.
    pub ended: Option<(u64, Addr)>,
    /// The cause of that.
    pub cause: Option<(u64, Addr)>,
    /// The key.
    pub key: Option<(u64, Addr)>,
    /// The value.
    pub value: Option<(u64, Addr)>,
    /// The `time.Time` when it ends.
    pub deadline: Option<u64>,
    /// The pointer to the `time.Timer` that ends it.
    pub timer: Option<u64>,
    /// The function that it calls.
    pub function: Option<u64>,
}

/// The types of a runtime, as far as they were asked about.
pub struct Shapes<'a> {
    pub reader: TypeReader<'a>,
    known: RefCell<FxHashMap<Addr, Option<Arc<ContextShape>>>>,
}

impl<'a> Shapes<'a> {
    pub fn new(go: &'a Go, host: &'a dyn Host) -> Self {
        let reader = TypeReader::new(host.space(), &go.tables);
        Self { reader, known: RefCell::default() }
    }

    /// That of the type at an address, if it is a context's.
    pub fn of(&self, ty: Addr) -> Option<Arc<ContextShape>> {
        if let Some(known) = self.known.borrow().get(&ty) {
            return known.clone();
        }
        let found = self.read(ty).map(Arc::new);
        self.known.borrow_mut().insert(ty, found.clone());
        found
    }

    /// That of what a pointer of the type at an address points to, if it is a context.
    pub fn behind(&self, ty: Addr) -> Option<Arc<ContextShape>> {
        match self.reader.shaped(ty)?.shape {
            Shape::Pointer(to) => self.of(to),
            _ => None,
        }
    }

    fn read(&self, ty: Addr) -> Option<ContextShape> {
        let shaped = self.reader.shaped(ty)?;
        let (kind, parent) = match &*shaped.ty.name {
            "context.cancelCtx" => (ContextKind::Cancel, "Context"),
            "context.timerCtx" => (ContextKind::Deadline, "Context"),
            "context.valueCtx" => (ContextKind::Value, "Context"),
            "context.withoutCancelCtx" => (ContextKind::WithoutCancel, "c"),
            "context.afterFuncCtx" => (ContextKind::AfterFunc, "Context"),
            "context.stopCtx" => (ContextKind::Stop, "Context"),
            "signal.signalCtx" => (ContextKind::Signal, "Context"),
            _ => return self.own(&shaped.ty, &shaped.shape),
        };
        let field = |name: &str| self.field(ty, name, MAX_NESTED);
        let at = |name: &str| field(name).map(|(offset, _)| offset);
        let interface = |name: &str| field(name).and_then(|found| self.interface(found));
        Some(ContextShape {
            ty: shaped.ty.clone(),
            kind,
            parent: interface(parent)?.0,
            done: interface("done").map(|(offset, _)| offset),
            children: at("children"),
            ended: interface("err"),
            cause: interface("cause"),
            key: interface("key"),
            value: interface("val"),
            deadline: at("deadline"),
            timer: at("timer"),
            function: at("f"),
        })
    }

    /// That of a structure which programs made, if the interface of contexts is embedded in it, or in one that is embedded: it
    /// has the methods of that.
    fn own(&self, named: &GoType, shape: &Shape) -> Option<ContextShape> {
        Some(ContextShape {
            ty: named.clone(),
            kind: ContextKind::Own,
            parent: self.embedded(shape, MAX_NESTED)?,
            done: None,
            children: None,
            ended: None,
            cause: None,
            key: None,
            value: None,
            deadline: None,
            timer: None,
            function: None,
        })
    }

    /// Where the interface of contexts is embedded in a structure.
    fn embedded(&self, shape: &Shape, depth: usize) -> Option<u64> {
        let (Shape::Structure(fields), Some(depth)) = (shape, depth.checked_sub(1)) else {
            return None;
        };
        let is_parent = |field: &&Field| {
            &*field.name == EMBEDDED
                && self.reader.shaped(field.ty).is_some_and(|ty| &*ty.ty.name == super::INTERFACE)
        };
        let own = fields.iter().find(is_parent).map(|field| field.offset);
        own.or_else(|| {
            fields.iter().filter(|field| self.is_embedded(field)).find_map(|field| {
                let inner = self.embedded(&self.reader.shaped(field.ty)?.shape, depth)?;
                field.offset.checked_add(inner)
            })
        })
    }

    /// Where a field of a name lies in a structure, or in one that is embedded in it, and its type.
    fn field(&self, ty: Addr, name: &str, depth: usize) -> Option<(u64, Addr)> {
        let depth = depth.checked_sub(1)?;
        let shaped = self.reader.shaped(ty)?;
        let Shape::Structure(fields) = &shaped.shape else { return None };
        let own = fields.iter().find(|field| &*field.name == name);
        own.map(|field| (field.offset, field.ty)).or_else(|| {
            fields.iter().filter(|field| self.is_embedded(field)).find_map(|field| {
                let (offset, ty) = self.field(field.ty, name, depth)?;
                Some((field.offset.checked_add(offset)?, ty))
            })
        })
    }

    /// Whether a field has the name of its type: then what is in that is the structure's own.
    fn is_embedded(&self, field: &Field) -> bool {
        let ty = self.reader.shaped(field.ty);
        ty.is_some_and(|ty| {
            matches!(ty.shape, Shape::Structure(_))
                && ty.ty.name.rsplit('.').next() == Some(&*field.name)
        })
    }

    /// The interface that a field is, or holds as an `atomic.Value` does.
    fn interface(&self, (offset, ty): (u64, Addr)) -> Option<(u64, Addr)> {
        let shaped = self.reader.shaped(ty)?;
        match &shaped.shape {
            Shape::Interface(_) => Some((offset, ty)),
            Shape::Structure(fields) if shaped.ty.size == INTERFACE => {
                let [field] = fields.as_slice() else { return None };
                self.interface((offset.checked_add(field.offset)?, field.ty))
            }
            _ => None,
        }
    }
}
