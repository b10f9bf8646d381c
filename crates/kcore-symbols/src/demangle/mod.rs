//! From the names that linkers see to the names that programmers wrote.
//!
//! Rust first, since its legacy mangling dresses up as C++, then C++ (Itanium ABI), then the languages whose
//! names are unmistakable: D, OCaml, Haskell, Go. Names of Ada are not, see [`demangle_ada`]. Anything else
//! is its own name. Names come from files of unknown origin: input, output and recursion are
//! bounded.

mod ada;
mod dlang;
mod go;
mod haskell;
mod itanium;
mod ocaml;
mod words;

use std::{borrow::Cow, fmt};

pub(crate) use words::is_of_demanglers;

/// Longer names are not demangled.
const MAX_INPUT: usize = 64 << 10;
/// Back references let short names unfold without end; a name that grows beyond this stays raw.
const MAX_OUTPUT: usize = 256 << 10;
/// Suffixes by which compilers mark the parts and copies of a C function.
const CLONE_WORDS: [&str; 7] =
    ["cold", "isra", "constprop", "part", "lto_priv", "llvm", "localalias"];

/// How a name was mangled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mangling {
    /// Not at all: C, assembly, anything unknown.
    None,
    /// C++, Itanium ABI.
    Cpp,
    /// Rust, legacy or v0.
    Rust,
    /// D.
    D,
    /// OCaml's native code.
    Ocaml,
    /// Haskell, GHC's z-encoding.
    Haskell,
    /// Go, with escapes.
    Go,
    /// Ada, by GNAT.
    Ada,
}

/// What a language without parameters in its names makes of one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plain {
    /// As [`Demangled::function`].
    function: String,
    /// As [`Demangled::full`].
    full: String,
}

impl Plain {
    fn of(self, mangling: Mangling) -> Demangled {
        Demangled { function: self.function, full: self.full, clone: None, mangling }
    }
}

/// Reads a name; `None` of one that its language does not make.
type Reader = fn(&str) -> Option<Plain>;

/// The other languages whose names are unmistakable.
const UNMISTAKABLE: [(Mangling, Reader); 4] = [
    (Mangling::D, dlang::demangle),
    (Mangling::Ocaml, ocaml::demangle),
    (Mangling::Haskell, haskell::demangle),
    (Mangling::Go, go::demangle),
];

/// A name in the words of its language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demangled {
    /// The name as a stack shows it: with namespaces and template arguments, without parameters
    /// and return type. Rust names come without their hash.
    pub function: String,
    /// The name in full: C++ with parameters and return type, Rust with hash or crate
    /// disambiguator.
    pub full: String,
    /// What the compiler appended for a part or a copy of the function, in the words of binutils:
    /// `[clone .isra.0] [clone .cold]`.
    pub clone: Option<String>,
    /// How it was mangled.
    pub mangling: Mangling,
}

impl Demangled {
    /// The name in full, with the mark of a copy or a part behind it, as binutils show it.
    pub fn whole(self) -> String {
        match self.clone {
            Some(clone) => self.full + " " + &clone,
            None => self.full,
        }
    }
}

/// Demangles a name from a symbol table or from DWARF.
///
/// A name that is not mangled, not understood, or not reasonable is its own `function` (with bytes
/// that are not UTF-8 replaced): a suffix such as `.isra.0`, a version (`@GLIBC_2.2.5`) and `@plt`
/// stay what they are.
pub fn demangle(raw: &[u8]) -> Demangled {
    let text = String::from_utf8_lossy(raw);
    let sane = Some(&*text).filter(|text| text.len() <= MAX_INPUT);
    sane.and_then(demangle_rust)
        .or_else(|| sane.and_then(demangle_cpp))
        .or_else(|| sane.and_then(demangle_unmistakable))
        .unwrap_or_else(|| keep(text))
}

/// Demangles the name of a function that is known to be Ada: `store__put` is `store.put`. `None` of what is no such
/// name. A function of C may be called so, too.
pub fn demangle_ada(raw: &[u8]) -> Option<Demangled> {
    let text = std::str::from_utf8(raw).ok().filter(|text| text.len() <= MAX_INPUT)?;
    let name = without_clone(raw).map_or(text.len(), <[u8]>::len);
    let (name, suffix) = text.split_at_checked(name)?;
    let clone = clone_words(suffix)?;
    Some(Demangled { clone, ..ada::demangle(name)?.of(Mangling::Ada) })
}

fn demangle_unmistakable(text: &str) -> Option<Demangled> {
    UNMISTAKABLE.iter().find_map(|(mangling, read)| Some(read(text)?.of(*mangling)))
}

/// Demangles a type name as `std::type_info::name()` gives it (`St13runtime_error` is
/// `std::runtime_error`). What is no such name is given back.
pub fn demangle_type(name: &[u8]) -> String {
    // GCC marks names that are to be compared by address with an asterisk.
    let name = name.strip_prefix(b"*").unwrap_or(name);
    let text = String::from_utf8_lossy(name);
    let sane = Some(&*text).filter(|text| text.len() <= MAX_INPUT);
    let parsed = sane.and_then(itanium::parse_type).filter(|parsed| parsed.rest.is_empty());
    let demangled =
        parsed.and_then(|parsed| itanium::print(&parsed.tree, parsed.whole, MAX_OUTPUT));
    demangled.unwrap_or_else(|| text.into_owned())
}

/// A name of C, whole. A copy or a part of a function lies elsewhere than the function, and what
/// is said of an address must name the place that can be asked for.
fn keep(text: Cow<'_, str>) -> Demangled {
    let name = text.into_owned();
    Demangled { full: name.clone(), function: name, clone: None, mangling: Mangling::None }
}

fn demangle_rust(text: &str) -> Option<Demangled> {
    let (name, suffix) =
        if text.starts_with("_R") { split_at_dot(text) } else { split_legacy(text)? };
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    Some(Demangled {
        function: Bounded::print(format_args!("{demangled:#}"))?,
        full: Bounded::print(format_args!("{demangled}"))?,
        clone: clone_words(suffix)?,
        mangling: Mangling::Rust,
    })
}

fn demangle_cpp(text: &str) -> Option<Demangled> {
    let parsed = itanium::parse(text)?;
    let (suffix, version) = split_version(parsed.rest);
    let clone = clone_words(suffix)?;
    let function = itanium::print(&parsed.tree, parsed.name, MAX_OUTPUT)?;
    let full = match parsed.name == parsed.whole {
        true => Some(function.clone()),
        false => itanium::print(&parsed.tree, parsed.whole, MAX_OUTPUT),
    };
    // Of some functions libiberty can write the name, but not the parameters.
    let (full, clone) = match full {
        Some(full) => (full + version, clone),
        None => (text.to_owned(), None),
    };
    Some(Demangled { function: function + version, full, clone, mangling: Mangling::Cpp })
}

/// Splits what follows a mangled name from its version or `@plt`.
fn split_version(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find('@').unwrap_or(rest.len()))
}

/// A text that refuses to grow without bound.
#[derive(Default)]
struct Bounded(String);

impl Bounded {
    fn print(what: fmt::Arguments<'_>) -> Option<String> {
        let mut out = Self::default();
        fmt::Write::write_fmt(&mut out, what).ok()?;
        Some(out.0)
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = self.0.len().saturating_add(text.len()) <= MAX_OUTPUT;
        fits.then(|| self.0.push_str(text)).ok_or(fmt::Error)
    }
}

/// Splits a Rust v0 name, which has no dot of its own, from its suffix.
fn split_at_dot(text: &str) -> (&str, &str) {
    text.split_at(text.find('.').unwrap_or(text.len()))
}

/// Splits a legacy Rust name, which ends in `17h`, 16 hexadecimal digits and `E`, from its suffix;
/// `None` when it is not one.
fn split_legacy(text: &str) -> Option<(&str, &str)> {
    const HASH_AND_END: usize = 17;
    let start = text.rfind("17h").filter(|_| text.starts_with("_ZN"))?;
    let hash = start.checked_add(3)?;
    let end = hash.checked_add(HASH_AND_END)?;
    let digits = text.get(hash..end)?.strip_suffix('E')?;
    let (name, suffix) = text.split_at_checked(end)?;
    let ends = suffix.is_empty() || suffix.starts_with('.');
    (ends && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some((name, suffix))
}

/// The name of the C function that `name` is a copy or a part of, by the suffixes that compilers
/// are known to append.
pub(crate) fn without_clone(name: &[u8]) -> Option<&[u8]> {
    let text = std::str::from_utf8(name).ok()?;
    let mut dots = text.match_indices('.').map(|(at, _)| at).filter(|at| *at > 0);
    let at = dots.find(|at| text.get(*at..).is_some_and(is_clone_suffix))?;
    name.get(..at)
}

fn is_clone_suffix(suffix: &str) -> bool {
    let mut words = suffix.split('.').skip(1);
    let named = words.next().is_some_and(|word| CLONE_WORDS.contains(&word));
    named && words.all(|word| is_number(word) || CLONE_WORDS.contains(&word))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit())
}

/// `.isra.0.cold` as `[clone .isra.0] [clone .cold]`, in the words of binutils; `None` where it is no
/// mark of a copy.
fn clone_words(mut suffix: &str) -> Option<Option<String>> {
    let mut clones = Vec::new();
    while !suffix.is_empty() {
        let len = clone_len(suffix).filter(|len| *len > 1)?;
        let (word, rest) = suffix.split_at_checked(len)?;
        clones.push(format!("[clone {word}]"));
        suffix = rest;
    }
    Some((!clones.is_empty()).then(|| clones.join(" ")))
}

/// The length of a dot, a word, and the numbers behind it.
fn clone_len(suffix: &str) -> Option<usize> {
    let is_of_word =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let word = suffix.strip_prefix('.')?.bytes().take_while(is_of_word).count();
    let mut len = word.checked_add(1)?;
    while let Some(rest) = suffix.get(len..).and_then(|rest| rest.strip_prefix('.'))
        && let digits @ 1.. = rest.bytes().take_while(u8::is_ascii_digit).count()
    {
        len = len.checked_add(digits)?.checked_add(1)?;
    }
    Some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(raw: &str) -> String {
        demangle(raw.as_bytes()).function
    }

    #[test]
    fn cpp_functions_come_without_parameters_and_return_types() {
        let cases = [
            ("_ZN2ns5ClassIiE6methodEv", "ns::Class<int>::method"),
            ("_ZN2ns5ClassIiEC4Ev", "ns::Class<int>::Class"),
            ("_ZN2ns5ClassD1Ev", "ns::Class::~Class"),
            ("_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo"),
            ("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"),
            ("_Z3maxIiET_S0_S0_", "max<int>"),
            ("_ZNK3Foo3getEv", "Foo::get"),
            ("_ZlsRSoi", "operator<<"),
            ("_ZNSt8functionIFviEEclEi", "std::function<void (int)>::operator()"),
            ("_ZN3FoocvbEv", "Foo::operator bool"),
        ];
        for (raw, expected) in cases {
            let demangled = demangle(raw.as_bytes());
            assert_eq!(
                (demangled.function.as_str(), demangled.mangling),
                (expected, Mangling::Cpp)
            );
        }
        assert_eq!(demangle(b"_Z3maxIiET_S0_S0_").full, "int max<int>(int, int)");
    }

    #[test]
    fn rust_names_come_without_their_hash() {
        let legacy = demangle(b"_ZN4core3ptr13drop_in_place17h0123456789abcdefE");
        assert_eq!(legacy.function, "core::ptr::drop_in_place");
        assert_eq!(legacy.full, "core::ptr::drop_in_place::h0123456789abcdef");
        assert_eq!(legacy.mangling, Mangling::Rust);
        assert_eq!(
            function("_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"),
            "app::main::{{closure}}"
        );
        assert_eq!(function("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
    }

    #[test]
    fn a_cpp_variable_is_not_taken_for_rust() {
        assert_eq!(function("_ZN12_GLOBAL__N_15countE"), "(anonymous namespace)::count");
    }

    #[test]
    fn c_names_are_their_own() {
        for name in ["main", "__libc_start_main", "_Zork", "_ZN", "puts@plt", "runtime.main", "."] {
            let demangled = demangle(name.as_bytes());
            assert_eq!((demangled.function.as_str(), &demangled.clone), (name, &None));
        }
        assert_eq!(function("a\u{fffd}b"), "a\u{fffd}b");
        assert_eq!(demangle(b"a\xffb").function, "a\u{fffd}b");
    }

    #[test]
    fn other_languages_are_told_by_their_names() {
        let cases = [
            ("_D3std5stdio7writelnFAyaZv", "std.stdio.writeln", Mangling::D),
            ("camlStdlib__List__map_483", "Stdlib.List.map", Mangling::Ocaml),
            ("base_GHCziBase_map_info", "GHC.Base.map", Mangling::Haskell),
            ("gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal", Mangling::Go),
            ("a__b", "a__b", Mangling::None),
            ("_ada_main", "_ada_main", Mangling::None),
        ];
        for (raw, name, mangling) in cases {
            let demangled = demangle(raw.as_bytes());
            assert_eq!((demangled.function.as_str(), demangled.mangling), (name, mangling));
        }
        let part = demangle_ada(b"store__put__2.part.0").unwrap();
        assert_eq!(
            (part.function.as_str(), part.clone.as_deref()),
            ("store.put", Some("[clone .part.0]"))
        );
        assert_eq!(demangle_ada(b"Store"), None);
    }

    #[test]
    fn what_compilers_append_is_kept_apart() {
        let cases = [
            ("_ZN3app5crashEv.cold", "app::crash", "[clone .cold]"),
            ("_ZN3app5crashEv.part.0.isra.1", "app::crash", "[clone .part.0] [clone .isra.1]"),
            ("_ZN3app4main17h0123456789abcdefE.llvm.42", "app::main", "[clone .llvm.42]"),
        ];
        for (raw, name, clone) in cases {
            let demangled = demangle(raw.as_bytes());
            assert_eq!(
                (demangled.function.as_str(), demangled.clone.as_deref()),
                (name, Some(clone))
            );
        }
    }

    #[test]
    fn copies_of_c_functions_have_names_of_their_own() {
        for name in ["parse.cold", "parse.constprop.0.cold", "parse.isra.0", "poisoned.13"] {
            let demangled = demangle(name.as_bytes());
            assert_eq!((demangled.function.as_str(), &demangled.clone), (name, &None));
        }
        assert_eq!(without_clone(b"parse.constprop.0.cold"), Some(&b"parse"[..]));
        assert_eq!(without_clone(b"poisoned.13"), None);
    }

    #[test]
    fn type_names_of_type_info() {
        assert_eq!(demangle_type(b"St13runtime_error"), "std::runtime_error");
        assert_eq!(demangle_type(b"i"), "int");
        assert_eq!(demangle_type(b"PKc"), "char const*");
        assert_eq!(demangle_type(b"*N12_GLOBAL__N_15ErrorE"), "(anonymous namespace)::Error");
        assert_eq!(demangle_type(b"not a type"), "not a type");
    }

    #[test]
    fn names_that_unfold_without_end_stay_raw() {
        // Each type is a function of two of the one before: 2^40 names.
        let mut bomb = String::from("_Z1fPFvvE");
        for digit in (b'0'..=b'9').chain(b'A'..=b'Z') {
            bomb.push_str(&format!("PFS{0}_S{0}_E", char::from(digit)));
        }
        let demangled = demangle(bomb.as_bytes());
        assert!(demangled.full.len() <= MAX_OUTPUT);
        let long = vec![b'x'; MAX_INPUT + 1];
        assert_eq!(demangle(&long).function.len(), long.len());
    }

    #[test]
    fn deep_nesting_ends_before_the_stack_does() {
        let deep = |start: &str, part: &str| format!("{start}{}", part.repeat(20_000));
        for raw in
            [deep("_Z1f", "P"), deep("_ZN", "1aI"), deep("_RI", "I"), deep("_Z1fIXad", "L_Z1fIXad")]
        {
            let demangled = std::thread::Builder::new()
                .stack_size(1 << 20)
                .spawn(move || demangle(raw.as_bytes()))
                .unwrap();
            assert!(demangled.join().is_ok());
        }
    }

    #[test]
    fn damaged_names_do_no_harm() {
        let seeds = [
            "_ZNSt8functionIFviEEC2IZ4mainEUliE_vEEOT_",
            "_ZN4core3ptr28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
            "_RNvMs_NtCs4fqI2P2rA04_11issue_609991FB3std3fmt",
            "_D8demangle__T4testTiVAyaa3_616263ZQvFNaNbMxAaDFiZvZ3fooMFQpKHiQnZv",
            "base_GHCziShow_zdfShowZLz2cUZR_info",
            "camlStdlib__$5e_134",
            "store__inner__put__2Xb.12",
        ];
        let mut random = 1_u32;
        for seed in seeds {
            for _ in 0..4000 {
                let mut name = seed.as_bytes().to_vec();
                for _ in 0..3 {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let at = (random >> 8) as usize % name.len();
                    name[at] = b"_ZNSKR0123456789EIvTPL$u.QDAGHz"[(random >> 24) as usize % 31];
                }
                demangle(&name);
                demangle_ada(&name);
                demangle_type(&name);
            }
        }
    }
}
