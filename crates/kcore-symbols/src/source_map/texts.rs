//! Many short texts in one: an array of a map may have millions.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};

/// Texts, one behind the other.
#[derive(Default)]
pub struct Texts {
    all: String,
    /// Where each ends in `all`.
    ends: Vec<u32>,
}

impl Texts {
    /// The text with this number, from 0; that of `null` is empty.
    pub fn get(&self, number: u32) -> Option<&str> {
        let number = usize::try_from(number).ok()?;
        let end = *self.ends.get(number)? as usize;
        let start = match number.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.all.get(start..end)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} texts", self.len())
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Array)
    }
}

struct Array;

impl<'de> Visitor<'de> for Array {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of texts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Texts, A::Error> {
        let mut texts = Texts::default();
        while array.next_element_seed(Next(&mut texts.all))?.is_some() {
            let end = u32::try_from(texts.all.len()).unwrap_or(u32::MAX);
            texts.ends.push(end);
        }
        Ok(texts)
    }
}

/// Puts a text behind the others.
struct Next<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Next<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Next<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or null")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// How many lines a text has that is not kept; 0 of `null` and of an empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCount(pub u32);

impl<'de> Deserialize<'de> for LineCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Counter)
    }
}

struct Counter;

impl Visitor<'_> for Counter {
    type Value = LineCount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or null")
    }

    fn visit_str<E>(self, text: &str) -> Result<LineCount, E> {
        let ends = text.bytes().filter(|byte| *byte == b'\n').count();
        let lines = if text.is_empty() { 0 } else { ends.saturating_add(1) };
        Ok(LineCount(u32::try_from(lines).unwrap_or(u32::MAX)))
    }

    fn visit_unit<E>(self) -> Result<LineCount, E> {
        Ok(LineCount(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_number_and_null_is_empty() {
        let texts: Texts = serde_json::from_str(r#"["a", "", null, "bc\n", "\u00e9"]"#).unwrap();
        let found: Vec<_> = (0..6).map(|number| texts.get(number)).collect();
        assert_eq!(found, [Some("a"), Some(""), Some(""), Some("bc\n"), Some("é"), None]);
        assert!(serde_json::from_str::<Texts>("[1]").is_err());
        assert!(serde_json::from_str::<Texts>("{}").is_err());
    }

    #[test]
    fn lines_of_a_text_are_counted() {
        let counts: Vec<LineCount> = serde_json::from_str(r#"["a\nb", "", null, "x"]"#).unwrap();
        assert_eq!(counts, [2, 0, 0, 1].map(LineCount));
    }
}
