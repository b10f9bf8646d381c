//! Names of enumerations, as MDB decodes numbers into them.

use std::sync::Arc;

use kcore_symbols::{Enumeration, Type, TypeKind};

use crate::EnumValue;

/// The names of an enumeration.
pub struct EnumNames<'t> {
    enumeration: &'t Enumeration,
    /// Whether every number is 0, a bit, or a set of bits that no other has, and one of them is a bit: names are
    /// flags, and fields of several bits that are neighbours.
    pub are_bits: bool,
    /// Bytes that all names have in common at their beginning.
    pub prefix: usize,
}

impl<'t> EnumNames<'t> {
    /// The names of `ty`, if it is an enumeration. Aliases are not followed.
    pub fn of(ty: &'t Type) -> Option<Self> {
        let TypeKind::Enumeration(enumeration) = ty.kind() else { return None };
        let are_bits = are_flags(enumeration);
        Some(Self { enumeration, are_bits, prefix: common_prefix(enumeration) })
    }

    /// Each name with its number, in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'t Arc<str>, i128)> {
        self.enumeration.enumerators.iter().map(|enumerator| (&enumerator.name, enumerator.value))
    }

    /// A name without what all have in common, as far as something of it is left.
    pub fn short(&self, name: &'t str) -> &'t str {
        if name.len() > self.prefix { name.get(self.prefix..).unwrap_or(name) } else { name }
    }

    /// The name of a number.
    pub fn name_of(&self, number: i128) -> Option<&'t str> {
        self.iter().find(|(_, value)| *value == number).map(|(name, _)| &**name)
    }

    /// What a number says: its name, or its bits, `READ|WRITE`, where names are bits. What all names
    /// begin with is written once, `P_{READ|WRITE}`, or not at all if `shortens`. Bits without a name
    /// are left in hexadecimal. `None` for a number without a name.
    pub fn decoded(&self, number: i128, shortens: bool) -> Option<String> {
        if let Some(name) = self.name_of(number) {
            return Some(if shortens { self.short(name) } else { name }.to_owned());
        }
        self.are_bits.then(|| self.bits(number, shortens))
    }

    fn bits(&self, number: i128, shortens: bool) -> String {
        let mut left = number;
        let mut names = Vec::new();
        for (name, value) in self.iter().filter(|(_, value)| *value != 0) {
            // Of a set of several bits all must be there: another value of that field has no name.
            if left & value == value {
                left &= !value;
                names.push(&**name);
            }
        }
        let mut text = self.joined(&names, shortens);
        if left != 0 || names.is_empty() {
            let bar = if names.is_empty() { "" } else { "|" };
            let zero = if left == 0 { "" } else { "0x" };
            text.push_str(&format!("{bar}{zero}{left:x}"));
        }
        text
    }

    fn joined(&self, names: &[&'t str], shortens: bool) -> String {
        let short = || names.iter().map(|name| self.short(name)).collect::<Vec<_>>().join("|");
        let prefix = names.first().and_then(|name| name.get(..self.prefix));
        match prefix {
            _ if shortens => short(),
            Some(prefix) if names.len() > 1 && !prefix.is_empty() => {
                format!("{prefix}{{{}}}", short())
            }
            _ => names.join("|"),
        }
    }
}

impl EnumValue {
    /// What the number says, as [`EnumNames::decoded`] has it.
    pub fn decoded(&self) -> Option<String> {
        EnumNames::of(&self.names)?.decoded(self.number.value()?, false)
    }
}

/// Whether numbers are bits and fields of neighbouring bits that have none in common. Several names of one number are one.
fn are_flags(enumeration: &Enumeration) -> bool {
    let mut values: Vec<i128> =
        enumeration.enumerators.iter().map(|enumerator| enumerator.value).collect();
    values.sort_unstable();
    values.dedup();
    let mut seen = 0_i128;
    let mut is_apart = |value: &i128| {
        let is_field = *value == 0 || is_field(*value);
        let is_new = *value >= 0 && seen & value == 0 && is_field;
        seen |= value;
        is_new
    };
    values.iter().all(&mut is_apart) && values.iter().copied().any(bit)
}

/// Whether all bits from the lowest to the highest one are set.
fn is_field(value: i128) -> bool {
    let low = value.checked_shr(value.trailing_zeros()).unwrap_or(0);
    low.checked_add(1).is_some_and(|next| next & low == 0)
}

fn bit(value: i128) -> bool {
    value > 0 && value.count_ones() == 1
}

/// How much all names begin with: less than the whole of one that all others go on from.
fn common_prefix(enumeration: &Enumeration) -> usize {
    let mut names = enumeration.enumerators.iter().map(|enumerator| &*enumerator.name);
    let Some(first) = names.next() else { return 0 };
    let common = names.fold(first, |common, name| {
        let same = common.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b);
        let len = same.last().map_or(0, |((at, c), _)| at.saturating_add(c.len_utf8()));
        common.get(..len).unwrap_or_default()
    });
    match common.char_indices().next_back() {
        Some((last, _)) if common.len() == first.len() => last,
        _ => common.len(),
    }
}

#[cfg(test)]
mod tests {
    use kcore_symbols::{Enumerator, TypeNode};

    use super::*;

    fn made(names: &[(&str, i128)]) -> Type {
        let enumerators =
            names.iter().map(|(name, value)| Enumerator { name: (*name).into(), value: *value });
        let enumeration =
            Enumeration { underlying: None, enumerators: enumerators.collect(), is_class: false };
        Type::made(TypeNode {
            id: None,
            name: Some("perm".into()),
            size: Some(4),
            is_declaration: false,
            kind: TypeKind::Enumeration(enumeration),
        })
    }

    fn decoded(names: &[(&str, i128)], number: i128) -> Option<String> {
        EnumNames::of(&made(names)).unwrap().decoded(number, false)
    }

    const PERM: &[(&str, i128)] = &[("READ", 1), ("WRITE", 2), ("EXEC", 4)];

    #[test]
    fn numbers_have_names() {
        let kind = &[("NODE_LEAF", 1), ("NODE_DIR", 2), ("NODE_LINK", 3)];
        assert_eq!(decoded(kind, 3).as_deref(), Some("NODE_LINK"));
        assert_eq!(decoded(kind, 7), None);
        assert_eq!(decoded(&[("BAD", -1), ("GOOD", 0)], -1).as_deref(), Some("BAD"));
    }

    #[test]
    fn bits_are_decoded_in_order_of_declaration() {
        assert_eq!(decoded(PERM, 3).as_deref(), Some("READ|WRITE"));
        assert_eq!(decoded(PERM, 0x46).as_deref(), Some("WRITE|EXEC|0x40"));
        assert_eq!(decoded(PERM, 0x40).as_deref(), Some("0x40"));
        assert_eq!(decoded(PERM, 0).as_deref(), Some("0"));
        assert_eq!(decoded(&[("NONE", 0), ("ONE", 1)], 0).as_deref(), Some("NONE"));
    }

    #[test]
    fn fields_of_several_bits_are_flags_if_they_share_none() {
        let disjoint = &[("LOW", 0x0f), ("MIDDLE", 0x30), ("HIGH", 0x40)];
        assert_eq!(decoded(disjoint, 0x4f).as_deref(), Some("LOW|HIGH"));
        assert_eq!(decoded(disjoint, 0x41).as_deref(), Some("HIGH|0x1"));
        assert_eq!(decoded(&[("R", 1), ("W", 2), ("RW", 3)], 7), None);
        assert_eq!(decoded(&[("RED", 1), ("GREEN", 2), ("BLUE", 200)], 99), None);
        assert_eq!(decoded(&[("A", 1), ("ALSO_A", 1), ("B", 2)], 3).as_deref(), Some("A|B"));
        assert_eq!(decoded(&[("ONE", 1), ("TWO", 2), ("THREE", 3), ("FOUR", 4)], 6), None);
    }

    #[test]
    fn what_all_names_begin_with_is_written_once() {
        let names = &[("P_READ", 1), ("P_WRITE", 2), ("P_EXEC", 4)];
        assert_eq!(decoded(names, 3).as_deref(), Some("P_{READ|WRITE}"));
        assert_eq!(decoded(names, 1).as_deref(), Some("P_READ"));
        let ty = made(names);
        let all = EnumNames::of(&ty).unwrap();
        assert_eq!(all.decoded(5, true).as_deref(), Some("READ|EXEC"));
        assert_eq!(all.decoded(4, true).as_deref(), Some("EXEC"));
    }

    #[test]
    fn a_name_is_not_smothered() {
        let ty = made(&[("A", 1), ("AB", 2)]);
        let names = EnumNames::of(&ty).unwrap();
        assert_eq!((names.prefix, names.short("A"), names.short("AB")), (0, "A", "AB"));
        let ty = made(&[("ONLY", 5)]);
        assert_eq!(EnumNames::of(&ty).unwrap().short("ONLY"), "Y");
    }
}
