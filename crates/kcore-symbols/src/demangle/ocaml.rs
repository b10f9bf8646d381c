//! Names of OCaml's native code: `camlStdlib__List__map_483` and, from 5.1 on, `camlStdlib__List.map_483`.
//!
//! By `asmcomp/compilenv.ml` and `backend.ml` of OCaml 4.14 and 5.2: `caml`, the unit, two underscores or a dot, the
//! name with a number of its own; characters that assemblers refuse are `$` and two hexadecimal digits.

use super::Plain;

/// What the compiler makes for each unit, which has no number.
const OF_UNITS: [&str; 7] =
    ["entry", "code_begin", "code_end", "data_begin", "data_end", "frametable", "gc_roots"];

/// The names in `text`; `None` where it is no such name.
pub fn demangle(text: &str) -> Option<Plain> {
    let path = text.strip_prefix("caml")?;
    path.starts_with(|letter: char| letter.is_ascii_uppercase()).then_some(())?;
    let (unit, name) = split_last(path)?;
    let has_number = name.rsplit_once('_').filter(|(name, number)| {
        !name.is_empty() && !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    });
    let shown = match has_number {
        // Functions without a name are told apart by their numbers alone.
        Some(("fun", _)) => name,
        Some((word, _)) => word,
        None => Some(name).filter(|name| OF_UNITS.contains(name))?,
    };
    let unit = decoded(&unit.replace("__", "."))?;
    Some(Plain {
        function: format!("{unit}.{}", decoded(shown)?),
        full: format!("{unit}.{}", decoded(name)?),
    })
}

/// The unit, and the name within it. Names may begin with underscores.
fn split_last(path: &str) -> Option<(&str, &str)> {
    if let Some((unit, name)) = path.split_once('.') {
        return Some((unit, name)).filter(|(_, name)| !name.is_empty());
    }
    let at = path.rfind("__")?;
    let (unit, name) = (path.get(..at)?, path.get(at..)?.strip_prefix("__")?);
    (!unit.is_empty() && !name.is_empty()).then_some((unit, name))
}

/// `text` with its escapes decoded; `None` where it has what names have not.
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('$');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let code =
            u8::from_str_radix(digits, 16).ok().filter(|code| (0x21..0x7f).contains(code))?;
        out.push(char::from(code));
        out.push_str(rest);
    }
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$.'".contains(&byte));
    is_plain.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_modules_and_lose_their_numbers() {
        let cases = [
            ("camlStdlib__List__map_483", "Stdlib.List.map", "Stdlib.List.map_483"),
            ("camlStdlib__List.map_483", "Stdlib.List.map", "Stdlib.List.map_483"),
            ("camlDune__exe__Main__fun_1207", "Dune.exe.Main.fun_1207", "Dune.exe.Main.fun_1207"),
            ("camlStdlib__$5e_134", "Stdlib.^", "Stdlib.^_134"),
            ("camlApp__entry", "App.entry", "App.entry"),
        ];
        for (raw, function, full) in cases {
            let found = demangle(raw).unwrap();
            assert_eq!((found.function.as_str(), found.full.as_str()), (function, full));
        }
    }

    #[test]
    fn functions_of_the_runtime_are_those_of_c() {
        for raw in [
            "caml_alloc_small",
            "camlapp__main_1",
            "camlApp",
            "camlApp__main",
            "camlApp__",
            "camlA__b$4_1",
        ] {
            assert_eq!(demangle(raw), None, "{raw}");
        }
    }
}
