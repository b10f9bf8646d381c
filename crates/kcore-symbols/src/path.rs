//! The identifiers in a mangled name, read without demangling it.
//!
//! Manglings spell the path of a name out: `_ZN2ns5ClassE`, `_RNvNtCs1234_5crate6module4func`. What begins
//! as a user has begun it can so be found among a million names. What a path does not spell out (template
//! arguments, the type of an `impl`) ends it.

/// The identifiers of a path, outermost first.
#[derive(Clone, Copy, Debug)]
pub struct Path<'n> {
    rest: &'n [u8],
    /// Identifiers that may follow.
    left: usize,
    /// Whether each identifier may have a disambiguator before it, as those of Rust's v0 mangling.
    is_rust: bool,
}

/// What stands behind an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// Another identifier.
    More,
    /// Nothing: the name is whole.
    End,
    /// What a path does not spell out.
    Other,
}

impl<'n> Path<'n> {
    /// The path of the mangled name at the beginning of `name`, which a NUL or the end of the bytes
    /// ends; `None` of a name that is not mangled. It has no identifier where a name begins otherwise.
    pub fn of(name: &'n [u8]) -> Option<Self> {
        match name.strip_prefix(b"_R") {
            Some(rest) => Self::of_rust(rest),
            None => Some(Self::of_cpp(name.strip_prefix(b"_Z")?)),
        }
    }

    /// Whether the first identifier may begin with `start`: a glance, where most paths end.
    pub fn may_begin_with(&self, start: &[u8]) -> bool {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.is_rust || self.rest.get(digits..).is_some_and(|rest| rest.starts_with(start))
    }

    /// Itanium's mangling, and that of older Rust.
    fn of_cpp(rest: &'n [u8]) -> Self {
        match rest.strip_prefix(b"N") {
            Some(rest) => {
                let qualifiers = rest.iter().take_while(|byte| b"rVK".contains(byte)).count();
                let rest = rest.get(qualifiers..).unwrap_or_default();
                Self { rest, left: usize::MAX, is_rust: false }
            }
            None => Self { rest: rest.strip_prefix(b"L").unwrap_or(rest), left: 1, is_rust: false },
        }
    }

    /// `N` and a name space for each nested path, around the root `C`.
    fn of_rust(mut rest: &'n [u8]) -> Option<Self> {
        let mut left: usize = 1;
        while let [b'N', _, inner @ ..] = rest {
            left = left.checked_add(1)?;
            rest = inner;
        }
        Some(Self { rest: rest.strip_prefix(b"C")?, left, is_rust: true })
    }

    /// What stands behind the identifier that was read last.
    pub fn behind(self) -> Behind {
        let mut ahead = self;
        match (ahead.next(), self.rest.first()) {
            (Some(_), _) => Behind::More,
            // The type of what a name means stands behind it.
            (None, _) if self.left == 0 && self.rest.first() != Some(&b'I') => Behind::End,
            (None, Some(b'E')) => Behind::End,
            (None, Some(_)) if self.is_hash() => Behind::End,
            (None, _) => Behind::Other,
        }
    }

    /// Whether the last identifier is what older Rust tells functions of one name apart by.
    fn is_hash(self) -> bool {
        let hash = self.rest.strip_prefix(b"17h").and_then(|rest| rest.split_at_checked(16));
        hash.is_some_and(|(digits, rest)| {
            digits.iter().all(u8::is_ascii_hexdigit) && rest.first() == Some(&b'E')
        })
    }

    /// Rust's v0 mangling tells equal identifiers apart by `s`, digits, and an underscore.
    fn skip_disambiguator(&mut self) {
        if let (true, Some(rest)) = (self.is_rust, self.rest.strip_prefix(b"s")) {
            let end = rest.iter().position(|byte| *byte == b'_').unwrap_or(rest.len());
            self.rest = rest.get(end.saturating_add(1)..).unwrap_or_default();
        }
    }

    fn length(&mut self) -> Option<usize> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        std::str::from_utf8(number).ok()?.parse().ok()
    }
}

impl<'n> Iterator for Path<'n> {
    type Item = &'n [u8];

    fn next(&mut self) -> Option<&'n [u8]> {
        if self.left == 0 || self.is_hash() {
            return None;
        }
        self.skip_disambiguator();
        let length = self.length()?;
        if self.is_rust {
            self.rest = self.rest.strip_prefix(b"_").unwrap_or(self.rest);
        }
        let (identifier, rest) = self.rest.split_at_checked(length)?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        if identifier.is_empty()
            || !identifier.iter().all(is_plain)
            || identifier.starts_with(b"_GLOBAL__")
        {
            return None;
        }
        self.rest = rest;
        self.left = self.left.saturating_sub(1);
        Some(identifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demangle;

    /// The path of a name, and what stands behind it.
    fn read(name: &str) -> Option<(String, Behind)> {
        let mut path = Path::of(name.as_bytes())?;
        let mut parts = Vec::new();
        for part in path.by_ref() {
            parts.push(String::from_utf8_lossy(part).into_owned());
        }
        (!parts.is_empty()).then(|| (parts.join("::"), path.behind()))
    }

    #[test]
    fn a_whole_path_is_what_demangling_gives() {
        for name in [
            "_Z12parse_headeri",
            "_ZL6helperv",
            "_ZN2ns6Parser5parseEPKc",
            "_ZNK2ns6Parser3getEv",
            "_ZN5rusty4jobs3run17h0123456789abcdefE",
            "_RNvNtCs1234_5rusty4jobs3run",
            "_RNvCsjAz_5rusty4main",
            "_RNvNtCs1234_5rustys_4jobs3run",
        ] {
            let whole = demangle(name.as_bytes()).function;
            assert_eq!(read(name), Some((whole, Behind::End)), "{name}");
        }
    }

    #[test]
    fn what_is_not_spelled_out_ends_the_path() {
        assert_eq!(read("_Z3maxIiET_S0_S0_"), Some(("max".into(), Behind::Other)));
        assert_eq!(read("_ZN2ns3BoxIiE3putEi"), Some(("ns::Box".into(), Behind::Other)));
        assert_eq!(read("_ZN12_GLOBAL__N_13runEv"), None);
        for name in ["main", "_Z", "_ZNSt6vectorE", "_ZTV3Box", "_R", "_RNvXs_C3abc", "_Z99x", ""] {
            assert_eq!(read(name), None, "{name}");
        }
    }
}
