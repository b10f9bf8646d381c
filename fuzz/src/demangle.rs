//! Names, from linkers' to programmers'.

use kcore_symbols::{Mangling, SoughtName, demangle, demangle_ada, demangle_type};

/// No name becomes longer than this, or than it was.
const MAX_LEN: usize = 256 << 10;

/// Each line of `data` is a name. What becomes of it is bounded, is always the same, and names it.
pub fn run(data: &[u8]) {
    for name in data.split(|byte| *byte == b'\n') {
        let names = demangle(name);
        // Each byte that is no text becomes a character of three bytes.
        let bound = MAX_LEN.max(name.len().saturating_mul(3)).saturating_add(name.len());
        let type_name = demangle_type(name);
        for text in [&names.function, &names.full, &type_name] {
            assert!(text.len() <= bound, "{} bytes of {}", text.len(), name.len());
        }
        if let Some(ada) = demangle_ada(name) {
            assert!(ada.full.len() <= bound, "{} bytes of {}", ada.full.len(), name.len());
        }
        assert_eq!(names, demangle(name));
        assert_eq!(type_name, demangle_type(name));
        if names.mangling != Mangling::None {
            let whole = names.clone().whole();
            assert!(SoughtName::new(&names.function).is_one_of(&names), "{}", names.function);
            assert!(SoughtName::new(&whole).is_one_of(&names), "{whole}");
        }
    }
}
