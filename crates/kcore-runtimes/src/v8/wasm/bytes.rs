//! The bytes of a WebAssembly module, as it was given to V8: names and where functions begin.
//!
//! Sections: <https://webassembly.github.io/spec/core/binary/modules.html>; names:
//! <https://webassembly.github.io/spec/core/appendix/custom.html>.

use kcore_mem::Addr;

use super::pointer;
use crate::v8::Heap;

/// What a module begins with.
const MARK: &[u8] = b"\0asm";
/// Bytes before its first section.
const HEADER: u64 = 8;
/// Words of a `NativeModule` in which its bytes are looked for.
const MODULE_WORDS: u64 = 64;
/// Modules are no longer, `kV8MaxWasmModuleSize`.
const MAX_MODULE: u64 = 1 << 30;
/// Sections, and functions, at most.
const MAX_SECTIONS: usize = 1 << 12;
const MAX_FUNCTIONS: u64 = 1 << 20;
/// Bytes of names that are read, and of one name.
const MAX_NAMES: u64 = 64 << 20;
const MAX_NAME: u64 = 1 << 12;

const CUSTOM: u64 = 0;
const IMPORTS: u64 = 2;
const CODE: u64 = 10;
const NAME_OF_MODULE: u64 = 0;
const NAMES_OF_FUNCTIONS: u64 = 1;

/// A module's bytes in memory.
#[derive(Clone, Copy, Debug)]
pub struct ModuleBytes<'h, 'a> {
    heap: &'h Heap<'a>,
    start: Addr,
    length: u64,
}

/// What a module names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Itself.
    pub module: Option<String>,
    /// The function that was asked for.
    pub function: Option<String>,
}

impl<'h, 'a> ModuleBytes<'h, 'a> {
    /// Those that a `NativeModule` refers to by a pointer to where they are and how many.
    pub fn of(heap: &'h Heap<'a>, native: Addr) -> Option<Self> {
        (0..MODULE_WORDS).find_map(|word| {
            let vector = pointer(heap, native, word.saturating_mul(8))?;
            let start = Addr::new(heap.word(vector, 0)?);
            let length = heap.word(vector, 8).filter(|length| *length <= MAX_MODULE)?;
            (heap.space.read_held(start, 4) == MARK).then_some(Self { heap, start, length })
        })
    }

    /// The offset in the module at which the body of a function begins.
    pub fn function_start(&self, index: u64) -> Option<u64> {
        let (mut at, end) = self.sections().find(|(id, ..)| *id == CODE).map(|it| (it.1, it.2))?;
        let own = index.checked_sub(self.imported_functions()?)?;
        let count = self.integer(&mut at)?;
        (own < count.min(MAX_FUNCTIONS)).then_some(())?;
        for _ in 0..own {
            let size = self.integer(&mut at)?;
            at = at.checked_add(size).filter(|at| *at <= end)?;
        }
        self.integer(&mut at)?;
        Some(at)
    }

    /// The names of the module and of a function.
    pub fn names(&self, index: u64) -> Names {
        let customs = self.sections().filter(|(id, ..)| *id == CUSTOM);
        let named = customs
            .filter_map(|(_, mut at, end)| (self.text(&mut at)? == "name").then_some((at, end)));
        let mut names = Names::default();
        for (at, end) in named {
            self.read_names(at, end, index, &mut names);
        }
        names
    }

    fn read_names(&self, mut at: u64, end: u64, index: u64, names: &mut Names) -> Option<()> {
        let end = end.min(at.checked_add(MAX_NAMES)?);
        while at < end {
            let (id, size) = (self.integer(&mut at)?, self.integer(&mut at)?);
            let next = at.checked_add(size).filter(|next| *next <= end)?;
            match id {
                NAME_OF_MODULE => names.module = self.text(&mut at).filter(|name| !name.is_empty()),
                NAMES_OF_FUNCTIONS => names.function = self.name_in(at, next, index),
                _ => {}
            }
            at = next;
        }
        Some(())
    }

    /// The name of a function in a list of names, each behind the function's number.
    fn name_in(&self, mut at: u64, end: u64, index: u64) -> Option<String> {
        let count = self.integer(&mut at)?.min(MAX_FUNCTIONS);
        for _ in 0..count {
            let number = self.integer(&mut at)?;
            if number == index {
                return self.text(&mut at).filter(|name| !name.is_empty());
            }
            let size = self.integer(&mut at)?;
            at = at.checked_add(size).filter(|at| *at <= end)?;
        }
        None
    }

    /// How many functions the module imports.
    fn imported_functions(&self) -> Option<u64> {
        let Some((_, mut at, _)) = self.sections().find(|(id, ..)| *id == IMPORTS) else {
            return Some(0);
        };
        let count = self.integer(&mut at)?.min(MAX_FUNCTIONS);
        let mut functions: u64 = 0;
        for _ in 0..count {
            for _ in 0..2 {
                let size = self.integer(&mut at)?;
                at = at.checked_add(size)?;
            }
            functions = functions.checked_add(u64::from(self.skip_import(&mut at)?))?;
        }
        Some(functions)
    }

    /// Skips what an import is; whether it is a function.
    fn skip_import(&self, at: &mut u64) -> Option<bool> {
        let kind = self.integer(at)?;
        match kind {
            0 => drop(self.integer(at)?),
            1 => {
                self.skip_type(at)?;
                self.skip_limits(at)?;
            }
            2 => self.skip_limits(at)?,
            3 => {
                self.skip_type(at)?;
                self.integer(at)?;
            }
            4 => {
                self.integer(at)?;
                self.integer(at)?;
            }
            _ => return None,
        }
        Some(kind == 0)
    }

    /// A type: references to what is no basic type say to which.
    fn skip_type(&self, at: &mut u64) -> Option<()> {
        const REFERENCES: [u64; 2] = [0x63, 0x64];
        if REFERENCES.contains(&self.integer(at)?) {
            self.integer(at)?;
        }
        Some(())
    }

    fn skip_limits(&self, at: &mut u64) -> Option<()> {
        let flags = self.integer(at)?;
        self.integer(at)?;
        if flags & 1 == 1 {
            self.integer(at)?;
        }
        Some(())
    }

    /// The sections: what each is, where its contents begin, and where they end.
    fn sections(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let mut at = HEADER;
        let sections = std::iter::from_fn(move || {
            let (id, size) = (self.integer(&mut at)?, self.integer(&mut at)?);
            let start = at;
            at = start.checked_add(size).filter(|end| *end <= self.length)?;
            Some((id, start, at))
        });
        sections.take(MAX_SECTIONS)
    }

    fn text(&self, at: &mut u64) -> Option<String> {
        let size = self.integer(at)?;
        let bytes = self.heap.space.read_held(self.start.checked_add(*at)?, size.min(MAX_NAME));
        *at = at.checked_add(size)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// An integer of variable length: seven bits a byte, the lowest first.
    fn integer(&self, at: &mut u64) -> Option<u64> {
        let mut value: u64 = 0;
        for shift in (0..35_u32).step_by(7) {
            (*at < self.length).then_some(())?;
            let byte = self.heap.uint(self.start, *at, 1)?;
            *at = at.checked_add(1)?;
            value |= (byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}
