//! Location lists of DWARF 5 (section 7.7.3), with the numbers of views that gcc may write between their
//! entries (`-gvariable-location-views=incompat5`), which gimli 0.33 refuses.

use gimli::{DebugAddrIndex, Reader as _, Unit, constants};

use crate::dwarf::{DwarfFile, Reader, Result, is_number};

/// A location list that is read.
pub struct LocationList<'a> {
    file: &'a DwarfFile,
    unit: &'a Unit<Reader>,
    bytes: Reader,
    /// What offsets count from; `None` where that is no address.
    base: Option<u64>,
}

/// An entry that says of a place.
pub enum Entry {
    /// While code at these addresses runs; `None` if they are none.
    Bounded(Option<(u64, u64)>, Reader),
    /// Where no other entry does.
    Default(Reader),
}

impl<'a> LocationList<'a> {
    /// The list at an offset of the section.
    pub fn at(file: &'a DwarfFile, unit: &'a Unit<Reader>, offset: usize) -> Result<Self> {
        let mut bytes = file.location_lists();
        bytes.skip(offset)?;
        Ok(Self { file, unit, bytes, base: Some(unit.low_pc) })
    }

    /// The next entry that says of a place.
    pub fn next(&mut self) -> Result<Option<Entry>> {
        loop {
            let kind = gimli::DwLle(self.bytes.read_u8()?);
            match kind {
                constants::DW_LLE_end_of_list => return Ok(None),
                constants::DW_LLE_base_addressx => self.base = self.indexed()?,
                constants::DW_LLE_base_address => self.base = Some(self.address()?),
                constants::DW_LLE_GNU_view_pair => {
                    self.bytes.read_uleb128()?;
                    self.bytes.read_uleb128()?;
                }
                constants::DW_LLE_default_location => {
                    return Ok(Some(Entry::Default(self.expression()?)));
                }
                bounded => {
                    let range = self.range(bounded)?;
                    return Ok(Some(Entry::Bounded(range, self.expression()?)));
                }
            }
        }
    }

    /// The addresses of an entry of a kind that has any.
    fn range(&mut self, kind: gimli::DwLle) -> Result<Option<(u64, u64)>> {
        let (begin, end) = match kind {
            constants::DW_LLE_startx_endx => (self.indexed()?, self.indexed()?),
            constants::DW_LLE_startx_length => {
                let begin = self.indexed()?;
                (begin, after(begin, self.bytes.read_uleb128()?))
            }
            constants::DW_LLE_offset_pair => {
                let begin = after(self.base, self.bytes.read_uleb128()?);
                (begin, after(self.base, self.bytes.read_uleb128()?))
            }
            constants::DW_LLE_start_end => (Some(self.address()?), Some(self.address()?)),
            constants::DW_LLE_start_length => {
                let begin = Some(self.address()?);
                (begin, after(begin, self.bytes.read_uleb128()?))
            }
            unknown => return Err(gimli::Error::UnknownLocListsEntry(unknown)),
        };
        Ok(begin.zip(end))
    }

    fn address(&mut self) -> Result<u64> {
        self.bytes.read_address(self.unit.encoding().address_size)
    }

    /// An address by its number in `.debug_addr`; `None` if there is no such one.
    fn indexed(&mut self) -> Result<Option<u64>> {
        let index = usize::try_from(self.bytes.read_uleb128()?).ok().filter(|it| is_number(*it));
        Ok(index.and_then(|index| self.file.dwarf.address(self.unit, DebugAddrIndex(index)).ok()))
    }

    fn expression(&mut self) -> Result<Reader> {
        let size = self.bytes.read_uleb128()?;
        self.bytes.split(usize::try_from(size).map_err(|_| gimli::Error::UnsupportedOffset)?)
    }
}

/// What lies so many bytes behind an address. What was thrown away by the linker may begin at the last
/// address there is, and is nowhere.
fn after(base: Option<u64>, bytes: u64) -> Option<u64> {
    base?.checked_add(bytes)
}
