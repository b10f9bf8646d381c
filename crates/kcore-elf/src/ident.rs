//! `e_ident`: word size and byte order.

use kcore_mem::{Arch, Endian, Target};

use crate::ParseError;

/// The target that the first bytes of an ELF file say, its architecture not yet known.
///
/// # Errors
/// When class or byte order are none that ELF defines.
pub fn target_of_ident(bytes: &[u8]) -> Result<Target, ParseError> {
    let class = bytes.get(4).copied().unwrap_or_default();
    let order = bytes.get(5).copied().unwrap_or_default();
    let unknown = ParseError::UnknownClass { class, order };
    let word = match class {
        1 => 4,
        2 => 8,
        _ => return Err(unknown),
    };
    let endian = match order {
        1 => Endian::Little,
        2 => Endian::Big,
        _ => return Err(unknown),
    };
    Ok(Target { arch: Arch::Other(0), endian, word })
}
