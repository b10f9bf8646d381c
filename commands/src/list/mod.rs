//! `::list` — the elements of a list whose members point from one to the next.

mod links;

use std::collections::HashSet;

use kcore::{Addr, Object, ObjectPlace, Type};
use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Opt, Result, Spec};

use self::links::Links;
use crate::bound_element::Binder;
use crate::offsetof;
use crate::session_process::SessionProcess;
use crate::type_words::{abort, required};

/// Elements of one list, at most.
const MAX_ELEMENTS: usize = 1 << 22;

/// A ring of embedded links usually has a head.
const MAY_BE_HEAD: &str =
    "one of the addresses may be that of the list's head, not that of an element";

const OPTIONS: &[Opt] = &[Opt {
    flag: 'h',
    value: None,
    help: "the address is that of the head of the list, which is no element",
}];

const EXAMPLES: &[Example] = &[
    Example { line: "first::list struct node n_next", shows: "the address of each element" },
    Example {
        line: "first::list struct node n_next n | ::eval '<n=K'",
        shows: "the same, with a variable",
    },
];

const HELP: &str = "\
The address is the first element. The list ends at NULL or when it comes back to the first \
element. Instead of a type and a member, you may give the offset of the pointer. The variable \
holds the address of the element while the later stages of the pipe handle that element.

The member points to the next element, or to a part of it, such as a struct list_head. It may \
also be such a part as a whole, or an entry of a BSD queue. In each case ::list passes the \
addresses of the elements.

The address may also be that of the head of the list, which is not passed on. ::list knows a \
variable that is a head by its type. For any other head, use -h.";

/// Follows a list.
pub struct List;

impl Dcmd for List {
    fn spec(&self) -> Spec {
        Spec::new("list", Group::Types, "walk a list by the member that points to the next element")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .operands("type member [variable] | $[offset] [variable]", 1, usize::MAX)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let (chain, rest) = match args.operands() {
            [Arg::Number(offset), rest @ ..] => (Chain::given(cx, *offset)?, rest),
            words => Chain::of_member(cx, words, args.has('h'))?,
        };
        let variable = match rest {
            [] => None,
            [Arg::Text(name)] => Some(name.clone()),
            _ => return Err(DcmdError::usage("too many arguments")),
        };
        let binder = Binder::new(cx, variable).map_err(|error| abort(cx, &error))?;
        chain.walk(cx, &binder)
    }
}

/// A list, and where it begins.
struct Chain {
    links: Links,
    /// The type of the elements; `None` where only an offset was given.
    element: Option<Type>,
    /// What the first pointer points to.
    first: Addr,
    /// The head, if the list was given by it.
    head: Option<Addr>,
}

impl Chain {
    /// Of elements that have a pointer at this offset.
    fn given(cx: &mut Cx<'_>, offset: u64) -> Result<Self> {
        let word = cx.core().target().word_size() as u64;
        if offset.checked_rem(word) != Some(0) {
            return Err(abort(cx, &DcmdError::failed("offset must fall on a word boundary")));
        }
        let links = Links::plain(offset);
        Ok(Self { links, element: None, first: cx.dot().addr(), head: None })
    }

    /// By a member of the elements, and the words behind it.
    fn of_member<'a>(
        cx: &mut Cx<'_>,
        words: &'a [Arg],
        by_head: bool,
    ) -> Result<(Self, &'a [Arg])> {
        let (name, ty, rest) = required(cx, words)?;
        let [Arg::Text(member), rest @ ..] = rest else {
            return Err(DcmdError::usage("expected a type and a member"));
        };
        let object = Object::at(ty.clone(), Addr::new(0));
        let part =
            offsetof::place(cx, &object, &name, member).map_err(|error| abort(cx, &error))?;
        let word = cx.core().target().word_size() as u64;
        let is_aligned = |at: Addr| at.get().checked_rem(word) == Some(0);
        if !matches!(part.place, ObjectPlace::Memory(at) if is_aligned(at)) {
            let message = format!("{member} is not a word-aligned member");
            return Err(abort(cx, &DcmdError::failed(message)));
        }
        let process = SessionProcess::new(cx);
        let links = Links::of(&process, &ty, member, &part)
            .map_err(|why| abort(cx, &DcmdError::failed(why)))?;
        let at = cx.dot().addr();
        let first_pointer = match by_head {
            true => Some(head_pointer(cx, &links, &ty)),
            false => cx
                .core()
                .variables()
                .at(at)
                .and_then(|head| links.first_of_head(&process, &ty, &head)),
        };
        let (first, head) = match first_pointer {
            Some(offset) => (read(cx, at, at.get().wrapping_add(offset))?, Some(at)),
            None => (links.node(at), None),
        };
        Ok((Self { links, element: Some(ty), first, head }, rest))
    }

    fn walk(&self, cx: &mut Cx<'_>, binder: &Binder) -> Result<()> {
        let mut seen = HashSet::new();
        let mut has_head = self.head.is_some();
        let mut node = self.first;
        while node.get() != 0 && Some(node) != self.head {
            let element = self.links.element(node);
            match self.is_head(cx, node) {
                true => has_head = true,
                false => cx.emit(&binder.element(Dot::Addr(element)))?,
            }
            seen.insert(node.get());
            node = read(cx, element, self.links.pointer(node).get())?;
            if node == self.first {
                let is_doubtful = self.links.is_embedded && !has_head && seen.len() > 1;
                return if is_doubtful { cx.note(MAY_BE_HEAD) } else { Ok(()) };
            }
            if seen.contains(&node.get()) {
                return cx.note(&format!("the list loops at {:x}", node.get()));
            }
            if seen.len() >= MAX_ELEMENTS {
                return cx.note(&format!("the list has more than {MAX_ELEMENTS} elements"));
            }
        }
        Ok(())
    }

    /// Whether a node of the list is a variable that has the type of a head.
    fn is_head(&self, cx: &Cx<'_>, node: Addr) -> bool {
        let Some(element) = self.element.as_ref().filter(|_| self.links.is_embedded) else {
            return false;
        };
        let Some(variable) = cx.core().variables().at(node) else { return false };
        let process = SessionProcess::new(cx);
        self.links.first_of_head(&process, element, &variable).is_some()
    }
}

/// Where the head at dot points to the first element, by what the elements are.
fn head_pointer(cx: &Cx<'_>, links: &Links, element: &Type) -> u64 {
    let variable = cx.core().variables().at(cx.dot().addr());
    let process = SessionProcess::new(cx);
    let known = variable.and_then(|head| links.first_of_head(&process, element, &head));
    let of_link = if links.is_embedded { u64::try_from(links.next).unwrap_or(0) } else { 0 };
    known.unwrap_or(of_link)
}

/// Reads the pointer to the next element, which lies at `at`. `object` is the element that an error names.
fn read(cx: &Cx<'_>, object: Addr, at: u64) -> Result<Addr> {
    cx.core().space().read_addr(Addr::new(at)).map_err(|fault| {
        let at = object.get();
        let message = format!("failed to read next pointer from object {at:x}: {}", fault.reason());
        DcmdError::at(object, message)
    })
}
