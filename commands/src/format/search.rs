//! The formats `l`, `L` and `M`, which search memory for a value.

use kcore::{Addr, AddressSpace};
use kcore_dcmd::{Arg, Cx, DcmdError, Dot, Result};

use super::letters::{self, Action, Size};
use super::source;
use super::value::{Datum, ValueRecord};
use crate::{names::Names, operand};

/// What is searched for.
pub struct Search {
    letter: char,
    size: usize,
    value: u64,
    mask: u64,
}

impl Search {
    /// Reads the words, if the first is a letter that searches.
    ///
    /// # Errors
    /// When the value is missing, or is none.
    pub fn new(cx: &Cx<'_>, words: &[Arg]) -> Result<Option<Self>> {
        let Some((Arg::Text(first), rest)) = words.split_first() else { return Ok(None) };
        let mut chars = first.chars();
        let letter = chars.next().and_then(letters::find);
        let Some(letter) = letter.filter(|letter| letter.action == Action::Match) else {
            return Ok(None);
        };
        let size = match letter.size {
            Size::Bytes(bytes) => bytes,
            _ => return Ok(None),
        };
        let letter = letter.letter;
        let (value, mask) = match rest {
            [value] if chars.next().is_none() => (operand::number(cx, value)?, u64::MAX),
            [value, mask] if chars.next().is_none() => {
                (operand::number(cx, value)?, operand::number(cx, mask)?)
            }
            [_, _, _, ..] => {
                return Err(DcmdError::failed(format!("only value and mask may follow {letter}")));
            }
            _ => return Err(DcmdError::failed(format!("expected value following {letter}"))),
        };
        Ok(Some(Self { letter, size, value, mask }))
    }

    /// Searches from dot on; leaves dot at the hit, or at the first address without memory.
    ///
    /// # Errors
    /// When memory ends before a hit.
    pub fn run(&self, cx: &mut Cx<'_>, space: &dyn AddressSpace) -> Result<()> {
        let mut at = cx.dot().addr();
        loop {
            cx.check_interrupt()?;
            match space.read_uint(at, self.size) {
                Ok(value) if value & self.mask == self.value => break self.hit(cx, at, value)?,
                Ok(_) => at = Addr::new(at.get().wrapping_add(self.size as u64)),
                Err(fault) => {
                    cx.shell_mut().set_dot(Dot::Addr(at), self.size as u64);
                    return Err(source::failure(fault));
                }
            }
        }
        cx.shell_mut().set_dot(Dot::Addr(at), self.size as u64);
        Ok(())
    }

    fn hit(&self, cx: &mut Cx<'_>, at: Addr, value: u64) -> Result<()> {
        let names = Names::new(cx);
        let text = names.spelled_or_address(at);
        cx.emit(&Hit(ValueRecord {
            address: Some(at),
            format: self.letter,
            size: self.size as u64,
            datum: Datum::Hex(value),
            label: names.spelled(at),
            shown: Some(text.clone()),
            text,
        }))
    }
}

/// A hit: in a pipe it is the address that counts, not the value.
struct Hit(ValueRecord);

impl kcore_dcmd::Record for Hit {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn view(&self) -> kcore_dcmd::View {
        self.0.view()
    }

    fn fields<'a>(&'a self, out: &mut kcore_dcmd::Fields<'a>) {
        self.0.fields(out);
    }

    fn dot(&self) -> Option<Dot> {
        self.0.address.map(Dot::Addr)
    }
}
