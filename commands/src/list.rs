//! `::list` — the elements of a list whose members point from one to the next.

use std::collections::HashSet;

use kcore::{Addr, Object, ObjectPlace};
use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Result, Spec};

use crate::bound_element::Binder;
use crate::offsetof;
use crate::sizeof::size_of;
use crate::type_words::{abort, required};

/// Elements of one list, at most.
const MAX_ELEMENTS: usize = 1 << 22;

const EXAMPLES: &[Example] = &[
    Example { line: "first::list struct node n_next", shows: "the address of each element" },
    Example {
        line: "first::list struct node n_next n | ::eval '<n=K'",
        shows: "the same, with a variable",
    },
];

/// Follows a list.
pub struct List;

impl Dcmd for List {
    fn spec(&self) -> Spec {
        Spec::new("list", Group::Types, "walk a list by the member that points to the next element")
            .addr(AddrUse::Required)
            .operands("type member [variable] | $[offset] [variable]", 1, usize::MAX)
            .help(
                "The address is the first element. The list ends at NULL or when it comes back \
                 to the first element. Instead of a type and a member, you may give the offset \
                 of the pointer. The variable holds the address of the element while the later \
                 stages of the pipe handle that element.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let word = cx.core().target().word_size() as u64;
        let (offset, rest) = match args.operands() {
            [Arg::Number(offset), rest @ ..] => (given(cx, *offset, word)?, rest),
            words => of_member(cx, words, word)?,
        };
        let variable = match rest {
            [] => None,
            [Arg::Text(name)] => Some(name.clone()),
            _ => return Err(DcmdError::usage("too many arguments")),
        };
        let binder = Binder::new(cx, variable).map_err(|error| abort(cx, &error))?;
        walk(cx, offset, &binder)
    }
}

fn given(cx: &mut Cx<'_>, offset: u64, word: u64) -> Result<u64> {
    match offset.checked_rem(word) {
        Some(0) => Ok(offset),
        _ => Err(abort(cx, &DcmdError::failed("offset must fall on a word boundary"))),
    }
}

/// Where the pointer lies, and the words behind the member.
fn of_member<'a>(cx: &mut Cx<'_>, words: &'a [Arg], word: u64) -> Result<(u64, &'a [Arg])> {
    let (name, ty, rest) = required(cx, words)?;
    let [Arg::Text(member), rest @ ..] = rest else {
        return Err(DcmdError::usage("expected a type and a member"));
    };
    let object = Object::at(ty, Addr::new(0));
    let part = offsetof::place(cx, &object, &name, member).map_err(|error| abort(cx, &error))?;
    match part.place {
        ObjectPlace::Memory(at) if at.get().checked_rem(word) == Some(0) => {
            match size_of(cx, &part.ty).is_some_and(|size| size < word) {
                true => {
                    let ty = part.ty.spelled();
                    let message = format!("{member} is too small for a pointer: {ty}");
                    Err(abort(cx, &DcmdError::failed(message)))
                }
                false => Ok((at.get(), rest)),
            }
        }
        _ => {
            let message = format!("{member} is not a word-aligned member");
            Err(abort(cx, &DcmdError::failed(message)))
        }
    }
}

fn walk(cx: &mut Cx<'_>, offset: u64, binder: &Binder) -> Result<()> {
    let first = cx.dot().addr();
    let mut seen = HashSet::new();
    let mut at = first;
    loop {
        cx.emit(&binder.element(Dot::Addr(at)))?;
        seen.insert(at.get());
        let next = cx.core().space().read_addr(Addr::new(at.get().wrapping_add(offset)));
        let failed = |fault: kcore::Fault| {
            let message = format!(
                "failed to read next pointer from object {:x}: {}",
                at.get(),
                fault.reason()
            );
            DcmdError::at(at, message)
        };
        at = next.map_err(failed)?;
        if at.get() == 0 || at == first {
            return Ok(());
        }
        if seen.contains(&at.get()) {
            return cx.note(&format!("the list loops at {:x}", at.get()));
        }
        if seen.len() >= MAX_ELEMENTS {
            return cx.note(&format!("the list has more than {MAX_ELEMENTS} elements"));
        }
    }
}
