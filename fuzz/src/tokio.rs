//! Futures of tokio, of types that are made here, in memory that may hold anything.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_runtimes::tokio::Await;
use kcore_symbols::{
    BaseType, Composite, Encoding, Keyword, Member, MemberPlace, OpenType, PointerKind,
    PointerType, Type, TypeKind, TypeLink, TypeNode, Variant, VariantPart,
};

use crate::{
    input::Input,
    memory::Memory,
    python_host::{Head, PythonHost},
};

/// Where functions have their state, and their bytes.
const STATE: u64 = 40;
const SIZE: u64 = 48;

/// The address of a future, and memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let at = Addr::new(input.word());
    let head = Head { minor: 8, runtime: 0, interpreter: 0, thread: 0, ident: 0 };
    let host = PythonHost::new(head, Memory::read(&mut input));
    let (future, _kept) = future();
    let _ = Await::of(&host, at, &future);
}

fn node(name: &str, size: u64, kind: TypeKind) -> TypeNode {
    let (name, size) = (Some(Arc::from(name)), Some(size));
    TypeNode { id: None, name, size, is_declaration: false, kind }
}

fn number(size: u64) -> Type {
    let base = BaseType { encoding: Encoding::Unsigned, bits: None, swapped: false };
    Type::made(node("number", size, TypeKind::Base(base)))
}

fn member(name: &str, offset: u64, ty: TypeLink) -> Member {
    let place = MemberPlace::Offset(offset);
    Member { name: Some(name.into()), ty, place, is_artificial: false }
}

fn composite(members: Vec<Member>, variants: Option<VariantPart>) -> TypeKind {
    TypeKind::Composite(Box::new(Composite {
        keyword: Keyword::Struct,
        bases: Vec::new(),
        members,
        statics: Vec::new(),
        variants,
        arguments: Vec::new(),
        is_dynamic: false,
    }))
}

fn structure(name: &str, size: u64, members: Vec<Member>) -> Type {
    Type::made(node(name, size, composite(members, None)))
}

/// A function that waits for another call of itself, for two of them, for a timer, or for a future behind a table.
fn future() -> (Type, Type) {
    let open = OpenType::default();
    let pointer = PointerType { kind: PointerKind::Pointer, to: TypeLink::Open(open.clone()) };
    let boxed = Type::made(node("alloc::boxed::Box<made>", 8, TypeKind::Pointer(pointer)));
    let second = |name: &str| member(name, 8, boxed.link());
    let two = structure("made::Two", 16, vec![member("one", 0, boxed.link()), second("two")]);
    let time = vec![member("tv_sec", 0, number(8).link()), member("tv_nsec", 8, number(4).link())];
    let time = structure("std::time::Instant", 16, time);
    let sleep =
        structure("tokio::time::sleep::Sleep", 16, vec![member("deadline", 0, time.link())]);
    let words = vec![member("pointer", 0, number(8).link()), member("vtable", 8, number(8).link())];
    let object = structure("alloc::boxed::Box<dyn Future<Output=()>>", 16, words);
    let variant = |value: u8, name: &str, awaitee: Option<&Type>| {
        let awaitee = awaitee.map(|ty| member("__awaitee", 0, ty.link()));
        let members = awaitee.into_iter().collect();
        let of = structure(name, SIZE, members).link();
        Variant {
            values: vec![(value.into(), value.into())],
            members: vec![member("state", 0, of)],
        }
    };
    let part = VariantPart {
        discriminant: Some(member("__state", STATE, number(1).link())),
        variants: vec![
            variant(0, "Unresumed", None),
            variant(1, "Returned", None),
            variant(3, "Suspend0", Some(&boxed)),
            variant(4, "Suspend1", Some(&two)),
            variant(5, "Suspend2", Some(&sleep)),
            variant(6, "Suspend3", Some(&object)),
        ],
    };
    let node = node("{async_fn_env#0}", SIZE, composite(Vec::new(), Some(part)));
    (Type::made_open(node, &open), boxed)
}
