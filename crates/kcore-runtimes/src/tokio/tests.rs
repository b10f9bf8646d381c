//! Futures of types that are made here, in memory of a few words.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_symbols::{
    BaseType, Composite, Encoding, Keyword, Member, MemberPlace, OpenType, PointerKind,
    PointerType, Type, TypeKind, TypeLink, TypeNode, Variant, VariantPart,
};

use super::{Await, AwaitEnd, Deadline, WaitKind, WaitedFor};
use crate::anchor::made_host::MadeHost;

const MEMORY: u64 = 0x7f10_0000;
const UNRESUMED: u8 = 0;
const SUSPENDED: u8 = 3;
/// Where functions have their state, and bytes of one.
const STATE: u64 = 24;
const SIZE: u64 = 32;

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

/// A function that waits for what these links lead to.
fn function(awaitee: TypeLink) -> TypeNode {
    let variant = |value: u8, name: &str, members| Variant {
        values: vec![(value.into(), value.into())],
        members: vec![member(&value.to_string(), 0, structure(name, SIZE, members).link())],
    };
    let suspended = vec![member("__awaitee", 0, awaitee)];
    let part = VariantPart {
        discriminant: Some(member("__state", STATE, number(1).link())),
        variants: vec![
            variant(UNRESUMED, "Unresumed", Vec::new()),
            variant(SUSPENDED, "Suspend0", suspended),
        ],
    };
    node("{async_fn_env#0}", SIZE, composite(Vec::new(), Some(part)))
}

/// A function that waits for a box with another call of itself, and that which keeps it alive.
fn recursive() -> (Type, Type) {
    let open = OpenType::default();
    let pointer = PointerType { kind: PointerKind::Pointer, to: TypeLink::Open(open.clone()) };
    let boxed = Type::made(node("alloc::boxed::Box<made>", 8, TypeKind::Pointer(pointer)));
    (Type::made_open(function(boxed.link()), &open), boxed)
}

fn call(host: &mut MadeHost, at: u64, awaitee: u64, state: u8) {
    host.words(at, &[awaitee]);
    host.put(at + STATE, &[state]);
}

fn sleep() -> Type {
    let time = vec![member("tv_sec", 0, number(8).link()), member("tv_nsec", 8, number(4).link())];
    let time = structure("std::time::Instant", 16, time);
    structure("tokio::time::sleep::Sleep", 24, vec![member("deadline", 0, time.link())])
}

#[test]
fn a_chain_ends_where_a_function_did_not_begin() {
    let mut host = MadeHost::new(&[MEMORY]);
    call(&mut host, MEMORY, MEMORY + 0x100, SUSPENDED);
    call(&mut host, MEMORY + 0x100, MEMORY + 0x200, SUSPENDED);
    call(&mut host, MEMORY + 0x200, 0, UNRESUMED);
    let (ty, _kept) = recursive();
    let chain = Await::of(&host, Addr::new(MEMORY), &ty).expect("a chain");
    assert_eq!(chain.frames.len(), 3, "{chain:?}");
    assert!(matches!(chain.end, AwaitEnd::Unresumed), "{chain:?}");
}

#[test]
fn a_timer_has_its_deadline() {
    let mut host = MadeHost::new(&[MEMORY]);
    call(&mut host, MEMORY, 77, SUSPENDED);
    host.words(MEMORY + 8, &[5_000_000]);
    let ty = Type::made(function(sleep().link()));
    let chain = Await::of(&host, Addr::new(MEMORY), &ty).expect("a chain");
    let AwaitEnd::Leaf(wait) = &chain.end else { panic!("{chain:?}") };
    assert_eq!(wait.kind, WaitKind::Timer);
    assert_eq!(wait.which, Some(WaitedFor::Deadline(Deadline { seconds: 77, nanos: 5_000_000 })));
    assert_eq!(wait.to_string(), "timer 77.005");
}

#[test]
fn futures_that_go_round_in_a_circle_end() {
    let mut host = MadeHost::new(&[MEMORY]);
    call(&mut host, MEMORY, MEMORY, SUSPENDED);
    let (ty, _kept) = recursive();
    let chain = Await::of(&host, Addr::new(MEMORY), &ty).expect("a chain");
    assert!((2..=256).contains(&chain.frames.len()), "{}", chain.frames.len());
    assert!(matches!(chain.end, AwaitEnd::Unknown), "{:?}", chain.end);
}

#[test]
fn a_state_that_is_none_is_said_to_be_unknown() {
    let mut host = MadeHost::new(&[MEMORY]);
    call(&mut host, MEMORY, 0, 99);
    let (ty, _kept) = recursive();
    let chain = Await::of(&host, Addr::new(MEMORY), &ty).expect("a chain");
    assert!(chain.frames.first().is_some_and(|frame| frame.doubt.is_some()), "{chain:?}");
}

#[test]
fn memory_that_lies_is_no_harm() {
    let (ty, _kept) = recursive();
    for seed in 0..64_u8 {
        let mut host = MadeHost::new(&[MEMORY]);
        for slot in 0..16_u64 {
            let turn = u64::from(seed).wrapping_mul(slot + 1);
            call(&mut host, MEMORY + slot * SIZE, MEMORY + turn % 600, seed ^ (slot as u8));
        }
        let _ = Await::of(&host, Addr::new(MEMORY + u64::from(seed)), &ty);
    }
}
