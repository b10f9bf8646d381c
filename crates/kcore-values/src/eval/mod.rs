//! Objects become values here: a tree, as large as its limits allow.

mod array;
mod composite;
mod enclosing;
mod float;
mod follow;
mod member_pointer;
mod pointer;
mod scalar;
#[cfg(test)]
mod tests;
mod text;
mod variant;

pub(crate) use array::count_of;
pub(crate) use enclosing::Enclosing;
pub(crate) use text::{replaced, up_to_nul};
pub(crate) use variant::variant_name;

use std::cell::Cell;

use kcore_mem::{Addr, Cut, Resource};
use kcore_symbols::{Type, TypeKind, TypeLink};

use crate::{
    Absent, Content, Limits, Object, ObjectError, Pointer, Process, SymbolName, Text, Value,
    printers,
};

/// Values within values, whatever the limits say: the stack of kcore itself has an end.
const MAX_NESTING: usize = 200;

/// Reads objects. One reads one tree: what is left of its limits is shared by all of the tree.
pub(crate) struct Evaluator<'a> {
    process: &'a dyn Process,
    limits: &'a Limits,
    /// Values that may still be made.
    left: u64,
    /// Whether `left` comes from the budget and not from the caller's limits.
    is_of_budget: bool,
    /// The structures around the value that is being read.
    enclosing: Enclosing,
    /// How many values lie around the one that is being read.
    nesting: usize,
    /// How many structures and arrays lie around it.
    depth: u64,
    /// The objects around it that pointers led to.
    around: Vec<(Addr, Type)>,
    /// Virtual base classes of the object that were shown, by where they lie.
    virtual_bases: Vec<(Addr, TypeLink)>,
    /// Whether the next structure is a base class, and no object of its own.
    is_base: bool,
    /// Steps from one link to the next that may still be gone.
    steps: Cell<u64>,
}

/// Values read between two checks for ctrl-C and the time limit.
const BETWEEN_LOOKS: u64 = 1 << 10;

/// Links that are followed and bytes of tables that are looked at, for one tree: what a process can hold
/// of what a person wants to see, and little enough that damaged links end.
const MAX_STEPS: u64 = 1 << 26;

impl<'a> Evaluator<'a> {
    pub(crate) fn new(process: &'a dyn Process, limits: &'a Limits) -> Self {
        let at_once = process.budget().allowance().values_at_once;
        Self {
            process,
            limits,
            left: limits.values.min(at_once),
            is_of_budget: at_once < limits.values,
            enclosing: Enclosing::default(),
            nesting: 0,
            depth: 0,
            around: Vec::new(),
            virtual_bases: Vec::new(),
            is_base: false,
            steps: Cell::new(MAX_STEPS),
        }
    }

    /// The process that objects lie in.
    pub(crate) const fn process(&self) -> &'a dyn Process {
        self.process
    }

    /// How much is to be read.
    pub(crate) const fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// What an object says.
    pub(crate) fn value(&mut self, object: &Object) -> Value {
        let content = self.content(object);
        valued(object, content)
    }

    /// The value of something that could not even be found.
    pub(crate) fn missing(&mut self, ty: Type, why: ObjectError) -> Value {
        self.left = self.left.saturating_sub(1);
        Value { ty, at: None, bits: None, content: absent(why) }
    }

    fn content(&mut self, object: &Object) -> Content {
        if self.nesting >= MAX_NESTING || !self.take_value() {
            return Content::Elided;
        }
        self.nesting = self.nesting.saturating_add(1);
        let content = self.content_of(object);
        self.nesting = self.nesting.saturating_sub(1);
        let mut content = content.unwrap_or_else(absent);
        self.pay_for_text(&mut content);
        content
    }

    /// Charges text, and drops it when the budget is exhausted: many values may point to one long text.
    fn pay_for_text(&self, content: &mut Content) {
        let text = match content {
            Content::Text(text) => text,
            Content::Bytes(bytes) => {
                if !self.process.budget().spend(Resource::Text, bytes.len() as u64) {
                    *content = Content::Text(Text::of("", true));
                }
                return;
            }
            Content::Pointer(Pointer { text: Some(text), .. }) => text,
            _ => return,
        };
        if !self.process.budget().spend(Resource::Text, text.text.len() as u64) {
            *text = Text::of("", true);
        }
    }

    /// Charges one value; false when there are none left.
    fn take_value(&mut self) -> bool {
        let budget = self.process.budget();
        if self.left == 0 {
            if self.is_of_budget {
                let limit = budget.allowance().values_at_once;
                budget.cut(Cut::Spent { resource: Resource::Values, limit });
            }
            return false;
        }
        self.left = self.left.saturating_sub(1);
        let is_time_to_look = self.left.is_multiple_of(BETWEEN_LOOKS);
        if is_time_to_look && budget.halt().is_some() || !budget.spend(Resource::Values, 1) {
            self.left = 0;
            self.is_of_budget = false;
            return false;
        }
        true
    }

    fn content_of(&mut self, object: &Object) -> Result<Content, ObjectError> {
        let ty = object.complete_type(self.process)?;
        if let Some(why) = self.is_nowhere(object, &ty) {
            return Ok(Content::Absent(why));
        }
        if ty.composite().is_none() {
            return self.shown(object, ty);
        }
        if !self.enclosing.enter(object, &ty) {
            return Err(ObjectError::HoldsItself(ty.spelled()));
        }
        let content = self.shown(object, ty);
        self.enclosing.leave();
        content
    }

    /// The content by the printer for the type, else by its structure.
    fn shown(&mut self, object: &Object, ty: Type) -> Result<Content, ObjectError> {
        let meant = if self.limits.raw { None } else { printers::show(self, object, &ty) };
        match meant {
            Some(content) => Ok(content),
            None => self.raw(object, &ty),
        }
    }

    /// The content by the structure of its type; `ty` is the type behind aliases.
    pub(crate) fn raw(&mut self, object: &Object, ty: &Type) -> Result<Content, ObjectError> {
        match ty.kind() {
            TypeKind::Void => Ok(scalar::of_no_type(ty)),
            TypeKind::Base(base) => scalar::base(self.process, object, ty, *base),
            TypeKind::Enumeration(_) => scalar::enumeration(self.process, object, ty),
            TypeKind::Pointer(pointer) => self.pointer(object, ty, pointer),
            TypeKind::Composite(composite) => self.composite(object, ty, composite),
            TypeKind::Array(array) => self.array(object, ty, array),
            TypeKind::Function(_) => self.function(object, ty),
            TypeKind::MemberPointer(pointer) => self.member_pointer(object, ty, pointer),
            TypeKind::Alias(_) | TypeKind::Unknown(_) => {
                Ok(Content::Other("of a type that is not known".to_owned()))
            }
        }
    }

    /// Why nothing of an object can be read, if that is so: a structure without any byte is absent as a
    /// whole, and not member by member.
    fn is_nowhere(&self, object: &Object, ty: &Type) -> Option<Absent> {
        let size = ty.size().filter(|size| *size > 0)?;
        let at = object.address().filter(|_| object.place.bits().is_none())?;
        let space = self.process.space();
        let why = space.slice(at).err()?;
        // Whole pages are there or not.
        const PAGE: u64 = 4096;
        const PROBES: usize = 64;
        let step = usize::try_from(PAGE).unwrap_or(1);
        let into_page = at.get() % PAGE;
        let first = PAGE.saturating_sub(into_page);
        let some_byte = (first..size)
            .step_by(step)
            .take(PROBES)
            .any(|offset| at.checked_add(offset).is_some_and(|at| space.slice(at).is_ok()));
        (!some_byte).then(|| why.into())
    }

    /// Reads the parts of a structure or an array with `parts`, unless it lies too deep.
    pub(crate) fn nested(
        &mut self,
        parts: impl FnOnce(&mut Self) -> Result<Content, ObjectError>,
    ) -> Result<Content, ObjectError> {
        if self.limits.depth.is_some_and(|depth| self.depth >= depth) {
            return Ok(Content::Elided);
        }
        self.depth = self.depth.saturating_add(1);
        let content = parts(self);
        self.depth = self.depth.saturating_sub(1);
        content
    }

    /// Goes some steps; `None` when all were gone.
    pub(crate) fn go(&self, steps: u64) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(steps)?);
        self.process.budget().spend(Resource::Steps, steps).then_some(())
    }

    /// The symbol that holds an address.
    pub(crate) fn symbol(&self, at: Option<Addr>) -> Option<SymbolName> {
        self.process.symbol_at(at.filter(|at| at.get() != 0)?)
    }

    /// How many elements of one array or container are read.
    pub(crate) fn max_elements(&self) -> u64 {
        self.limits.elements.unwrap_or(u64::MAX).min(self.left)
    }
}

/// The value of an object that says `content`.
pub(crate) fn valued(object: &Object, content: Content) -> Value {
    Value { ty: object.ty.clone(), at: object.address(), bits: object.place.bits(), content }
}

/// What stands for something that could not be read.
pub(crate) fn absent(why: ObjectError) -> Content {
    Content::Absent(match why {
        ObjectError::Absent(absent) => absent,
        other => Absent::Unreadable(other.to_string()),
    })
}
