//! Objects as their printers say that they are.

use std::cell::RefCell;

use kcore_mem::Addr;
use kcore_symbols::{Type, TypeKind};

use super::{
    DeclaredPrinter, PrinterExpression, PrinterShape,
    custom::CustomSteps,
    indexed::elements,
    nodes::{ListNodes, NodeEnd, TreeNodes},
    scope::{PrinterScope, Trouble},
    shape::{HeldExpressions, NamedExpression},
    without_declared::WithoutDeclared,
    words,
};
use crate::{
    Content, Elements, Entry, Field, Object, ObjectError, Value,
    eval::{Evaluator, up_to_nul},
};

pub type Printed<T = Content> = Result<T, Trouble>;

/// What an object is by a printer; `None` if its condition does not hold. What goes wrong behind the first elements is
/// added to `troubles`.
pub fn show(
    evaluator: &mut Evaluator<'_>,
    object: &Object,
    (printer, captures): (&DeclaredPrinter, &[String]),
    troubles: &RefCell<Vec<Trouble>>,
) -> Printed<Option<Content>> {
    let process = WithoutDeclared(evaluator.process());
    let scope = PrinterScope { captures, ..PrinterScope::new(&process, object, troubles) };
    if !scope.holds(printer.when.as_ref())? {
        return Ok(None);
    }
    shape(evaluator, &scope, &printer.shape)
}

/// What an object is by a shape; `None` if that has nothing to show.
fn shape(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    shape: &PrinterShape,
) -> Printed<Option<Content>> {
    match shape {
        PrinterShape::Members(members) => fields(evaluator, scope, members),
        PrinterShape::Text { at, length } => text(evaluator, scope, at, length.as_ref()).map(Some),
        PrinterShape::Words(template) => words::content(evaluator, scope, template).map(Some),
        PrinterShape::Pointer(pointer) => owner(evaluator, scope, pointer).map(Some),
        PrinterShape::Same(other) => same(evaluator, scope, other).map(Some),
        PrinterShape::Custom(program) => custom(evaluator, scope, program).map(Some),
        PrinterShape::Grid { rank, size, first } => {
            grid(evaluator, scope, *rank, (size, first)).map(Some)
        }
        shape => collection(evaluator, scope, shape),
    }
}

/// Elements that a program gives.
fn custom(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    program: &CustomSteps,
) -> Printed {
    let total = program.size.as_ref().map(|size| scope.number(size)).transpose()?;
    let most = total.unwrap_or(u64::MAX).min(evaluator.max_elements());
    // One more tells whether there are more.
    let given = program.run(scope, most.saturating_add(1));
    let (mut items, mut trouble) = (given.items.into_iter(), given.trouble);
    let mut next = |_: &PrinterScope<'_>| match (items.next(), trouble.take()) {
        (Some(item), later) => {
            trouble = later;
            Ok(Some(item))
        }
        (None, Some(trouble)) => Err(trouble),
        (None, None) => Ok(None),
    };
    collected(evaluator, scope, program.has_keys(), total, &mut next)
}

/// Dimensions of an array, at most.
const MAX_RANK: u64 = 16;

/// An array of arrays.
fn grid(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    rank: u64,
    (size, first): (&PrinterExpression, &PrinterExpression),
) -> Printed {
    if rank > MAX_RANK {
        return Err(trouble(size, &format!("more than {MAX_RANK} dimensions")));
    }
    let sizes = (0..rank).map(|dimension| scope.of_index(dimension).number(size));
    let sizes = sizes.collect::<Printed<Vec<u64>>>()?;
    let Some(first_object) = element_at(scope, first)? else {
        return nothing(evaluator, size, sizes.iter().copied().min().unwrap_or(0));
    };
    let inner = sizes.iter().rev().fold(first_object.ty.clone(), |ty, size| ty.array(Some(*size)));
    Ok(evaluator.value(&first_object.cast(inner)).content)
}

/// A pointer that owns what it points to.
fn owner(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    pointer: &PrinterExpression,
) -> Printed {
    let target = scope.target(pointer)?;
    let owned = match &target {
        Some(target) => evaluator.owner(target, Vec::new()),
        None => Some(evaluator.bare(Addr::new(0), Vec::new())),
    };
    owned.ok_or_else(|| trouble(pointer, "it lies in no memory"))
}

/// What another object is.
fn same(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    other: &PrinterExpression,
) -> Printed {
    let object = scope.object(other)?;
    let is_itself = object.address().is_some()
        && object.address() == scope.object.address()
        && object.ty.spelled() == scope.object.ty.spelled();
    match is_itself {
        true => Err(trouble(other, "it is the object itself")),
        false => Ok(evaluator.value(&object).content),
    }
}

/// Elements of any kind; `None` for a shape that has none.
fn collection(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    shape: &PrinterShape,
) -> Printed<Option<Content>> {
    let content = match shape {
        PrinterShape::Array { size, first } => {
            let count = scope.number(size)?;
            let Some(first_object) = element_at(scope, first)? else {
                return nothing(evaluator, size, count).map(Some);
            };
            let at = first_object.address().ok_or_else(|| trouble(first, "it has no address"))?;
            let elements = evaluator.contiguous(&first_object.ty, at, count);
            elements.ok_or_else(|| trouble(size, &format!("there are no {count} elements")))
        }
        PrinterShape::Elements { size, when, held } => {
            elements(evaluator, scope, (size, when.as_ref()), held)
        }
        PrinterShape::List { size, head, next, end, held } => {
            let total = size.as_ref().map(|size| scope.number(size)).transpose()?;
            // Where nothing is, nothing tells of a first node.
            if total == Some(0) {
                return nodes(evaluator, scope, held, total, |_| Ok(None)).map(Some);
            }
            let at = end.as_ref().map(|end| scope.number(end)).transpose()?;
            let mut list = ListNodes::new(next, NodeEnd { at, when: None }, scope.target(head)?);
            nodes(evaluator, scope, held, total, |scope| list.take(scope))
        }
        PrinterShape::Tree { size, head, left, right, end, held } => {
            let total = size.as_ref().map(|size| scope.number(size)).transpose()?;
            if total == Some(0) {
                return nodes(evaluator, scope, held, total, |_| Ok(None)).map(Some);
            }
            let at = end.as_ref().map(|end| scope.number(end)).transpose()?;
            let mut tree = TreeNodes::new((left, right), NodeEnd { at, when: None });
            tree.descend(scope, scope.target(head)?)?;
            nodes(evaluator, scope, held, total, |scope| tree.take(scope))
        }
        _ => return Ok(None),
    };
    content.map(Some)
}

/// What is wrong with an expression.
pub fn trouble(expression: &PrinterExpression, why: &str) -> Trouble {
    (expression.line, format!("{}: {why}", expression.text))
}

/// A container in which nothing is, as its null pointer says.
fn nothing(evaluator: &mut Evaluator<'_>, size: &PrinterExpression, count: u64) -> Printed {
    if count > 0 {
        return Err(trouble(size, &format!("there are no {count} elements at a null pointer")));
    }
    Ok(evaluator.sequence(0, |_, _| None).unwrap_or(Content::Elided))
}

/// The first of some objects: what a pointer points to, or the first element of an array.
fn element_at(scope: &PrinterScope<'_>, first: &PrinterExpression) -> Printed<Option<Object>> {
    let object = scope.object(first)?;
    match object.index(scope.process, 0) {
        Ok(element) if element.address().is_some_and(|at| at.get() == 0) => Ok(None),
        Ok(element) => Ok(Some(element)),
        Err(why) => Err(trouble(first, &why.to_string())),
    }
}

/// Characters, so many or up to a NUL.
pub fn text(
    evaluator: &Evaluator<'_>,
    scope: &PrinterScope<'_>,
    at: &PrinterExpression,
    length: Option<&PrinterExpression>,
) -> Printed {
    let count = length.map(|length| scope.number(length)).transpose()?;
    let Some(first) = element_at(scope, at)? else {
        return match count {
            Some(count) if count > 0 => Err(trouble(at, "characters at a null pointer")),
            _ => Ok(Content::Text(crate::Text::of("", false))),
        };
    };
    let unit = first.complete_type(scope.process).ok().and_then(|ty| unit_of_any(&ty));
    let unit = unit.ok_or_else(|| trouble(at, "it points to no characters"))?;
    let first = first.address().ok_or_else(|| trouble(at, "it has no address"))?;
    let said = match count {
        Some(count) => evaluator.text(first, count, unit),
        None => {
            let most = evaluator.limits().characters.unwrap_or(u64::MAX);
            up_to_nul(scope.process, first, unit, None, most).map(Content::Text)
        }
    };
    said.ok_or_else(|| trouble(at, "there is no such text"))
}

/// Bytes of one character: the file says that numbers of this type are some.
fn unit_of_any(ty: &Type) -> Option<u64> {
    let is_number = matches!(ty.kind(), TypeKind::Base(_));
    ty.size().filter(|size| is_number && matches!(size, 1 | 2 | 4))
}

/// The parts whose conditions hold; `None` when none does.
fn fields(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    members: &[NamedExpression],
) -> Printed<Option<Content>> {
    let mut parts = Vec::new();
    for member in members {
        match part(scope, member) {
            Ok(Some(part)) => parts.push((member, part)),
            Err(_) if member.is_optional => {}
            Err(trouble) => return Err(trouble),
            Ok(None) => {}
        }
    }
    match parts.as_slice() {
        [] => return Ok(None),
        // What has no other part is what that one is.
        [(member, Part::Object(_))] if member.is_expanded => {
            return same(evaluator, scope, &member.value).map(Some);
        }
        _ => {}
    }
    let fields = evaluator.nested(|evaluator| {
        let mut fields = Vec::new();
        for (member, part) in parts {
            let value = match part {
                Part::Object(object) => evaluator.value(&object),
                Part::Shape(inner) => synthetic(evaluator, scope, inner),
            };
            match value.content {
                Content::Fields(own) if member.is_expanded => fields.extend(own),
                _ => {
                    let name = Some(member.name.clone());
                    fields.push(Field { name, is_base: false, value });
                }
            }
        }
        Ok(Content::Fields(fields))
    });
    fields.map(Some).map_err(|why| unreadable(&why))
}

/// A part of an object: another one, or what a shape says of the same.
enum Part<'m> {
    Object(Object),
    Shape(&'m PrinterShape),
}

/// A part, if its condition holds.
fn part<'m>(scope: &PrinterScope<'_>, member: &'m NamedExpression) -> Printed<Option<Part<'m>>> {
    if !scope.holds(member.when.as_ref())? {
        return Ok(None);
    }
    for (when, shape) in &member.synthetic {
        if scope.holds(when.as_ref())? {
            return Ok(Some(Part::Shape(shape)));
        }
    }
    match member.synthetic.is_empty() {
        true => scope.object(&member.value).map(Part::Object).map(Some),
        false => Ok(None),
    }
}

/// What a shape says of an object that is a part of itself by another name.
fn synthetic(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    inner: &PrinterShape,
) -> Value {
    let content = shape(evaluator, scope, inner).unwrap_or_else(|trouble| {
        scope.troubles.borrow_mut().push(trouble);
        None
    });
    let object = scope.object;
    Value {
        ty: object.ty.clone(),
        at: object.address(),
        bits: None,
        content: content.unwrap_or(Content::Elided),
    }
}

fn unreadable(why: &ObjectError) -> Trouble {
    (0, why.to_string())
}

/// What nodes hold, one after the other.
fn nodes(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    held: &HeldExpressions,
    total: Option<u64>,
    mut node: impl FnMut(&PrinterScope<'_>) -> Printed<Option<Object>>,
) -> Printed {
    let mut next = |scope: &PrinterScope<'_>| match node(scope)? {
        Some(node) => pair(&scope.over(&node), held).map(Some),
        None => Ok(None),
    };
    collected(evaluator, scope, held.key.is_some(), total, &mut next)
}

/// A key, if there are keys, and a value.
pub type Pair = (Option<Object>, Object);

pub fn pair(scope: &PrinterScope<'_>, held: &HeldExpressions) -> Printed<Pair> {
    let key = held.key.as_ref().map(|key| scope.object(key)).transpose()?;
    Ok((key, scope.object(&held.value)?))
}

/// The elements or entries that `next` gives, up to the first that cannot be found. How many there are is known where
/// the object says so, and where the end was reached.
pub fn collected(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    has_keys: bool,
    total: Option<u64>,
    next: &mut dyn FnMut(&PrinterScope<'_>) -> Printed<Option<Pair>>,
) -> Printed {
    let mut failed = None;
    let content = evaluator.nested(|evaluator| {
        let most = total.unwrap_or(u64::MAX).min(evaluator.max_elements());
        let (mut entries, mut values, mut count) = (Vec::new(), Vec::new(), 0_u64);
        let mut is_whole = false;
        while count < most {
            match next(scope) {
                Ok(Some((Some(key), value))) => {
                    let (key, value) = (evaluator.value(&key), evaluator.value(&value));
                    entries.push(Entry { key, value });
                }
                Ok(Some((None, value))) => values.push(evaluator.value(&value)),
                Ok(None) => is_whole = true,
                Err(why) => failed = Some(why),
            }
            if is_whole || failed.is_some() {
                break;
            }
            count = count.saturating_add(1);
        }
        if count > 0 {
            scope.troubles.borrow_mut().extend(failed.take());
        }
        // The end may lie just behind the last that is shown.
        let is_end = is_whole || count == most && matches!(next(scope), Ok(None));
        let total = total.or_else(|| is_end.then_some(count));
        Ok(match has_keys {
            true => Content::Entries { entries, total },
            false => Content::Elements(Elements { values, total }),
        })
    });
    match failed {
        Some(why) => Err(why),
        None => content.map_err(|why| unreadable(&why)),
    }
}
