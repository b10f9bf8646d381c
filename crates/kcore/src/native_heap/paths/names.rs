//! What a program calls the pointers on a way.
//!
//! A root is a variable where debug information has one there. The type of a pointer says what lies where it points to, and
//! so which member the next pointer is. Where a type is not known, names end, unless a block begins with the address of a
//! table of virtual functions, which names its class.

use std::ops::ControlFlow;

use kcore_mem::Addr;
use kcore_symbols::{Type, TypeKind};
use kcore_values::{Object, ObjectPlace, Process};

use super::{super::Watch, BlockRoot};
use crate::{Core, what_type::inner_member};

/// Frames of a thread whose variables are looked at.
const MAX_FRAMES: usize = 64;
/// Bytes of a name. The next pointer on the way has a name that leaves out what is before.
const MAX_NAME: usize = 200;
/// Stands for what a name leaves out.
const LEFT_OUT: &str = "...";

/// An object by its name.
struct Named {
    name: String,
    /// Whether the name is of a pointer to the object.
    is_behind_pointer: bool,
    /// Where it begins.
    at: Addr,
    ty: Type,
}

/// The names along a way.
pub struct PointerNames<'c> {
    core: &'c Core,
    /// The object that the next pointer is in.
    object: Option<Named>,
    /// Whether each pointer lies in what the one before points to.
    is_way: bool,
}

impl<'c> PointerNames<'c> {
    /// Of a way that begins with a root.
    pub fn of_root(core: &'c Core, root: BlockRoot) -> Self {
        let variable = core.variable_of_thread(root).or_else(|| match root {
            BlockRoot::Data(at) => core.variable_of_data(at),
            BlockRoot::Stack(tid, at) => core.variable_of_stack(tid, at),
            BlockRoot::Register(..) | BlockRoot::Memory(_) => None,
        });
        let named = |(name, object): (String, Object)| {
            let at = object.address()?;
            Some(Named { name, is_behind_pointer: false, at, ty: object.ty })
        };
        Self { core, object: variable.and_then(named), is_way: true }
    }

    /// Of pointers in a block, whose own type is looked for. The block itself has no name.
    pub fn of_block(core: &'c Core, start: Addr, watch: Watch<'_>) -> Self {
        let mut go_on = |_| watch(0, 0) == ControlFlow::Continue(());
        let guess = core.memory().what_types(start, 1, &mut go_on).into_iter().next();
        let object = guess.filter(|guess| guess.base == start).map(|guess| Named {
            name: String::new(),
            is_behind_pointer: false,
            at: start,
            ty: guess.ty,
        });
        Self { core, object, is_way: false }
    }

    /// What the pointer at `at` is called, and the type of what it points to. On a way, the next pointer is in what it points
    /// to; the pointers of a block are all its own.
    pub fn follow(&mut self, at: Addr, to: Addr) -> (Option<String>, Option<String>) {
        let named = self.object.as_ref().and_then(|object| self.named(object, at, to));
        let (name, declared) = named.map_or((None, None), |(name, object)| (Some(name), object));
        let target = class_of_block(self.core, declared.as_ref(), to).or(declared);
        if self.is_way {
            self.object = target.as_ref().and_then(|object| {
                let known = name.as_ref().filter(|name| name.len() <= MAX_NAME);
                let name = known.map_or_else(|| LEFT_OUT.to_owned(), Clone::clone);
                let at = object.address()?;
                Some(Named { name, is_behind_pointer: true, at, ty: object.ty.clone() })
            });
        }
        (name, target.map(|object| object.ty.spelled()))
    }

    /// Goes on behind pointers that are left out: what they are called is not known.
    pub fn leave_out(&mut self) {
        self.object = None;
    }

    /// The name of a pointer in an object, and what it points to.
    fn named(&self, object: &Named, at: Addr, to: Addr) -> Option<(String, Option<Object>)> {
        let (path, pointer) = member(self.core, object, at)?;
        let name = join(&object.name, &path, object.is_behind_pointer);
        Some((name, target(self.core, &pointer, to)))
    }
}

/// The path and the type of the pointer that lies at an address of an object, or of a block that is an array of pointers.
fn member(core: &Core, object: &Named, at: Addr) -> Option<(String, Type)> {
    let offset = at.offset_from(object.at)?;
    let size = object.ty.size().filter(|size| *size > 0)?;
    let (index, within) = (offset.checked_div(size)?, offset.checked_rem(size)?);
    let element = match index {
        0 => String::new(),
        _ if !is_array_of_pointers(core, object, size) => return None,
        index => format!("[{index:#x}]"),
    };
    if is_pointer(&object.ty) {
        return (within == 0).then(|| (element, object.ty.clone()));
    }
    let member = inner_member(core, &object.ty, within, &|_| true)?;
    (member.rest == 0 && is_pointer(&member.ty)).then(|| (element + &member.path, member.ty))
}

/// Whether what a pointer leads to is a whole block of pointers. A structure may as well be the first member or the base class
/// of a larger one, so what lies behind it in a block is not taken for the next of an array.
fn is_array_of_pointers(core: &Core, object: &Named, size: u64) -> bool {
    let block = core.heaps().block_at(object.at).map(|owned| owned.block);
    object.is_behind_pointer
        && is_pointer(&object.ty)
        && block.is_some_and(|block| {
            let bytes = block.requested.unwrap_or(block.usable);
            block.at == object.at && bytes.is_multiple_of(size)
        })
}

/// The class that the table of virtual functions at the beginning of a block names, where pointers to it say nothing of
/// it, or less than all.
fn class_of_block(core: &Core, declared: Option<&Object>, to: Addr) -> Option<Object> {
    let block = core.heaps().block_at(to).filter(|owned| owned.block.at == to)?.block;
    let class = core.type_of_vtable(core.space().read_addr(to).ok()?)?;
    let size = class.size()?;
    let told = declared.and_then(|object| object.ty.size()).unwrap_or(0);
    (told < size && size <= block.usable).then(|| Object::at(class, to))
}

fn is_pointer(ty: &Type) -> bool {
    ty.stripped().is_ok_and(|ty| matches!(ty.kind(), TypeKind::Pointer(_)))
}

/// What a pointer points to, where it has a type that is known as a whole.
fn target(core: &Core, pointer: &Type, to: Addr) -> Option<Object> {
    let ty = pointer.stripped().ok()?.target().ok().flatten()?;
    let object = Object { ty, place: ObjectPlace::Memory(to) };
    let ty = object.complete_type(core).ok()?;
    ty.size().is_some_and(|size| size > 0).then(|| Object { ty, ..object }.whole(core))
}

/// A member of an object by its name, as C writes it.
pub fn join(name: &str, path: &str, is_behind_pointer: bool) -> String {
    match (path.strip_prefix('.'), name.is_empty()) {
        (Some(member), true) => member.to_owned(),
        (Some(member), false) if is_behind_pointer => format!("{name}->{member}"),
        (None, false) if is_behind_pointer && path.is_empty() => format!("*{name}"),
        _ => format!("{name}{path}"),
    }
}

impl Core {
    /// The thread-local variable that a root is.
    fn variable_of_thread(&self, root: BlockRoot) -> Option<(String, Object)> {
        let variable = self.variables().thread_local_of_root(root)?;
        Some((variable.name, variable.object?))
    }

    /// The variable of a module round an address, with its name.
    fn variable_of_data(&self, at: Addr) -> Option<(String, Object)> {
        let symbol = self.symbols().at(at).filter(|it| it.sized && it.offset < it.size)?;
        let (name, object) = self.named_variable_at(symbol.start)?;
        Some((name.to_string(), object))
    }

    /// The variable of a frame round an address of a stack.
    fn variable_of_stack(&self, tid: crate::Tid, at: Addr) -> Option<(String, Object)> {
        let stack = self.stacks().of_thread(tid, MAX_FRAMES);
        let known = self.stacks().known_frames(&stack, MAX_FRAMES);
        self.stacks().named_frames(&stack).find_map(|frame| {
            let variables = known.variables(&frame).unwrap_or_default().into_iter();
            let mut objects = variables.filter_map(|it| Some((it.name?, it.object.ok()?)));
            let holds = |object: &Object| {
                let within = object.address().and_then(|start| at.offset_from(start));
                within.is_some_and(|within| object.ty.size().is_some_and(|size| within < size))
            };
            objects
                .find(|(_, object)| holds(object))
                .map(|(name, object)| (name.to_string(), object))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn names_are_those_of_c() {
        assert_eq!(join("server", ".clients.head", false), "server.clients.head");
        assert_eq!(join("server.clients.head", ".next", true), "server.clients.head->next");
        assert_eq!(join("all", "[0x3].next", true), "all[0x3].next");
        assert_eq!(join("argv", "", true), "*argv");
        assert_eq!(join("", ".next", false), "next");
    }
}
