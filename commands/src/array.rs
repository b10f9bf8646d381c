//! `::array` — the addresses of the elements of an array.

use kcore::{Object, TypeKind};
use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Result, Spec};

use crate::bound_element::Binder;
use crate::names::Names;
use crate::sizeof::size_of;
use crate::type_words::{abort, required, split};
use crate::{operand, symbol_type};

const EXAMPLES: &[Example] = &[
    Example { line: "hashtab::array | ::count", shows: "the number of elements of a variable" },
    Example {
        line: "hashtab::array struct bucket 0t128 | ::grep '*. != 0' | ::print struct bucket b_head",
        shows: "a member of the elements that are not empty",
    },
];

/// Steps over an array.
pub struct Array;

impl Dcmd for Array {
    fn spec(&self) -> Spec {
        Spec::new("array", Group::Types, "walk the elements of an array")
            .addr(AddrUse::Required)
            .operands("[type count] [variable]", 0, usize::MAX)
            .help(
                "Without a type and a count, walks the elements of the array whose symbol is at \
                 the address. The count is decimal, or $[expression]. The variable holds the \
                 address of the element while the later stages of the pipe handle that element.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let words = args.operands();
        let (size, count, rest) = match words.len() {
            0 | 1 => of_symbol(cx, words)?,
            _ => given(cx, words)?,
        };
        let variable = match rest {
            [] => None,
            [Arg::Text(name)] => Some(name.clone()),
            _ => return Err(DcmdError::usage("too many arguments")),
        };
        let binder = Binder::new(cx, variable).map_err(|error| abort(cx, &error))?;
        let mut at = cx.dot().addr();
        for _ in 0..count {
            cx.emit(&binder.element(Dot::Addr(at)))?;
            at = kcore::Addr::new(at.get().wrapping_add(size));
        }
        Ok(())
    }
}

/// Size and count of elements, and the words behind them.
type Elements<'a> = (u64, u64, &'a [Arg]);

fn given<'a>(cx: &mut Cx<'_>, words: &'a [Arg]) -> Result<Elements<'a>> {
    let is_without_count = split(words).is_some_and(|(_, rest)| rest.is_empty());
    if is_without_count {
        return Err(DcmdError::usage("expected a count after the type"));
    }
    let (name, ty, rest) = required(cx, words)?;
    let Some((count, rest)) = rest.split_first() else {
        return Err(DcmdError::usage("expected a count after the type"));
    };
    let count = operand::count(cx, count)?;
    let size = size_of(cx, &ty).filter(|size| *size > 0);
    let size = size.ok_or_else(|| DcmdError::failed(format!("{name} has no size")))?;
    Ok((size, count, rest))
}

/// Those of the array whose symbol is at the address.
fn of_symbol<'a>(cx: &Cx<'_>, words: &'a [Arg]) -> Result<Elements<'a>> {
    let at = cx.dot().addr();
    let object = symbol_type::at(cx, at)?;
    let (size, count) = elements(cx, &object).ok_or_else(|| {
        let (name, ty) = (Names::new(cx).spelled_or_address(at), object.ty.spelled());
        DcmdError::at(
            at,
            format!("no symbol information for {name}: {ty} is not an array of known length"),
        )
    })?;
    Ok((size, count, words))
}

fn elements(cx: &Cx<'_>, object: &Object) -> Option<(u64, u64)> {
    let ty = object.complete_type(&**cx.core()).ok()?;
    let TypeKind::Array(_) = ty.kind() else { return None };
    let element = object.index(&**cx.core(), 0).ok()?;
    let size = size_of(cx, &element.ty).filter(|size| *size > 0)?;
    Some((size, ty.size()?.checked_div(size)?))
}
