//! Abbreviations: the shapes of a unit's entries.
//!
//! A table does not say how long it is. Since its section may be compressed, it is taken in growing
//! windows, and declarations are skimmed before they are parsed. The table of a unit that is only
//! scanned is not parsed at all, but for the one declaration that its root has.

use gimli::{Abbreviations, DebugAbbrev, DebugAbbrevOffset, DwForm, Error, Reader as _, constants};

use super::{Reader, Result, file::DwarfFile};

/// Bytes of the first window; most tables of C programs fit.
const WINDOW: usize = 4 << 10;

/// All abbreviations of the table at `start`.
pub fn table(file: &DwarfFile, start: usize) -> Result<Abbreviations> {
    windows(file, start, |window| {
        while skim(window)?.is_some() {}
        Ok(())
    })
    .and_then(|(window, ())| DebugAbbrev::from(window).abbreviations(DebugAbbrevOffset(0)))
}

/// The abbreviation `code` alone of the table at `start`.
pub fn single(file: &DwarfFile, start: usize, code: u64) -> Result<Abbreviations> {
    let (window, (from, to)) = windows(file, start, |window| find(window, code))?;
    let mut bytes = window;
    bytes.skip(from)?;
    bytes.truncate(to.saturating_sub(from))?;
    let mut bytes = bytes.to_slice()?.into_owned();
    // The end of a table.
    bytes.push(0);
    DebugAbbrev::from(file.reader(bytes)).abbreviations(DebugAbbrevOffset(0))
}

/// Calls `read` with longer and longer windows on the table until it does not run into the end.
fn windows<T>(
    file: &DwarfFile,
    start: usize,
    read: impl Fn(&mut Reader) -> Result<T>,
) -> Result<(Reader, T)> {
    let mut len = WINDOW;
    loop {
        let (window, more) = file.abbreviation_bytes(start, len)?;
        match read(&mut window.clone()) {
            Err(Error::UnexpectedEof(_)) if more => len = len.saturating_mul(4),
            other => return other.map(|found| (window, found)),
        }
    }
}

/// Where the declaration of `code` begins and ends.
fn find(window: &mut Reader, code: u64) -> Result<(usize, usize)> {
    let len = window.len();
    loop {
        let from = len.saturating_sub(window.len());
        match skim(window)? {
            Some(found) if found == code => return Ok((from, len.saturating_sub(window.len()))),
            Some(_) => {}
            None => return Err(Error::InvalidAbbreviationCode(code)),
        }
    }
}

/// Reads over one declaration and says its code; `None` at the end of the table.
fn skim(input: &mut Reader) -> Result<Option<u64>> {
    let code = input.read_uleb128()?;
    if code == 0 {
        return Ok(None);
    }
    input.skip_leb128()?;
    input.skip(1)?;
    loop {
        let name = input.read_uleb128()?;
        let form = input.read_uleb128_u16()?;
        if DwForm(form) == constants::DW_FORM_implicit_const {
            input.skip_leb128()?;
        }
        if name == 0 && form == 0 {
            return Ok(Some(code));
        }
    }
}
