//! Arguments of a function as words, as Go's own traces print them (`runtime/traceback.go`, `printArgs`;
//! `internal/abi/symtab.go`, before Go 1.21 `cmd/internal/objabi`). No debug information is needed.

use kcore_mem::{Addr, AddressSpace, CodeAddr};

use super::{Go, code::CodePlace};
use crate::Host;

/// Kinds of `funcdata` and `pcdata`: where arguments lie, and which of them still have their value.
const WHERE: u32 = 5;
const LIVE: u32 = 6;
const LIVE_AT: u32 = 3;
/// What stands among pairs of an offset and a size.
const END: u8 = 0xff;
const BEGIN_PARTS: u8 = 0xfe;
const END_PARTS: u8 = 0xfd;
const MORE: u8 = 0xfc;
const TOO_FAR: u8 = 0xfb;
/// Bytes of a description, at most: more than the compiler makes.
const MAX_LEN: u64 = 256;

/// Which arguments still have their value, of those that were handed over in registers.
struct Live {
    /// Where the bits lie; all live without.
    bits: Option<Addr>,
    /// Offsets below it are on the stack, and always live.
    first: u8,
}

impl Live {
    fn at(go: &Go, space: &dyn AddressSpace, place: &CodePlace, pc: CodeAddr) -> Self {
        let info = place.function.funcdata(&go.tables, space, LIVE);
        let first = info.and_then(|info| space.read_uint(info, 1).ok());
        let index = place.function.pcdata(&go.tables, space, LIVE_AT, pc.lookup());
        let index = index.and_then(|index| u64::try_from(index).ok()).filter(|index| *index > 0);
        let bits = info.zip(index).and_then(|(info, index)| info.checked_add(index));
        Self { bits, first: first.and_then(|first| u8::try_from(first).ok()).unwrap_or(END) }
    }

    fn has(&self, space: &dyn AddressSpace, offset: u8, slot: u8) -> bool {
        let Some(bits) = self.bits.filter(|_| offset >= self.first) else { return true };
        let byte = bits.checked_add(u64::from(slot / 8)).map(|at| space.read_uint(at, 1));
        matches!(byte, Some(Ok(byte)) if byte & (1 << (slot % 8)) != 0)
    }
}

impl Go {
    /// The arguments of the function that runs at `pc`, whose frame ends at `cfa`: `0x2a, {0xc000014080, 0x5}`. A word that
    /// may have been given another value since has a question mark. `None` where the function does not tell them, or
    /// they cannot be read.
    pub fn arguments(&self, host: &dyn Host, pc: CodeAddr, cfa: Addr) -> Option<String> {
        let space = host.space();
        let place = self.place(host, pc)?;
        let first = cfa.checked_add(self.abi.before_arguments)?;
        let described = place.function.funcdata(&self.tables, space, WHERE)?;
        let live = Live::at(self, space, &place, pc);
        let (mut shown, mut begins, mut slot) = (String::new(), true, 0_u8);
        let mut bytes = (0..MAX_LEN)
            .map_while(|offset| space.read_uint(described.checked_add(offset)?, 1).ok())
            .filter_map(|byte| u8::try_from(byte).ok());
        loop {
            let what = bytes.next()?;
            if !begins && !matches!(what, END | END_PARTS) {
                shown.push_str(", ");
            }
            begins = what == BEGIN_PARTS;
            match what {
                END => return Some(shown),
                BEGIN_PARTS => shown.push('{'),
                END_PARTS => shown.push('}'),
                MORE => shown.push_str("..."),
                TOO_FAR => shown.push('_'),
                offset => {
                    let size = usize::from(bytes.next()?).min(8);
                    let at = first.checked_add(u64::from(offset))?;
                    shown.push_str(&format!("{:#x}", space.read_uint(at, size).ok()?));
                    if !live.has(space, offset, slot) {
                        shown.push('?');
                    }
                    slot = slot.wrapping_add(u8::from(offset >= live.first));
                }
            }
        }
    }
}
