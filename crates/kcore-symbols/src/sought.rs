//! A name that a user typed, as any command shows it.
//!
//! What is shown can be typed back: with the parameters that `::nm` shows and without them as in a stack,
//! with the mark of a copy or without it, mangled. Blanks do not count, since demanglers do not agree on
//! them.

use crate::demangle::{Demangled, Mangling, demangle};

/// A name to be compared with those of symbols and of functions in stacks.
#[derive(Clone, Debug)]
pub struct SoughtName {
    typed: String,
    squeezed: String,
    /// What the typed name says, where it is a mangled one.
    demangled: Option<Demangled>,
}

impl SoughtName {
    /// The name that `typed` is.
    pub fn new(typed: &str) -> Self {
        let demangled = demangle(typed.as_bytes());
        Self {
            typed: typed.to_owned(),
            squeezed: squeeze(typed),
            demangled: (demangled.mangling != Mangling::None).then_some(demangled),
        }
    }

    /// Whether a symbol has this name, in any of its spellings.
    pub fn is_symbol(&self, raw: &[u8]) -> bool {
        raw == self.typed.as_bytes() || self.is_one_of(&demangle(raw))
    }

    /// Whether it is one of the spellings of a name.
    pub fn is_one_of(&self, names: &Demangled) -> bool {
        let is_same = |name: &str| squeeze(name) == self.squeezed;
        let is_marked = |clone: &String| {
            is_same(&format!("{}{clone}", names.function))
                || is_same(&format!("{}{clone}", names.full))
        };
        is_same(&names.function)
            || is_same(&names.full)
            || names.clone.as_ref().is_some_and(is_marked)
    }

    /// Whether a function is called so that a stack shows as `shown`: without its parameters, with the
    /// arguments of a template or without those at its end.
    pub fn is_function(&self, shown: &str) -> bool {
        if let Some(typed) = &self.demangled {
            return typed.function == shown;
        }
        shown == self.typed
            || squeeze(shown) == self.squeezed
            || without_arguments(shown) == Some(self.typed.as_str())
    }
}

/// A name without the arguments of the template that it is an instance of; `None` if it is of none.
fn without_arguments(name: &str) -> Option<&str> {
    let inner = name.strip_suffix('>')?;
    let mut depth: usize = 1;
    let mut letters = inner.char_indices().rev().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            // The arrow of an operator or of a type closes nothing.
            '>' if letters.peek().is_some_and(|(_, before)| *before == '-') => {}
            '>' => depth = depth.checked_add(1)?,
            '<' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            let bare = name.get(..at)?.trim_end();
            return (!bare.is_empty() && !bare.ends_with("operator")).then_some(bare);
        }
    }
    None
}

/// A name without blanks.
pub(crate) fn squeeze(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_has_the_names_that_commands_show() {
        let raw = b"_ZN3app3maxIiEET_S1_S1_.isra.0";
        for typed in [
            "_ZN3app3maxIiEET_S1_S1_.isra.0",
            "app::max<int>",
            "int app::max<int>(int, int)",
            "int app::max<int>(int,int)",
            "app::max<int> [clone .isra.0]",
            "int app::max<int>(int, int) [clone .isra.0]",
        ] {
            assert!(SoughtName::new(typed).is_symbol(raw), "{typed}");
        }
        for typed in ["app::max", "max<int>", "app::max<long>", "app::max<int>(int, int)", ""] {
            assert!(!SoughtName::new(typed).is_symbol(raw), "{typed}");
        }
    }

    #[test]
    fn a_function_in_a_stack_is_found_with_and_without_arguments() {
        let cases = [
            ("app::max<int>", "app::max<int>", true),
            ("app::max", "app::max<int>", true),
            ("_ZN3app3maxIiEET_S1_S1_", "app::max<int>", true),
            ("_ZN3app3maxIlEET_S1_S1_", "app::max<int>", false),
            ("app", "app::max<int>", false),
            ("std::function<void ()>::operator()", "std::function<void()>::operator()", true),
            ("operator<", "operator< <int>", true),
            ("operator", "operator< <int>", false),
            ("A::operator", "A::operator->", false),
            ("f", "f<A::operator-> >", true),
            ("main", "main", true),
            ("", ">", false),
        ];
        for (typed, shown, expected) in cases {
            assert_eq!(SoughtName::new(typed).is_function(shown), expected, "{typed} {shown}");
        }
    }
}
