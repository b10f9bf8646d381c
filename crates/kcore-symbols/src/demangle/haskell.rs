//! Names of GHC's code in z-encoding: `base_GHCziBase_map_info` is `map` of the module `GHC.Base`.
//!
//! By `compiler/GHC/Utils/Encoding.hs` and `GHC/Cmm/CLabel.hs` of GHC 9.4: package, module, name and what it is of the
//! closure, joined by underscores. Only names with a module of several words are unmistakable.

use super::Plain;

/// What a label is of a closure.
const SUFFIXES: [&str; 12] = [
    "_info",
    "_con_info",
    "_static_info",
    "_closure",
    "_closure_tbl",
    "_slow",
    "_fast",
    "_entry",
    "_con_entry",
    "_static_entry",
    "_bytes",
    "_ret",
];

/// Escapes of two characters.
const ESCAPES: &[(u8, char)] = &[
    (b'L', '('),
    (b'R', ')'),
    (b'M', '['),
    (b'N', ']'),
    (b'C', ':'),
    (b'Z', 'Z'),
    (b'a', '&'),
    (b'b', '|'),
    (b'c', '^'),
    (b'd', '$'),
    (b'e', '='),
    (b'g', '>'),
    (b'h', '#'),
    (b'i', '.'),
    (b'l', '<'),
    (b'm', '-'),
    (b'n', '!'),
    (b'p', '+'),
    (b'q', '\''),
    (b'r', '\\'),
    (b's', '/'),
    (b't', '*'),
    (b'u', '_'),
    (b'v', '%'),
    (b'z', 'z'),
];

/// The names in `text`; `None` where it is no such name.
pub fn demangle(text: &str) -> Option<Plain> {
    let suffix =
        SUFFIXES.iter().filter(|suffix| text.ends_with(*suffix)).max_by_key(|it| it.len())?;
    let closure = text.strip_suffix(suffix)?;
    let parts: Vec<&str> = closure.splitn(MAX_PARTS, '_').collect();
    let (package, module, name) = match parts.as_slice() {
        [module, name] if is_module(module) => (None, module, name),
        [package, module, name] if is_module(module) => (Some(package), module, name),
        _ => return None,
    };
    let path = format!("{}.{}", decoded(module)?, decoded(name).filter(|name| !name.is_empty())?);
    let package = match package {
        Some(package) => decoded(package).filter(|package| !package.is_empty())? + ":",
        None => String::new(),
    };
    Some(Plain { full: format!("{package}{path}{suffix}"), function: path })
}

/// Package, module and name. An underscore of a name is `zu`; those behind are of local names.
const MAX_PARTS: usize = 3;

/// Whether `text` is a module of several words: `GHCziBase`.
fn is_module(text: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_uppercase())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    text.contains("zi") && text.split("zi").all(is_word)
}

fn decoded(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'z' | b'Z' => {
                let escape = bytes.next()?;
                match ESCAPES.iter().find(|(letter, _)| *letter == escape) {
                    Some((letter, _)) if letter.is_ascii_uppercase() != (byte == b'Z') => {
                        return None;
                    }
                    Some((_, shown)) => out.push(*shown),
                    None if byte == b'Z' => tuple(escape, &mut bytes, &mut out)?,
                    None => out.push(code(escape, &mut bytes)?),
                }
            }
            _ if byte.is_ascii_alphanumeric() || byte == b'_' => out.push(char::from(byte)),
            _ => return None,
        }
    }
    Some(out)
}

/// `Z2T` is `(,)`, `Z1H` is `(# #)`.
fn tuple(first: u8, bytes: &mut impl Iterator<Item = u8>, out: &mut String) -> Option<()> {
    const MOST: usize = 64;
    let mut count = usize::from(first.checked_sub(b'0').filter(|digit| *digit < 10)?);
    let kind = loop {
        match bytes.next()? {
            digit @ b'0'..=b'9' => {
                count =
                    count.checked_mul(10)?.checked_add(usize::from(digit.checked_sub(b'0')?))?;
            }
            kind => break kind,
        }
    };
    let commas = ",".repeat(Some(count).filter(|count| *count <= MOST)?.saturating_sub(1));
    match kind {
        b'T' => out.push_str(&format!("({commas})")),
        b'H' => out.push_str(&format!("(#{commas}#)")),
        _ => return None,
    }
    Some(())
}

/// `z3bbU`: the character of a hexadecimal code, which begins with a decimal digit.
fn code(first: u8, bytes: &mut impl Iterator<Item = u8>) -> Option<char> {
    const DIGITS: usize = 6;
    let mut digits = String::from(char::from(Some(first).filter(u8::is_ascii_digit)?));
    for byte in bytes {
        match byte {
            b'U' => return char::from_u32(u32::from_str_radix(&digits, 16).ok()?),
            _ if digits.len() < DIGITS && byte.is_ascii_hexdigit() => digits.push(char::from(byte)),
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_module() {
        let cases = [
            ("base_GHCziBase_map_info", "GHC.Base.map", "base:GHC.Base.map_info"),
            ("base_GHCziBase_zpzp_closure", "GHC.Base.++", "base:GHC.Base.++_closure"),
            ("ghczmprim_GHCziTypes_ZMZN_closure", "GHC.Types.[]", "ghc-prim:GHC.Types.[]_closure"),
            (
                "base_GHCziShow_zdfShowZLz2cUZR_info",
                "GHC.Show.$fShow(,)",
                "base:GHC.Show.$fShow(,)_info",
            ),
            ("DataziMine_Z3T_con_info", "Data.Mine.(,,)", "Data.Mine.(,,)_con_info"),
            ("base_GHCziIO_unsafezuIO1_info", "GHC.IO.unsafe_IO1", "base:GHC.IO.unsafe_IO1_info"),
        ];
        for (raw, function, full) in cases {
            let found = demangle(raw).unwrap();
            assert_eq!((found.function.as_str(), found.full.as_str()), (function, full));
        }
    }

    #[test]
    fn what_may_be_c_stays() {
        for raw in [
            "Main_main_info",
            "stg_ap_v_info",
            "thing_info",
            "a_Foozibar_x_info",
            "base_GHCziBase_map",
            "base_GHCziBase_zy_info",
        ] {
            assert_eq!(demangle(raw), None, "{raw}");
        }
    }
}
