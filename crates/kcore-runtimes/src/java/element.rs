//! The types of fields and of elements of arrays (`BasicType` of `src/hotspot/share/utilities/globalDefinitions.hpp`, and
//! the letters of class files).

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// `boolean`.
    Boolean,
    /// `char`, of 16 bits.
    Char,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `byte`.
    Byte,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// A reference to an object.
    Reference,
}

const TYPES: [(ElementType, u8, &str, u8); 8] = [
    (ElementType::Boolean, b'Z', "boolean", 1),
    (ElementType::Char, b'C', "char", 2),
    (ElementType::Float, b'F', "float", 4),
    (ElementType::Double, b'D', "double", 8),
    (ElementType::Byte, b'B', "byte", 1),
    (ElementType::Short, b'S', "short", 2),
    (ElementType::Int, b'I', "int", 4),
    (ElementType::Long, b'J', "long", 8),
];
/// The number of the first of them; the others follow.
const FIRST: u32 = 4;

impl ElementType {
    /// That of the virtual machine's number; `None` of no primitive type.
    pub fn of_number(number: u32) -> Option<Self> {
        let index = usize::try_from(number.checked_sub(FIRST)?).ok()?;
        TYPES.get(index).map(|(kind, ..)| *kind)
    }

    /// The virtual machine's number, which heap dumps have too: 2 is a reference in them.
    pub fn number(self) -> u8 {
        let index = TYPES.iter().position(|(kind, ..)| *kind == self);
        index.map_or(2, |index| u8::try_from(index).unwrap_or_default().saturating_add(4))
    }

    /// What bits mean as a whole number; `None` of a type that has none.
    pub fn integer(self, raw: u64) -> Option<i64> {
        Some(match self {
            Self::Boolean => i64::from(raw & 0xff != 0),
            Self::Char => i64::from((raw & 0xffff) as u16),
            Self::Byte => i64::from((raw & 0xff) as u8 as i8),
            Self::Short => i64::from((raw & 0xffff) as u16 as i16),
            Self::Int => i64::from((raw & 0xffff_ffff) as u32 as i32),
            Self::Long => raw as i64,
            Self::Float | Self::Double | Self::Reference => return None,
        })
    }

    /// That of a signature in a class file: `J`, `[I`, `Ljava/lang/String;`.
    pub fn of_signature(signature: &str) -> Option<Self> {
        let letter = *signature.as_bytes().first()?;
        if matches!(letter, b'L' | b'[') {
            return Some(Self::Reference);
        }
        TYPES.iter().find(|(_, own, ..)| *own == letter).map(|(kind, ..)| *kind)
    }

    /// The bytes of one, where references have so many.
    pub fn size(self, reference: u64) -> u64 {
        let own = TYPES.iter().find(|(kind, ..)| *kind == self);
        own.map_or(reference, |(.., size)| u64::from(*size))
    }
}

/// The name of a class as sources have it: `java.lang.String[]` of `[Ljava.lang.String;`.
pub fn source_name(name: &str) -> String {
    let element = name.trim_start_matches('[');
    let dimensions = name.len().saturating_sub(element.len());
    if dimensions == 0 {
        return name.to_owned();
    }
    let letter = TYPES.iter().find(|(_, letter, ..)| element.as_bytes() == [*letter]);
    let element = match (letter, element.strip_prefix('L')) {
        (Some((_, _, word, _)), _) => *word,
        (None, Some(class)) => class.strip_suffix(';').unwrap_or(class),
        _ => element,
    };
    format!("{element}{}", "[]".repeat(dimensions.min(255)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_sources() {
        let names = ["[I", "[[Ljava.lang.String;", "java.lang.String", "I"].map(source_name);
        assert_eq!(names, ["int[]", "java.lang.String[][]", "java.lang.String", "I"]);
    }

    #[test]
    fn types_have_numbers_letters_and_sizes() {
        assert_eq!(ElementType::of_number(11), Some(ElementType::Long));
        assert_eq!((ElementType::of_number(3), ElementType::of_number(12)), (None, None));
        assert_eq!(ElementType::of_signature("[I"), Some(ElementType::Reference));
        assert_eq!(ElementType::of_signature("V"), None);
        assert_eq!(ElementType::Char.size(4), 2);
        assert_eq!(ElementType::Reference.size(4), 4);
        assert_eq!((ElementType::Boolean.number(), ElementType::Reference.number()), (4, 2));
    }
}
