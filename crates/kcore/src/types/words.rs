//! The words of C for integers, in any order, as debug information spells the type that they mean.

/// Words that a basic type of C is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    longs: u8,
    short: bool,
    signed: bool,
    unsigned: bool,
    complex: bool,
    base: Option<&'static str>,
}

const BASES: &[(&str, &str)] = &[
    ("char", "char"),
    ("int", "int"),
    ("float", "float"),
    ("double", "double"),
    ("void", "void"),
    ("_Bool", "_Bool"),
    ("bool", "bool"),
    ("__int128", "__int128"),
];

impl Words {
    /// Takes a word in. `false`: it is none of these, or fits none of those before it.
    pub fn take(&mut self, word: &str) -> bool {
        match word {
            "long" if self.longs < 2 && !self.short => self.longs = self.longs.saturating_add(1),
            "short" if self.longs == 0 && !self.short => self.short = true,
            "signed" | "__signed__" if !self.unsigned => self.signed = true,
            "unsigned" if !self.signed => self.unsigned = true,
            "_Complex" | "__complex__" => self.complex = true,
            _ => match BASES.iter().find(|(known, _)| *known == word) {
                Some((_, base)) if self.base.is_none() => self.base = Some(base),
                _ => return false,
            },
        }
        true
    }

    /// Whether there is a word at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The names that the type has in debug information, the usual one first; empty for words that make
    /// no type.
    pub fn names(&self) -> &'static [&'static str] {
        let is_integer = matches!(self.base, None | Some("int"));
        match (self.base, self.longs, self.short, self.unsigned, self.complex) {
            (Some("float"), 0, false, false, false) => &["float"],
            (Some("double"), 0, false, false, false) => &["double"],
            (Some("double"), 1, false, false, false) => &["long double"],
            (Some("float"), 0, false, false, true) => &["complex float", "_Complex float"],
            (Some("double") | None, 0, false, false, true) => {
                &["complex double", "_Complex double"]
            }
            (Some("double"), 1, false, false, true) => {
                &["complex long double", "_Complex long double"]
            }
            (_, _, _, _, true) => &[],
            (Some("void"), 0, false, false, _) => &["void"],
            (Some("_Bool" | "bool"), 0, false, false, _) => &["_Bool", "bool"],
            (Some("char"), 0, false, true, _) => &["unsigned char"],
            (Some("char"), 0, false, false, _) if self.signed => &["signed char"],
            (Some("char"), 0, false, false, _) => &["char"],
            (Some("__int128"), 0, false, true, _) => &["__int128 unsigned", "unsigned __int128"],
            (Some("__int128"), 0, false, false, _) => &["__int128"],
            (_, 0, true, false, _) if is_integer => &["short int", "short"],
            (_, 0, true, true, _) if is_integer => &["short unsigned int", "unsigned short"],
            (_, 0, false, false, _) if is_integer => &["int"],
            (_, 0, false, true, _) if is_integer => &["unsigned int"],
            (_, 1, false, false, _) if is_integer => &["long int", "long"],
            (_, 1, false, true, _) if is_integer => &["long unsigned int", "unsigned long"],
            (_, 2, false, false, _) if is_integer => &["long long int", "long long"],
            (_, 2, false, true, _) if is_integer => {
                &["long long unsigned int", "unsigned long long"]
            }
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> &'static [&'static str] {
        let mut words = Words::default();
        assert!(text.split(' ').all(|word| words.take(word)), "{text}");
        words.names()
    }

    #[test]
    fn any_order_means_the_same() {
        for text in ["unsigned long", "long unsigned", "long int unsigned", "unsigned long int"] {
            assert_eq!(names(text)[0], "long unsigned int", "{text}");
        }
        assert_eq!(names("long long"), ["long long int", "long long"]);
        assert_eq!(names("unsigned"), ["unsigned int"]);
        assert_eq!(names("signed char"), ["signed char"]);
        assert_eq!(names("long double _Complex")[0], "complex long double");
    }

    #[test]
    fn words_that_make_no_type_have_no_name() {
        for text in ["unsigned float", "short double", "long char", "unsigned void"] {
            assert!(names(text).is_empty(), "{text}");
        }
        let mut words = Words::default();
        assert!(words.take("long") && !words.take("short") && !words.take("node"));
    }
}
