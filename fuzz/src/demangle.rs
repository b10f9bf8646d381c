//! Names, from linkers' to programmers'.

use kcore_symbols::{demangle, demangle_type};

/// Each line of `data` is a name.
pub fn run(data: &[u8]) {
    for name in data.split(|byte| *byte == b'\n') {
        let _ = (demangle(name), demangle_type(name));
    }
}
