//! `array.array`: `arrayobject` and `struct arraydescr` of `Modules/arraymodule.c` (3.8 to 3.15).

use kcore_mem::Addr;

use super::{
    super::{heap::Object, text},
    Items, Value, ValueKind,
    reader::Reader,
};

/// `ob_item` and `ob_descr`; `itemsize` behind `typecode` of that.
const ITEMS: u64 = 24;
const DESCRIPTION: u64 = 40;
const ITEM_SIZE: u64 = 4;

impl Reader<'_> {
    /// Its type code and its items, as its constructor has them.
    pub(super) fn array(&mut self, object: Object) -> Option<ValueKind> {
        let description = self.heap.pointer(object.at, DESCRIPTION)?;
        let code = char::from(u8::try_from(self.heap.uint(description, 0, 1)?).ok()?);
        let size = self.heap.uint(description, ITEM_SIZE, 4)?;
        (Some(size) == item_size(code)).then_some(())?;
        let length = self.heap.size(object)?;
        let is_text = matches!(code, 'u' | 'w');
        let most =
            if is_text { self.limits.characters } else { self.limits.entries.min(self.left) };
        let wanted = length.min(most).checked_mul(size)?;
        let start = if length == 0 { 0 } else { self.heap.word(object.at, ITEMS)? };
        let bytes = self.heap.space.read_held(Addr::new(start), wanted);
        (bytes.len() as u64 == wanted).then_some(())?;
        let items = match is_text {
            true => ValueKind::Str(text::of_units(&bytes, size, length)),
            false => {
                let chunks = bytes.chunks_exact(usize::try_from(size).ok()?);
                let items = chunks.map(|item| number(code, item)).collect::<Option<Vec<_>>>()?;
                ValueKind::Items { of: Items::List, items, length }
            }
        };
        let code = Value::made(&code.to_string());
        Some(self.call(object, vec![code, Value::of_kind(items)], Vec::new()))
    }
}

/// Bytes of an item, by its type code.
const fn item_size(code: char) -> Option<u64> {
    Some(match code {
        'b' | 'B' => 1,
        'h' | 'H' => 2,
        'i' | 'I' | 'f' | 'u' | 'w' => 4,
        'l' | 'L' | 'q' | 'Q' | 'd' => 8,
        _ => return None,
    })
}

fn number(code: char, bytes: &[u8]) -> Option<Value> {
    let mut word = [0_u8; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let word = u64::from_le_bytes(word);
    let unused = 64_u32.checked_sub(u32::try_from(bytes.len()).ok()?.checked_mul(8)?)?;
    Some(match code {
        'f' => {
            let number = f32::from_bits(u32::try_from(word).ok()?);
            Value::of_kind(ValueKind::Float(number.into()))
        }
        'd' => Value::of_kind(ValueKind::Float(f64::from_bits(word))),
        'B' | 'H' | 'I' | 'L' | 'Q' => Value::of_int(word),
        // The sign is that of the highest bit of the item.
        _ => Value::of_int(word.checked_shl(unused)?.cast_signed().checked_shr(unused)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_the_sign_and_the_width_of_their_code() {
        let of = |code, bytes: &[u8]| number(code, bytes).map(|value| value.kind);
        let int = |digits: &str| Some(ValueKind::Int(digits.into()));
        assert_eq!(of('b', &[0xff]), int("-1"));
        assert_eq!(of('B', &[0xff]), int("255"));
        assert_eq!(of('h', &[0, 0x80]), int("-32768"));
        assert_eq!(of('q', &[0xff; 8]), int("-1"));
        assert_eq!(of('Q', &[0xff; 8]), int("18446744073709551615"));
        assert_eq!(of('f', &0.5_f32.to_le_bytes()), Some(ValueKind::Float(0.5)));
        assert_eq!(item_size('x'), None);
    }
}
