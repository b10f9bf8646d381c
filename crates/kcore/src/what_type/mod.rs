//! Which type an address could be of: by the variable that holds it, by the table of virtual functions
//! that an object begins with, and by what points to it.
//!
//! Memory that a program allocated says nothing of its type, but the pointers to it do. So all that
//! variables lead to is visited ([`reach`]), beginning with those of modules and of all frames
//! ([`roots`]), over the pointers that each type has ([`pointers`]) and what its containers hold.

mod pointers;
mod reach;
mod roots;

pub(crate) use pointers::{TypeLayout, inner_member, layout_of};
pub(crate) use roots::Root;

use kcore_heap::Block;
use kcore_mem::{Addr, AddrRange};
use kcore_symbols::Type;
use kcore_values::Process;

use crate::{Core, MemoryView, native_heap::OwnedBlock};
use reach::Reach;

/// Bytes before an address in which an object may begin that has a table of virtual functions.
const MAX_OBJECT: u64 = 4096;
/// Different answers, at most.
const MAX_GUESSES: usize = 64;

/// What an address may be a part of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TypeGuess {
    /// Where the object begins.
    pub base: Addr,
    /// Its type.
    pub ty: Type,
    /// The path of the member that the address lies in: `.n_sub.s_count`, `[3].x`; `None` of what has no
    /// members.
    pub member: Option<String>,
    /// How it is known.
    pub evidence: Evidence,
}

/// How the type of an object is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It is this variable.
    Variable(String),
    /// This expression points to it.
    Pointer(String),
    /// It is an element, a key or a value of this container, or what this enumeration holds.
    Element(String),
    /// It begins with a pointer to this class's table of virtual functions.
    VirtualTable,
}

/// A heap block that is in use, and what its first word tells of its type.
struct HeldBlock {
    range: AddrRange,
    /// The class whose table of virtual functions it begins with a pointer to.
    class: Option<Type>,
}

impl HeldBlock {
    fn of(core: &Core, block: &Block) -> Self {
        let table = core.space().read_addr(block.at).ok();
        Self { range: block.range(), class: table.and_then(|table| core.type_of_vtable(table)) }
    }

    /// Whether a pointer to an object may be right: pointers behind an end, and ones that are left from a block before,
    /// lead to what does not fit.
    fn may_hold(&self, guess: &TypeGuess) -> bool {
        let end = guess.base.saturating_add(guess.ty.size().unwrap_or(0));
        let fits = self.range.contains(guess.base) && end <= self.range.end;
        let is_other = self.class.as_ref().is_some_and(|class| {
            guess.base == self.range.start && class.spelled() != guess.ty.spelled()
        });
        fits && !is_other
    }
}

impl MemoryView<'_> {
    /// What `at` may be a part of, the surest and nearest first, at most `most`. `go_on` is told how many
    /// objects were looked at, and says whether to look further. Nothing is a part of a block that the program gave back.
    pub fn what_types(
        self,
        at: Addr,
        most: usize,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Vec<TypeGuess> {
        let mut guesses: Vec<TypeGuess> = Vec::new();
        let block = self.core.heap_block_at(at, self.core.stacks().thread_at(at));
        if block.as_ref().is_some_and(OwnedBlock::is_given_back) {
            return guesses;
        }
        let block = block.map(|owned| HeldBlock::of(self.core, &owned.block));
        let mut reach = Reach::from(self.core.type_roots());
        reach.find(
            self.core,
            at,
            &mut |guess| {
                let fits = block.as_ref().is_none_or(|block| block.may_hold(&guess));
                let is_known = |known: &TypeGuess| known.ty == guess.ty && known.base == guess.base;
                if fits && !guesses.iter().any(is_known) {
                    guesses.push(guess);
                }
                guesses.len() < most.min(MAX_GUESSES)
            },
            go_on,
        );
        if guesses.is_empty() {
            guesses.extend(self.core.by_virtual_table(at));
        }
        guesses
    }
}

impl Core {
    /// The object round `at` that begins with a pointer to a table of virtual functions.
    fn by_virtual_table(&self, at: Addr) -> Option<TypeGuess> {
        let word = self.target().word_size() as u64;
        let last = at.get().checked_sub(at.get().checked_rem(word)?)?;
        let bases = (0..MAX_OBJECT.checked_div(word)?)
            .map_while(|words| Some(Addr::new(last.checked_sub(words.checked_mul(word)?)?)));
        bases.map_while(|base| Some((base, self.space().read_addr(base).ok()?))).find_map(
            |(base, table)| {
                let ty = self.type_of_vtable(table)?;
                let offset =
                    at.offset_from(base).filter(|at| ty.size().is_some_and(|size| *at < size))?;
                let member = pointers::member_at(self, &ty, offset);
                Some(TypeGuess { base, ty, member, evidence: Evidence::VirtualTable })
            },
        )
    }
}
