//! Which instruction set code of 32-bit Arm is in (ELF for the Arm Architecture, 5.5.5, «Mapping symbols»).

use kcore_mem::Svma;

use crate::{Image, SymbolKind, SymbolTableKind};

/// An instruction set, or what lies between code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmCode {
    /// Instructions of four bytes.
    Arm,
    /// Instructions of two and four bytes.
    Thumb,
    /// Data among code.
    Data,
}

/// Where each begins, lowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArmCodes(Vec<(Svma, ArmCode)>);

impl ArmCodes {
    /// By the symbols of a file, and of the one that has its debug information: mapping symbols tell all; without
    /// them bit 0 of functions tells of these.
    pub fn of(images: &[&Image]) -> Self {
        let tables = [SymbolTableKind::Full, SymbolTableKind::Dynamic];
        let symbols = || {
            images.iter().flat_map(move |image| {
                tables.into_iter().flat_map(move |table| image.stated_symbols(table))
            })
        };
        let mut starts: Vec<_> =
            symbols().filter_map(|(name, _, at)| Some((at, mapping(name)?))).collect();
        if starts.is_empty() {
            starts = symbols().filter_map(|(_, kind, at)| function(kind, at)).collect();
        }
        starts.sort_by_key(|(at, _)| *at);
        Self(starts)
    }

    /// What lies at an address; `None` before all that symbols tell of.
    pub fn at(&self, svma: Svma) -> Option<ArmCode> {
        let behind = self.0.partition_point(|(start, _)| *start <= svma);
        self.0.get(behind.checked_sub(1)?).map(|(_, code)| *code)
    }
}

/// `$a`, `$t`, `$d`, and the same with a dot and anything behind it.
fn mapping(name: &[u8]) -> Option<ArmCode> {
    let code = match name {
        [b'$', b'a', ..] => ArmCode::Arm,
        [b'$', b't', ..] => ArmCode::Thumb,
        [b'$', b'd', ..] => ArmCode::Data,
        _ => return None,
    };
    matches!(name.get(2), None | Some(b'.')).then_some(code)
}

fn function(kind: SymbolKind, at: Svma) -> Option<(Svma, ArmCode)> {
    let code = if at.get() & 1 == 1 { ArmCode::Thumb } else { ArmCode::Arm };
    (kind.is_function() && at.get() != 0).then(|| (Svma::new(at.get() & !1), code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mapping_symbols_have_nothing_behind_them_but_a_dot() {
        assert_eq!((mapping(b"$a"), mapping(b"$t.12")), (Some(ArmCode::Arm), Some(ArmCode::Thumb)));
        assert_eq!(mapping(b"$d.realdata"), Some(ArmCode::Data));
        assert_eq!((mapping(b"$tail"), mapping(b"a"), mapping(b"$x")), (None, None, None));
    }

    #[test]
    fn the_nearest_start_before_an_address_tells() {
        let start = |at, code| (Svma::new(at), code);
        let codes = ArmCodes(vec![start(0x100, ArmCode::Thumb), start(0x120, ArmCode::Data)]);
        let at = |at| codes.at(Svma::new(at));
        assert_eq!(
            (at(0xff), at(0x100), at(0x11e)),
            (None, Some(ArmCode::Thumb), Some(ArmCode::Thumb))
        );
        assert_eq!(at(0x120), Some(ArmCode::Data));
    }

    #[test]
    fn functions_tell_by_their_lowest_bit() {
        let of = |at| function(SymbolKind::Function, Svma::new(at));
        assert_eq!(of(0x8001), Some((Svma::new(0x8000), ArmCode::Thumb)));
        assert_eq!((of(0x8000), of(0)), (Some((Svma::new(0x8000), ArmCode::Arm)), None));
        assert_eq!(function(SymbolKind::Object, Svma::new(0x8001)), None);
    }
}
