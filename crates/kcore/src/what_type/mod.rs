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

use kcore_mem::Addr;
use kcore_symbols::Type;
use kcore_values::Process;

use crate::Core;
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

impl Core {
    /// What `at` may be a part of, the surest and nearest first, at most `most`. `go_on` is told how many
    /// objects were looked at, and says whether to look further.
    pub fn what_types(
        &self,
        at: Addr,
        most: usize,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Vec<TypeGuess> {
        let mut guesses: Vec<TypeGuess> = Vec::new();
        let mut reach = Reach::from(self.type_roots());
        reach.find(
            self,
            at,
            &mut |guess| {
                if !guesses.iter().any(|known| known.ty == guess.ty && known.base == guess.base) {
                    guesses.push(guess);
                }
                guesses.len() < most.min(MAX_GUESSES)
            },
            go_on,
        );
        if guesses.is_empty() {
            guesses.extend(self.by_virtual_table(at));
        }
        guesses
    }

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
