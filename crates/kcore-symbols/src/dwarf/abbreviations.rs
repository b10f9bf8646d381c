//! Abbreviations: the shapes of a unit's entries.
//!
//! A table does not say how long it is. Since its section may be compressed, it is taken in growing
//! windows, and declarations are skimmed before they are parsed. The table of a unit that is only
//! scanned is not parsed at all, but for the one declaration that its root has;
//! a table that several units share is parsed once.

use std::sync::Arc;

use gimli::{Abbreviations, DebugAbbrev, DebugAbbrevOffset, DwForm, Error, Reader as _, constants};

use super::{Reader, Result, file::DwarfFile, shared::Reading};

/// Bytes of the first window; most tables of C programs fit.
const WINDOW: usize = 4 << 10;
/// Attributes of a shape; compilers give some twenty. Many take no bytes of an entry, and so its length is
/// no bound for the time that it takes.
const MAX_ATTRIBUTES: usize = 1 << 10;

/// All abbreviations of the table at `start`.
pub fn table(file: &DwarfFile, start: usize) -> Result<Arc<Abbreviations>> {
    file.abbreviations.get(start, |_| whole(file, start))
}

/// Abbreviations of the table at `start`, `code` among them: most tables belong to one unit, of which
/// only the root is read.
pub fn with_root(file: &DwarfFile, start: usize, code: u64) -> Result<Arc<Abbreviations>> {
    let read = |again| if again { whole(file, start) } else { single(file, start, code) };
    file.abbreviations.get(start, read)
}

fn whole(file: &DwarfFile, start: usize) -> Reading<Abbreviations> {
    let (bytes, window) = windows(file, start, |window| {
        while skim(window)?.is_some() {}
        Ok(())
    });
    let parse = |(window, ())| DebugAbbrev::from(window).abbreviations(DebugAbbrevOffset(0));
    Reading { result: window.and_then(parse), bytes }
}

fn single(file: &DwarfFile, start: usize, code: u64) -> Reading<Abbreviations> {
    let (bytes, found) = windows(file, start, |window| find(window, code));
    let parse = |(window, (from, to)): (Reader, (usize, usize))| {
        let mut bytes = window;
        bytes.skip(from)?;
        bytes.truncate(to.saturating_sub(from))?;
        let mut bytes = bytes.to_slice()?.into_owned();
        // The end of a table.
        bytes.push(0);
        DebugAbbrev::from(file.reader(bytes)).abbreviations(DebugAbbrevOffset(0))
    };
    Reading { result: found.and_then(parse), bytes }
}

/// Calls `read` with longer and longer windows on the table until it does not run into the end. Says
/// how many bytes of the last one it took.
fn windows<T>(
    file: &DwarfFile,
    start: usize,
    read: impl Fn(&mut Reader) -> Result<T>,
) -> (usize, Result<(Reader, T)>) {
    let mut len = WINDOW;
    loop {
        let (window, more) = match file.abbreviation_bytes(start, len) {
            Ok(window) => window,
            Err(error) => return (0, Err(error)),
        };
        let mut rest = window.clone();
        match read(&mut rest) {
            Err(Error::UnexpectedEof(_)) if more => len = len.saturating_mul(4),
            other => {
                let bytes = window.len().saturating_sub(rest.len());
                return (bytes, other.map(|found| (window, found)));
            }
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
    for _ in 0..MAX_ATTRIBUTES {
        let name = input.read_uleb128()?;
        let form = input.read_uleb128_u16()?;
        if DwForm(form) == constants::DW_FORM_implicit_const {
            input.skip_leb128()?;
        }
        if name == 0 && form == 0 {
            return Ok(Some(code));
        }
    }
    Err(Error::UnsupportedOffset)
}
