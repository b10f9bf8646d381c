//! What lies where in the frame of a coroutine, as debug information tells.
//!
//! The part that goes on has a variable for its frame: gcc's is `frame_ptr`, a pointer to the type; clang's is
//! `__coro_frame` of type `__coro_frame_ty`. Members that the compilers make are `_Coro_promise`,
//! `_Coro_self_handle` and `_Coro_resume_index` with gcc 12 (`gcc/cp/coroutines.cc`), `__promise` and `__coro_index` with clang
//! 14 to 19 (`llvm/lib/Transforms/Coroutines/CoroFrame.cpp`).

use std::sync::Arc;

use kcore_mem::{Budget, Svma};
use kcore_symbols::{Composite, MemberPlace, Type, TypeKind};

use crate::HostModule;

/// Where a promise lies that is aligned to a word; one that is aligned to more lies further on.
pub const PROMISE: u64 = 16;
/// Members of a type that are looked at for pointers, and types within types.
const MAX_MEMBERS: usize = 512;
const MAX_DEPTH: usize = 8;
/// gcc's number of the point of the first `co_await`.
const FIRST_AWAIT: u64 = 4;
/// A frame is no bigger.
pub const MAX_FRAME: u64 = 1 << 24;

/// The layout of a coroutine's frame.
#[derive(Clone, Debug, Default)]
pub struct FrameLayout {
    /// The type of the frame.
    pub ty: Option<Type>,
    /// Its name with scopes. Names are read once for all frames of a function: there may be very many.
    pub name: Option<Arc<str>>,
    /// Its bytes.
    pub size: Option<u64>,
    /// The bytes from its beginning to its promise.
    pub promise: u64,
    /// The type of its promise.
    pub promise_type: Option<Type>,
    /// The name of that.
    pub promise_name: Option<Arc<str>>,
    /// The number of the point at which it is suspended.
    pub index: Option<IndexPlace>,
    /// Where it keeps the handle of itself.
    pub own_handle: Option<u64>,
    /// Whether it waits before its body, as what `initial_suspend` of its promise returns says.
    pub waits_first: Option<bool>,
    /// Words of the promise that may say who goes on when it is done.
    pub links: Vec<Link>,
    /// What is awaited at each point, in the order of the points, where debug information tells.
    pub awaiters: Vec<Awaiter>,
}

/// Where the number of the point of suspension lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexPlace {
    /// Bytes from the beginning of the frame.
    pub offset: u64,
    /// Bytes that hold it.
    pub size: usize,
    /// Bits of them that count, the least significant ones.
    pub bits: u32,
}

/// A word that refers to another frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Bytes from the beginning of the frame.
    pub offset: u64,
    /// Whether its type says that it refers to a coroutine.
    pub is_typed: bool,
}

/// What a coroutine awaits at one point.
#[derive(Clone, Debug)]
pub struct Awaiter {
    /// Its number among those of the function.
    pub number: u64,
    /// The type of the object, with scopes.
    pub name: Option<Arc<str>>,
    /// The handles in it.
    pub links: Vec<Link>,
}

impl FrameLayout {
    /// That of the coroutine whose part that goes on begins here.
    pub fn load(module: &dyn HostModule, resume: Svma, budget: &Budget) -> Self {
        let ty = frame_type(module, resume, budget);
        ty.and_then(Self::of_type).unwrap_or(Self { promise: PROMISE, ..Self::default() })
    }

    fn of_type(ty: Type) -> Option<Self> {
        let size = ty.size().filter(|size| *size <= MAX_FRAME)?;
        let mut layout = Self { size: Some(size), promise: PROMISE, ..Self::default() };
        for member in &ty.composite()?.members {
            let Some(name) = member.name.clone() else { continue };
            let Ok(of) = ty.follow(&member.ty) else { continue };
            let index = IndexPlace::of(&member.place, of.size());
            let MemberPlace::Offset(offset) = member.place else {
                if &*name == "__coro_index" {
                    layout.index = index;
                }
                continue;
            };
            layout.take(&name, offset, of, index);
        }
        layout.name = name_of(&ty);
        layout.ty = Some(ty);
        Some(layout)
    }

    /// What is awaited at a point of suspension. gcc numbers these by twos: 2 is that before the body, 4 that of the first
    /// `co_await`.
    pub fn awaiter(&self, index: Option<u64>) -> Option<&Awaiter> {
        let number = index?.checked_sub(FIRST_AWAIT)?.checked_div(2)?;
        self.awaiters.iter().find(|awaiter| awaiter.number == number)
    }

    fn take(&mut self, name: &str, offset: u64, ty: Type, index: Option<IndexPlace>) {
        match name {
            "_Coro_promise" | "__promise" => {
                self.promise = offset;
                self.links = links(&ty, offset);
                self.waits_first = waits_first(&ty, MAX_DEPTH);
                self.promise_name = name_of(&ty);
                self.promise_type = Some(ty);
            }
            "_Coro_self_handle" => self.own_handle = Some(offset),
            "_Coro_resume_index" | "__coro_index" => self.index = index,
            _ => {
                if let Some(number) = awaiter_number(name) {
                    let links = links(&ty, offset);
                    self.awaiters.push(Awaiter {
                        number,
                        name: ty.qualified_name().map(Into::into),
                        links,
                    });
                }
            }
        }
    }
}

fn name_of(ty: &Type) -> Option<Arc<str>> {
    Some(ty.stripped().ok()?.qualified_name()?.into())
}

impl IndexPlace {
    fn of(place: &MemberPlace, size: Option<u64>) -> Option<Self> {
        match place {
            MemberPlace::Offset(offset) => {
                let size = usize::try_from(size?).ok().filter(|size| (1..=8).contains(size))?;
                let bits = u32::try_from(size).ok()?.checked_mul(8)?;
                Some(Self { offset: *offset, size, bits })
            }
            MemberPlace::Bits(field) if field.offset.is_multiple_of(8) => {
                let bits = u32::try_from(field.size).ok().filter(|bits| (1..=64).contains(bits))?;
                let size = usize::try_from(bits.div_ceil(8)).ok()?.next_power_of_two();
                Some(Self { offset: field.offset.checked_div(8)?, size, bits })
            }
            MemberPlace::Bits(_) | MemberPlace::Expression(_) => None,
        }
    }
}

/// The type of the frame of the coroutine whose part that goes on begins here.
fn frame_type(module: &dyn HostModule, resume: Svma, budget: &Budget) -> Option<Type> {
    module.symbols().debug_info()?;
    let scopes = module.symbols().scopes_at(resume, budget).ok()??;
    let info = module.symbols().debug_info()?;
    let variables = scopes.functions.iter().flat_map(|function| &function.variables);
    let is_frame = |name: &str| matches!(name, "frame_ptr" | "__coro_frame");
    let mut frames = variables.filter(|variable| variable.name.as_deref().is_some_and(is_frame));
    frames.find_map(|variable| {
        let ty = info.type_of(variable).ok()?.stripped().ok()?;
        let ty = match ty.kind() {
            TypeKind::Pointer(pointer) => ty.follow(&pointer.to).ok()?.stripped().ok()?,
            _ => ty,
        };
        ty.composite().is_some().then_some(ty)
    })
}

/// The number in gcc's name of what is awaited: `Aw1_2_3` is the second.
fn awaiter_number(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("Aw")?;
    rest.split('_').next()?.parse().ok()
}

/// The words of a value that may refer to coroutines.
fn links(ty: &Type, offset: u64) -> Vec<Link> {
    let mut search = LinkSearch { left: MAX_MEMBERS, found: Vec::new() };
    search.collect(ty, "", offset, MAX_DEPTH);
    search.found.sort_by_key(|link| (!link.is_typed, link.offset));
    search.found
}

/// A search for words that refer to coroutines.
struct LinkSearch {
    /// Members that may still be looked at.
    left: usize,
    found: Vec<Link>,
}

impl LinkSearch {
    fn collect(&mut self, ty: &Type, name: &str, offset: u64, depth: usize) {
        let (Some(depth), Some(left)) = (depth.checked_sub(1), self.left.checked_sub(1)) else {
            return;
        };
        self.left = left;
        let Ok(ty) = ty.stripped() else { return };
        match ty.kind() {
            TypeKind::Pointer(pointer) => {
                let to = ty.follow(&pointer.to).ok().and_then(|to| to.stripped().ok());
                let is_of_asio = to.is_some_and(|to| is_of_asio(&to));
                // The others of Asio's lead to the innermost coroutine of a chain.
                if !is_of_asio || name == CALLER {
                    self.found.push(Link { offset, is_typed: is_of_asio });
                }
            }
            TypeKind::Composite(_) if is_handle(&ty) => {
                self.found.push(Link { offset, is_typed: true });
            }
            TypeKind::Composite(composite) => self.parts(&ty, composite, offset, depth),
            _ => {}
        }
    }

    fn parts(&mut self, ty: &Type, composite: &Composite, offset: u64, depth: usize) {
        let bases = composite.bases.iter().map(|base| (&base.ty, &base.place, ""));
        let members = composite.members.iter();
        let members = members
            .map(|member| (&member.ty, &member.place, member.name.as_deref().unwrap_or_default()));
        for (link, place, name) in bases.chain(members) {
            let MemberPlace::Offset(within) = place else { continue };
            if let (Ok(of), Some(offset)) = (ty.follow(link), offset.checked_add(*within)) {
                self.collect(&of, name, offset, depth);
            }
        }
    }
}

/// Whether a coroutine with such a promise waits before its body.
fn waits_first(promise: &Type, depth: usize) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let promise = promise.stripped().ok()?;
    if let Some(awaiter) = promise.method_result("initial_suspend") {
        return match awaiter.stripped().ok()?.name()? {
            "suspend_always" => Some(true),
            "suspend_never" => Some(false),
            _ => None,
        };
    }
    let bases = promise.composite()?.bases.iter();
    let mut bases = bases.filter_map(|base| promise.follow(&base.ty).ok());
    bases.find_map(|base| waits_first(&base, depth))
}

fn is_handle(ty: &Type) -> bool {
    ty.name().is_some_and(|name| name.starts_with("coroutine_handle<"))
}

/// Asio's pointer to the promise of who awaits (`asio/impl/awaitable.hpp` of 1.22, `awaitable_frame_base`).
const CALLER: &str = "caller_";

/// Whether it is the promise of a coroutine of Asio.
fn is_of_asio(ty: &Type) -> bool {
    ty.name().is_some_and(|name| name.starts_with("awaitable_frame"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_awaited_has_its_number() {
        assert_eq!(awaiter_number("Aw1_2_3"), Some(1));
        assert_eq!(awaiter_number("Aware_2_3"), None);
    }
}
