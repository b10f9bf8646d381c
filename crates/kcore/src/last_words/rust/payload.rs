//! What a panic carries: a `&dyn Any` or a `Box<dyn Any>`, whose value is the message where it is a text.

use kcore_mem::Addr;

use crate::{Core, Panic};

/// Offsets in a table of functions (`rustc_middle::ty::vtable`): the destructor, or zero; size and
/// alignment of the value; the first method.
const SIZE: u64 = 8;
const ALIGN: u64 = 16;
const FIRST_METHOD: u64 = 24;
/// Size of a `&'static str`, the payload of `panic!("text")`.
const STR_SIZE: u64 = 16;
/// Size of a `String`, the payload of `panic!("text {}", argument)`.
const STRING_SIZE: u64 = 24;
/// The text that the standard library prints for a payload that is not a string.
const NO_TEXT: &str = "Box<dyn Any>";
const MAX_TEXT: u64 = 16 << 10;
/// No payload that a program panics with is larger.
const MAX_SIZE: u64 = 1 << 20;
const MAX_ALIGN: u64 = 4096;

/// A reference to a trait object: its value, and the table of its type.
#[derive(Clone, Copy, Debug)]
pub struct TraitObject {
    /// Where the value lies; a dangling address if it has no bytes.
    pub value: Addr,
    /// Where the table lies.
    pub table: Addr,
}

impl TraitObject {
    /// The reference that two words are, if the second is the address of a table.
    pub fn new(core: &Core, value: u64, table: u64) -> Option<Self> {
        let object = Self { value: Addr::new(value), table: Addr::new(table) };
        object.has_table(core).then_some(object)
    }

    fn has_table(&self, core: &Core) -> bool {
        let field = |offset| word_at(core, self.table, offset);
        let in_code = |at: u64| core.modules().at(Addr::new(at)).is_some();
        self.table.get().is_multiple_of(8)
            && in_code(self.table.get())
            && field(0).is_some_and(|drop| drop == 0 || in_code(drop))
            && field(SIZE).is_some_and(|size| size <= MAX_SIZE)
            && field(ALIGN).is_some_and(|align| align.is_power_of_two() && align <= MAX_ALIGN)
            && field(FIRST_METHOD).is_some_and(in_code)
    }

    /// The name of the first method of its trait.
    pub fn method(&self, core: &Core) -> Option<String> {
        let method = Addr::new(word_at(core, self.table, FIRST_METHOD)?);
        core.symbols().at(method).map(|symbol| symbol.name.to_string())
    }

    /// The words of the value, at most `most`.
    pub fn words(&self, core: &Core, most: u64) -> Vec<u64> {
        let size = word_at(core, self.table, SIZE).unwrap_or(0);
        let offsets = (0..size / 8).take_while(|index| *index < most);
        offsets.map_while(|index| word_at(core, self.value, index.checked_mul(8)?)).collect()
    }

    /// The text that a `dyn Any` is: any type may be one; only those of a text's size that hold a text count.
    pub fn text(&self, core: &Core) -> Option<String> {
        let size = word_at(core, self.table, SIZE)?;
        match (size, self.words(core, 3).as_slice()) {
            (STR_SIZE, [start, len]) => text(core, *start, *len),
            // The compiler orders the fields: the length is always behind, capacity and start not.
            (STRING_SIZE, [a, b, len]) => text(core, *b, *len).or_else(|| text(core, *a, *len)),
            _ => None,
        }
    }

    /// The panic that carries it, as a `dyn Any`: its text, or the type of what is none.
    pub fn panic(&self, core: &Core) -> Panic {
        let size = word_at(core, self.table, SIZE).unwrap_or(0);
        if matches!(size, STR_SIZE | STRING_SIZE)
            && let message @ Some(_) = self.text(core)
        {
            return Panic { message, ..Panic::default() };
        }
        let ty = core.type_of_rust_vtable(self.table).map(|ty| ty.spelled());
        let ty = ty.filter(|ty| ty != "&str" && !ty.ends_with("::String"));
        let is_text = ty.is_none() && matches!(size, STR_SIZE | STRING_SIZE);
        let message = (!is_text).then(|| NO_TEXT.to_owned());
        Panic { message, payload_type: ty, ..Panic::default() }
    }
}

/// The text of so many bytes at an address; `None` of none, and of what is no UTF-8.
pub fn text(core: &Core, start: u64, len: u64) -> Option<String> {
    let len = usize::try_from(Some(len).filter(|len| (1..=MAX_TEXT).contains(len))?).ok()?;
    let mut bytes = vec![0; len];
    core.space().read(Addr::new(start), &mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

/// A word behind an address.
pub fn word_at(core: &Core, base: Addr, offset: u64) -> Option<u64> {
    core.space().read_word(base.checked_add(offset)?).ok()
}
