//! Takes the steps of a path, one after the other.

use kcore_mem::Addr;
use kcore_symbols::{Type, TypeKind};

use super::{
    OutOfBounds, PathEnd, PathError, PathPart, PathWords, class_variable, containers, deref, parse,
    parse::Step, walked::Walked,
};
use crate::{Object, ObjectError, ObjectPlace, Process, eval::count_of, object::array_layout};

/// Parts that one path leads to, at most.
const MAX_PARTS: usize = 1 << 16;
/// References to references that are followed.
const MAX_REFERENCES: usize = 8;

/// Follows paths in a process.
pub struct Walker<'a> {
    process: &'a dyn Process,
    words: &'a dyn PathWords,
    /// Whether memory is read: without it a path leads through types alone.
    reads: bool,
    /// Whether pointers are followed.
    follows: bool,
    /// What the object itself is called where a path begins with it.
    root: Option<&'a str>,
}

impl<'a> Walker<'a> {
    /// Follows pointers to where they lead.
    pub const fn new(process: &'a dyn Process, words: &'a dyn PathWords) -> Self {
        Self { process, words, reads: true, follows: true, root: None }
    }

    /// Follows types alone: what a pointer points to lies at address 0.
    #[must_use]
    pub const fn without_memory(self) -> Self {
        Self { reads: false, ..self }
    }

    /// Stays within the object: a path that leads through a pointer leads nowhere.
    #[must_use]
    pub const fn within(self) -> Self {
        Self { reads: false, follows: false, ..self }
    }

    /// Paths begin with the name of the object, as expressions of C do.
    #[must_use]
    pub const fn from_name(self, name: &'a str) -> Self {
        Self { root: Some(name), ..self }
    }

    /// Whether a text is a path, and nothing but one.
    pub fn is_path(text: &str) -> bool {
        parse::parse(text).is_ok()
    }

    /// Whether a text is a path with a cast in it.
    pub fn has_cast(text: &str) -> bool {
        parse::parse(text).is_ok_and(|steps| steps.iter().any(|step| matches!(step, Step::Cast(_))))
    }

    /// The name that a path begins with, behind asterisks, parentheses and casts.
    pub fn first_name(path: &str) -> Option<String> {
        match parse::parse(path).ok()?.into_iter().next()? {
            Step::First(name) => Some(name),
            _ => None,
        }
    }

    /// The parts of an object that a path leads to.
    ///
    /// # Errors
    /// When it is no path, or leads nowhere.
    pub fn follow(&self, object: &Object, path: &str) -> Result<PathEnd, PathError> {
        let steps = parse::parse(path)?;
        let ends_at_first = steps.len() > 1 && matches!(steps.last(), Some(Step::Index(_)));
        let mut end = PathEnd::default();
        let whole = PathPart { object: object.clone(), path: path.to_owned(), is_target: false };
        let mut parts = vec![Walked { part: whole, growth: 0 }];
        for step in &steps {
            parts = self.step(parts, step, ends_at_first, &mut end.warnings)?;
        }
        end.parts = parts.into_iter().map(|walked| walked.part).collect();
        Ok(end)
    }

    fn step(
        &self,
        parts: Vec<Walked>,
        step: &Step,
        ends_at_first: bool,
        warnings: &mut Vec<OutOfBounds>,
    ) -> Result<Vec<Walked>, PathError> {
        let mut next = Vec::new();
        for mut walked in parts {
            if let Some(base) = self.base_of_step(&walked.part.object, step)? {
                walked.part.object = base;
            }
            match step {
                Step::Range { first, last, at } => {
                    let (first, last) = (self.number(first)?, self.number(last)?);
                    let (first, last) = (first.cast_signed(), last.cast_signed());
                    let len = last.checked_sub(first).and_then(|len| u64::try_from(len).ok());
                    let len = len.ok_or_else(|| range(first, last))?;
                    if len >= MAX_PARTS.saturating_sub(next.len()) as u64 {
                        return Err(PathError::Limit("65536 parts"));
                    }
                    for index in first..=last {
                        let of = &walked.part.object;
                        let object = self.element(of, index.cast_unsigned(), warnings)?;
                        next.push(walked.named(object, at.clone(), index));
                    }
                }
                step => {
                    let object = self.one(&walked.part.object, step, warnings)?;
                    let is_target = ends_at_first && self.is_first_of_pointer(&walked, step);
                    let part = PathPart { object, is_target, ..walked.part };
                    next.push(Walked { part, ..walked });
                }
            }
        }
        Ok(next)
    }

    fn one(
        &self,
        object: &Object,
        step: &Step,
        warnings: &mut Vec<OutOfBounds>,
    ) -> Result<Object, PathError> {
        match step {
            Step::First(name) if self.root == Some(name) => Ok(object.clone()),
            Step::First(name) => match self.is_pointer(object)? {
                true => self.member(&self.target(object)?, name),
                false => self.member(object, name),
            },
            Step::Member(name) if self.leads_on(object)? => {
                self.member(&self.target(object)?, name)
            }
            Step::Member(name) => self.member(object, name),
            Step::Arrow(name) => self.member(&self.target(object)?, name),
            Step::Target => self.target(object),
            Step::Index(index) => self.index(object, index, warnings),
            Step::Cast(ty) => Ok(object.cast(self.words.type_named(ty).map_err(PathError::Word)?)),
            Step::Range { first, .. } => Err(PathError::Word(first.clone())),
        }
    }

    /// What a step is taken from instead of the object: of a reference of C++ what it refers to, unless the step says so
    /// itself; for an index the array or the container that a pointer of Rust leads to.
    fn base_of_step(&self, object: &Object, step: &Step) -> Result<Option<Object>, PathError> {
        if is_reference(&object.ty) {
            // A star before a reference to what is no pointer is the referent as well: it is shown so.
            let is_star_of_object = matches!(step, Step::Target)
                && self.target(object).is_ok_and(|of| self.target(&of).is_err());
            let is_within = matches!(step, Step::First(_) | Step::Member(_));
            let is_meant = !is_within && !is_star_of_object;
            return is_meant.then(|| self.target(object)).transpose();
        }
        let is_index = matches!(step, Step::Index(_) | Step::Range { .. });
        if !is_index
            || !deref::is_rust(object)
            || self.is_array(object)?
            || self.is_container(object)?
        {
            return Ok(None);
        }
        let is_indexed =
            |of: &Object| self.is_array(of) == Ok(true) || self.is_container(of) == Ok(true);
        Ok(self.derefs(object).find(is_indexed))
    }

    /// What an object of Rust leads to by `*`, by `**` and so on. Of raw pointers nothing: they are dereferenced where
    /// the program says so alone.
    fn derefs(&self, object: &Object) -> impl Iterator<Item = Object> + '_ {
        let next = |of: &Object| {
            let is_raw = of.ty.name().is_some_and(|name| name.starts_with('*'));
            match self.is_pointer(of).ok()? {
                _ if is_raw || !deref::is_rust(of) => None,
                true => self.target(of).ok(),
                false => self.reads.then(|| deref::find(self.process, of))?,
            }
        };
        std::iter::successors(next(object), move |of| next(of)).take(MAX_REFERENCES)
    }

    fn number(&self, text: &str) -> Result<u64, PathError> {
        self.words.number(text).map_err(PathError::Word)
    }

    fn is_pointer(&self, object: &Object) -> Result<bool, PathError> {
        Ok(matches!(object.complete_type(self.process)?.kind(), TypeKind::Pointer(_)))
    }

    /// Whether `.` leads to members of what a pointer points to: in languages that have no `->`.
    fn leads_on(&self, object: &Object) -> Result<bool, PathError> {
        use kcore_symbols::Language::{Fortran, Go, Rust};
        let is_one = matches!(object.ty.language(), Some(Fortran | Go | Rust));
        Ok(is_one && self.is_pointer(object)?)
    }

    fn is_first_of_pointer(&self, walked: &Walked, step: &Step) -> bool {
        let is_first = matches!(step, Step::Index(text) if self.words.number(text) == Ok(0));
        is_first && self.is_pointer(&walked.part.object).unwrap_or(false)
    }

    /// A member. Those of what owners and guards of Rust lead to come before their own, which are private.
    fn member(&self, object: &Object, name: &str) -> Result<Object, PathError> {
        let mut why = None;
        for of in self.derefs(object) {
            match self.own_member(&of, name) {
                Err(fault) => why = Some(fault),
                found => return found,
            }
        }
        let own = self.own_member(object, name);
        own.map_err(|fault| why.unwrap_or(fault))
    }

    fn own_member(&self, object: &Object, name: &str) -> Result<Object, PathError> {
        match object.member(self.process, name) {
            // References of C++ are what they refer to.
            Err(why @ ObjectError::NotComposite(_)) if is_reference(&object.ty) => {
                let of = self.target(object)?;
                match is_reference(&of.ty) {
                    true => Err(why.into()),
                    false => self.own_member(&of, name),
                }
            }
            Err(why @ (ObjectError::NoMember { .. } | ObjectError::OtherVariant { .. })) => {
                let found = self.scoped(object, name)?.or_else(|| self.of_whole(object, name));
                let found = match found {
                    None if self.reads => self.of_class(object, name)?,
                    found => found,
                };
                found.or_else(|| self.as_shown(object, name)).ok_or(why.into())
            }
            found => Ok(found?),
        }
    }

    /// A variable of the class of an object, or of a class that it is derived from.
    fn of_class(&self, object: &Object, name: &str) -> Result<Option<Object>, PathError> {
        let class = object.complete_type(self.process)?;
        class_variable::find(self.process, &class, name)
    }

    /// A member of the class that an object truly is, where that of the pointer to it has none.
    fn of_whole(&self, object: &Object, name: &str) -> Option<Object> {
        let whole = self.reads.then(|| object.whole(self.process))?;
        whole.member(self.process, name).ok()
    }

    /// A part that the object is shown with, by a name that no member has: the elements of a tuple.
    fn as_shown(&self, object: &Object, name: &str) -> Option<Object> {
        self.reads.then(|| containers::shown_part(self.process, object, name))?
    }

    /// A base class by its name, or a member behind the name of one: `ns::Base`, `Base::x`.
    fn scoped(&self, object: &Object, name: &str) -> Result<Option<Object>, PathError> {
        if let Some(base) = self.base(object, name)? {
            return Ok(Some(base));
        }
        let Some((class, member)) = name.rsplit_once("::") else { return Ok(None) };
        let own = object.complete_type(self.process)?;
        if own.qualified_name().as_deref() == Some(class) {
            return self.own_member(object, member).map(Some);
        }
        match self.base(object, class)? {
            Some(base) => Ok(Some(base.member(self.process, member)?)),
            None => Ok(None),
        }
    }

    fn base(&self, object: &Object, name: &str) -> Result<Option<Object>, PathError> {
        let ty = object.complete_type(self.process)?;
        for base in ty.composite().iter().flat_map(|composite| &composite.bases) {
            let part = object.part(self.process, &ty, &base.ty, &base.place)?;
            if part.ty.name() == Some(name) || part.ty.qualified_name().as_deref() == Some(name) {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    fn target(&self, object: &Object) -> Result<Object, PathError> {
        if !self.follows {
            return Err(PathError::Word("it leads through a pointer".to_owned()));
        }
        if !self.reads {
            return self.target_type(object).map(|ty| Object::at(ty, Addr::new(0)));
        }
        match object.target(self.process) {
            // As in C, an array is its first element.
            Err(ObjectError::NotAPointer(_)) if self.is_array(object)? => {
                Ok(object.index(self.process, 0)?)
            }
            Err(ObjectError::NotAPointer(_)) => deref::find(self.process, object)
                .map_or_else(|| containers::owned(self.process, object), Ok),
            Err(ObjectError::Absent(why)) => match object.address() {
                Some(at) => Err(PathError::Dereference(at)),
                // What a pointer that was not kept leads to was not kept either, as far as one knows.
                None => {
                    Ok(Object { ty: self.target_type(object)?, place: ObjectPlace::nowhere(why) })
                }
            },
            found => Ok(found?),
        }
    }

    fn is_array(&self, object: &Object) -> Result<bool, PathError> {
        Ok(matches!(object.complete_type(self.process)?.kind(), TypeKind::Array(_)))
    }

    fn target_type(&self, object: &Object) -> Result<Type, PathError> {
        let ty = object.complete_type(self.process)?;
        let TypeKind::Pointer(pointer) = ty.kind() else {
            return Err(ObjectError::NotAPointer(object.ty.spelled()).into());
        };
        Ok(ty.follow(&pointer.to).map_err(ObjectError::from)?)
    }

    /// The element of an index that is typed as a number, or as a key in quotes. A shell takes the quotes
    /// away: where keys are texts, what is typed is one.
    fn index(
        &self,
        object: &Object,
        text: &str,
        warnings: &mut Vec<OutOfBounds>,
    ) -> Result<Object, PathError> {
        if self.is_container(object)? {
            let key = containers::with_key(self.process, object, text.trim_matches('"'))?;
            if let Some(found) = key {
                return Ok(found);
            }
        }
        let index = match character(text) {
            Some(code) => code,
            None => self.number(text)?,
        };
        self.element(object, index, warnings)
    }

    fn is_container(&self, object: &Object) -> Result<bool, PathError> {
        let is_go = object.ty.language() == Some(kcore_symbols::Language::Go);
        Ok(match object.complete_type(self.process)?.kind() {
            TypeKind::Array(_) => false,
            TypeKind::Pointer(_) if !is_go => false,
            _ => self.reads && containers::is_one(self.process, object),
        })
    }

    fn element(
        &self,
        object: &Object,
        index: u64,
        warnings: &mut Vec<OutOfBounds>,
    ) -> Result<Object, PathError> {
        let ty = object.complete_type(self.process)?;
        match ty.kind() {
            TypeKind::Array(array) if array.layout.is_some() => {
                array_layout::declared_element(self.process, object, index.cast_signed())
            }
            TypeKind::Array(array) => {
                warnings.extend(beyond(index, count_of(&ty, array)));
                Ok(object.index(self.process, index.cast_signed())?)
            }
            TypeKind::Pointer(_) if !self.is_container(object)? => {
                let first = self.target(object)?;
                let pointed = first.ty.array(None);
                Ok(first.cast(pointed).index(self.process, index.cast_signed())?)
            }
            _ => containers::element(self.process, object, index),
        }
    }
}

/// The code of a character that stands between quotes as C has it.
fn character(text: &str) -> Option<u64> {
    let mut inside = text.strip_prefix('\'')?.strip_suffix('\'')?.chars();
    let one = inside.next().filter(|_| inside.next().is_none())?;
    Some(u64::from(u32::from(one)))
}

fn range(first: i64, last: i64) -> PathError {
    PathError::Range(format!("[{first}..{last}]"))
}

/// An index that lies beyond the end of an array.
fn beyond(index: u64, count: Option<u64>) -> Option<OutOfBounds> {
    let last = count?.checked_sub(1)?;
    (index > last).then_some(OutOfBounds { index, last })
}

pub fn is_reference(ty: &Type) -> bool {
    use kcore_symbols::PointerKind;
    let stripped = ty.stripped();
    let kind = stripped.as_ref().map(Type::kind);
    matches!(kind, Ok(TypeKind::Pointer(pointer)) if pointer.kind != PointerKind::Pointer)
}
