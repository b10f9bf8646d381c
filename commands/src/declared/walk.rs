//! Walkers that files declare.

use kcore::{
    DeclaredWalker, Object, PrinterExpression, PrinterFile, Type, TypeKind, WalkElement,
    WalkTrouble,
};
use kcore_dcmd::{Cx, DcmdError, Dot, Result};

use crate::expression;
use crate::session_process::SessionProcess;

/// What is done with each element.
pub type VisitElement<'v> = dyn FnMut(&mut Cx<'_>, &WalkElement) -> Result<()> + 'v;

/// Calls `visit` with each element of a walk from an address, or from where the walker starts by itself.
///
/// # Errors
/// What `visit` answers; that the walk cannot start; why it ended early, behind the elements before.
pub fn each(
    cx: &mut Cx<'_>,
    (file, walker): (&PrinterFile, &DeclaredWalker),
    from: Option<Dot>,
    visit: &mut VisitElement<'_>,
) -> Result<()> {
    let start = start(cx, file, walker, from)?;
    let process = SessionProcess::new(cx);
    let failed = |trouble: WalkTrouble| DcmdError::failed(format!("{}:{trouble}", file.name));
    for element in walker.walk(&process, &start).map_err(failed)? {
        visit(cx, &element.map_err(failed)?)?;
    }
    cx.check_interrupt()
}

/// The value that an element of a walk passes on into a pipe.
pub fn dot_of(element: &WalkElement) -> Dot {
    match element {
        WalkElement::Number(number) => Dot::Number(*number),
        WalkElement::Object(object) => Dot::Addr(object.address().unwrap_or_default()),
        _ => Dot::default(),
    }
}

fn start(
    cx: &Cx<'_>,
    file: &PrinterFile,
    walker: &DeclaredWalker,
    from: Option<Dot>,
) -> Result<Object> {
    let ty = walker.ty.as_ref().map(|ty| type_of(cx, file, ty)).transpose()?;
    match (from, ty, &walker.start) {
        (Some(from), Some(ty), _) => Ok(Object::at(ty, from.addr())),
        (Some(from), None, Some(start)) => {
            Ok(Object::at(started(cx, file, start)?.ty, from.addr()))
        }
        (None, ty, Some(start)) => {
            let object = started(cx, file, start)?;
            let address = object.address().filter(|_| ty.is_some());
            let typed = ty.zip(address).map(|(ty, at)| Object::at(ty, at));
            Ok(typed.unwrap_or(object))
        }
        _ => Err(DcmdError::failed("failed to perform walk: walker requires starting address")),
    }
}

/// The object that the expression gives from which a walker starts, or to which it points.
fn started(cx: &Cx<'_>, file: &PrinterFile, start: &PrinterExpression) -> Result<Object> {
    let object =
        expression::object(cx.names(), &start.text).map_err(|why| at(file, start, &why))?;
    let process = SessionProcess::new(cx);
    let target = match object.complete_type(&process) {
        Ok(ty) if matches!(ty.kind(), TypeKind::Pointer(_)) => object.target(&process),
        _ => return Ok(object),
    };
    let target = target.map_err(|why| at(file, start, &DcmdError::failed(why.to_string())))?;
    match target.address().is_some_and(|at| at.get() != 0) {
        true => Ok(target),
        false => Err(at(file, start, &DcmdError::failed(format!("{} is null", start.text)))),
    }
}

/// The type that a file names.
///
/// # Errors
/// When there is none, with the line of the file.
pub fn type_of(cx: &Cx<'_>, file: &PrinterFile, ty: &PrinterExpression) -> Result<Type> {
    cx.type_named(&ty.text).map_err(|why| at(file, ty, &why))
}

/// An error with the line of the file that it is about.
fn at(file: &PrinterFile, expression: &PrinterExpression, why: &DcmdError) -> DcmdError {
    DcmdError::failed(format!("{}:{}: {why}", file.name, expression.line))
}
